"""Membership inference: attacks, bounds and the exhibits of five papers."""

__version__ = "0.1.0"
