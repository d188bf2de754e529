"""Records that need not fit in one array: a torch Dataset, read a part at a time."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from torch.utils.data import DataLoader, Dataset, IterableDataset, Subset

from membership.arrays import as_real
from membership.errors import InputError

PART = 256
"""Records that are read at once, where no loader says how many."""


class Streamed:
    """A Dataset of pairs (record, label), in its own order."""

    def __init__(self, dataset: Any, how: dict[str, Any], shape: tuple[int, ...] = ()) -> None:
        self.dataset, self.how, self.shape = dataset, how, (len(dataset), *shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: np.ndarray) -> "Streamed":
        """Some of the records, by a mask or by their places."""
        places = np.arange(len(self))[rows].tolist()
        return Streamed(Subset(self.dataset, places), self.how, self.shape[1:])

    def parts(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Records and labels in order, a part at a time."""
        for pair in DataLoader(self.dataset, shuffle=False, **self.how):
            if not isinstance(pair, tuple | list) or len(pair) != 2:
                raise InputError("x: the Dataset does not give pairs; give (record, label)")
            yield as_real("x: the records", pair[0]), as_real("x: the labels", pair[1])


def is_stream(x: Any) -> bool:
    return isinstance(x, Dataset | DataLoader)


def read(x: Any, y: Any) -> tuple[Streamed, np.ndarray]:
    """A Dataset, or that of a DataLoader, and its labels, checked in one pass.

    Raises
    ------
    InputError
        It has no length or no pairs, records differ in shape or are not finite, or labels are
        given beside it.
    """
    how: dict[str, Any] = {"batch_size": PART}
    if isinstance(x, DataLoader):
        how = {"num_workers": x.num_workers, "collate_fn": x.collate_fn}
        how["batch_size"] = max(x.batch_size or PART, PART)
        x = x.dataset
    if isinstance(x, IterableDataset) or not hasattr(x, "__len__"):
        raise InputError("x is a Dataset without a length; give one with __len__ and __getitem__")
    if y is not None:
        raise InputError("y is given beside a Dataset, which has labels; give None")
    if not len(x):
        raise InputError("x: the Dataset holds no records")
    stream, labels, shapes = Streamed(x, how), [], set()
    for records, part in stream.parts():
        if not np.isfinite(records).all():
            raise InputError(f"x: records of type {records.dtype}; give finite numbers")
        labels.append(part)
        shapes.add(records.shape[1:])
    if len(shapes) > 1:
        raise InputError(f"x: records of shapes {sorted(shapes)[:3]}; give one shape")
    return Streamed(x, how, shapes.pop()), np.concatenate(labels)


def in_parts(x: Any, y: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Records with what is told of them: an array whole, a Dataset a part at a time."""
    if not isinstance(x, Streamed):
        yield x, y
        return
    at = 0
    for records, _ in x.parts():
        yield records, y[at : at + len(records)]
        at += len(records)


def trained_on(x: Any) -> Any:
    """What a training is given: an array, or a Dataset of the records."""
    return x.dataset if isinstance(x, Streamed) else x
