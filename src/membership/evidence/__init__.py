"""The waist: what could be observed of trained models, in one file that is safe to open."""

from membership.evidence.files import digest, load, save
from membership.evidence.gathering import gathered, in_parts, version, version_of
from membership.evidence.schema import KINDS, dataset, rounded

__all__ = [
    "KINDS",
    "dataset",
    "digest",
    "gathered",
    "in_parts",
    "load",
    "rounded",
    "save",
    "version",
    "version_of",
]
