"""One runnable example for each trainer library; each has its own pinned environment (``make interop``)."""
