"""The version, in its one place: the build, the result files and the deal records all read it here."""

__version__ = "0.1.0"
