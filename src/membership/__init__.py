"""Membership: inference attacks, bounds and the exhibits of five papers."""

__version__ = "0.1.0"
# Of this version, as in CITATION.cff.
__date__ = "2026-11-22"
# Where the site is published, with its last "/"; empty, and links are relative to its first page.
__url__ = ""
