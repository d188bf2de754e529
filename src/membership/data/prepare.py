"""From stored arrays to a `Dataset`: leave out, put in order, verify, scale."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from membership.data import digest as digests
from membership.data.dataset import Dataset
from membership.data.npz import Prepared
from membership.data.registry import Entry, registry_file
from membership.errors import InputError


@dataclass(frozen=True, eq=False)
class Identified:
    """The arrays of a public data set in canonical order, with their digest."""

    arrays: Prepared
    digest: str


def identify(entry: Entry, arrays: Prepared, where: str) -> Identified:
    """Check that these arrays are a public data set, and put its records in canonical order.

    Parameters
    ----------
    entry : Entry
    arrays : Prepared
        From a prepared file or from upstream, in any order.
    where : str
        Named in messages.

    Raises
    ------
    InputError
        The number, the shape or the content of the records is another than the registry's.
    """
    if entry.drop:
        arrays = arrays.keep(~listed(entry, arrays))
    shape = channels_first(arrays.x, where).shape[1:]
    if len(arrays.x) != entry.records or shape != entry.shape:
        raise InputError(
            f"{where} holds {len(arrays.x):,} records of shape {shape} where {entry.name} has "
            f"{entry.records:,} of {entry.shape}; {_remedy(entry)}"
        )
    hashes = digests.record_hashes(arrays.x, arrays.y)
    found = digests.combine(hashes, arrays.train)
    if entry.digest and found != entry.digest:
        raise InputError(
            f"{where} does not hold the public records of {entry.name}: their digest is "
            f"{found[:12]}..., not {entry.digest[:12]}...; {_remedy(entry)}"
        )
    return Identified(arrays.keep(digests.canonical_order(hashes, arrays.train)), found)


def _remedy(entry: Entry) -> str:
    return f"remove the file and fetch {entry.name} again, or give your own data by its path"


def listed(entry: Entry, arrays: Prepared) -> np.ndarray:
    """Mark the records that the data set's drop list names.

    The list names a record by split, label and rank: its position among the records of its
    label in the official order. A prepared file that was shuffled brings the ranks along;
    otherwise the file is in the official order, or lacks the listed records already, and then
    nothing is marked.
    """
    unwanted = _drop_list(registry_file().parent / entry.drop)
    nothing = np.zeros(len(arrays.x), dtype=bool)
    if arrays.train is None or len(arrays.x) != entry.records + len(unwanted):
        return nothing
    rank = arrays.extra.get("rank")
    if rank is None:
        rank = _position_in_class(arrays.train, arrays.y)
    keys = zip(arrays.train.tolist(), arrays.y.tolist(), rank.tolist(), strict=True)
    return np.fromiter((key in unwanted for key in keys), dtype=bool, count=len(nothing))


@lru_cache
def _drop_list(path: Path) -> frozenset[tuple[bool, int, int]]:
    rows = [line.split(",") for line in path.read_text(encoding="ascii").splitlines()[1:]]
    return frozenset((split == "train", int(label), int(rank)) for split, label, rank in rows)


def _position_in_class(train: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return how many earlier records of the same split have the same label."""
    rank = np.empty(len(y), dtype=np.int64)
    for split in (True, False):
        for label in np.unique(y):
            same = np.flatnonzero((train == split) & (y == label))
            rank[same] = np.arange(len(same))
    return rank


def channels_first(x: np.ndarray, where: str) -> np.ndarray:
    """Return images as (records, channels, height, width); tabular records as they are.

    Raises
    ------
    InputError
        The array has five or more axes, or neither the last nor the second of four is 1 or 3.
    """
    if x.ndim == 2:
        return x
    if x.ndim == 3:
        return x[:, None]
    if x.ndim == 4 and x.shape[3] in (1, 3):
        return x.transpose(0, 3, 1, 2)
    if x.ndim == 4 and x.shape[1] in (1, 3):
        return x
    raise InputError(
        f"{where}: x has shape {x.shape}; give (records, features), (records, height, width) or "
        "images with 1 or 3 channels, last or second"
    )


def as_float(x: np.ndarray, scale: float, where: str) -> np.ndarray:
    """Return contiguous float32 records, divided by `scale`, images channels first."""
    values = np.ascontiguousarray(channels_first(x, where), dtype=np.float32)
    if scale != 1.0:
        values /= np.float32(scale)
    return values


def as_dataset(entry: Entry, identified: Identified, where: str) -> Dataset:
    """Make the `Dataset` of a public set from records whose digest has been looked at.

    Raises
    ------
    InputError
        Records do not make a data set; `where` names their file in the message.
    """
    arrays = identified.arrays
    return Dataset(
        x=as_float(arrays.x, entry.scale, where),
        y=arrays.y,
        name=entry.name,
        n_classes=entry.n_classes,
        source=entry.source,
        digest=identified.digest,
        official_train=arrays.train,
        verified=bool(entry.digest),
        columns=arrays.columns,
        categories=arrays.categories,
    )
