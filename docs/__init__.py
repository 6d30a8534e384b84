"""The documentation and what generates its tables."""
