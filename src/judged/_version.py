"""The version of judged."""

__version__ = "0.1.0"
