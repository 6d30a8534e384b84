"""Speed against other libraries, side by side: ``python -m benchmarks.peers``, or ``make peers``."""
