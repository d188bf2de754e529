"""The waist: what could be observed of trained models, in one file that is safe to open."""

from membership.closure import closure
from membership.evidence.files import digest, load, save
from membership.evidence.gathering import address, changed_since, gathered, in_cache
from membership.evidence.kinds import KINDS
from membership.evidence.parts import each
from membership.evidence.schema import dataset

__all__ = [
    "KINDS",
    "address",
    "changed_since",
    "closure",
    "dataset",
    "digest",
    "each",
    "gathered",
    "in_cache",
    "load",
    "save",
]
