"""Records in a torch Dataset: read a part at a time, and at each reading the same."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch.utils.data import ConcatDataset, DataLoader, Dataset, IterableDataset, Subset

from membership import networks
from membership.arrays import as_real
from membership.errors import InputError

PART = 256
"""Records that are read at once, where no loader says how many."""


class Streamed:
    """A Dataset of pairs (record, label), in its own order.

    One that draws, as augmentation does, draws the same at each reading, by seeds of the generators
    of Python, NumPy and torch. `draws` says that it draws, `repeats` that these seeds reach it.
    """

    def __init__(self, dataset: Any, how: dict[str, Any], shape: tuple[int, ...] = ()) -> None:
        self.dataset, self.how, self.shape = dataset, how, (len(dataset), *shape)
        self.draws, self.repeats = False, True

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: np.ndarray) -> "Streamed":
        """Some of the records, by a mask or by their places."""
        places = np.arange(len(self))[rows].tolist()
        return Streamed(Subset(self.dataset, places), self.how, self.shape[1:])

    def parts(self, seed: int = 0) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Records and labels in order, a part at a time."""
        with _drawing_from(seed):
            reading = iter(DataLoader(self.dataset, shuffle=False, **self.how))
        for number in range(-(-len(self) // self.how["batch_size"])):
            try:
                with _drawing_from(seed + number):
                    pair = next(reading)
            except networks.FAILURES as error:
                raise self._unfit(error) from error
            if not isinstance(pair, tuple | list) or len(pair) != 2:
                raise InputError("x: the Dataset does not give pairs; give (record, label)")
            yield as_real("x: the records", pair[0]), as_real("x: the labels", pair[1])

    def _unfit(self, error: Exception) -> InputError:
        """Why records do not go into one array; what the Dataset itself raises is raised again."""
        first = _shapes(self.dataset[0])
        for place in range(1, len(self)):
            here = _shapes(self.dataset[place])
            if len(here) != len(first):
                return InputError(
                    f"x: the Dataset gives record 0 in {len(first)} parts and record {place} in "
                    f"{len(here)}; give (record, label)"
                )
            for name, one, other in zip(("record", "label"), first, here, strict=False):
                if one != other:
                    return InputError(
                        f"x: {name} 0 has shape {one} and {name} {place} {other}; give one shape, "
                        "or a DataLoader whose collate_fn makes it one"
                    )
        return InputError(
            f"x: records of the Dataset do not go into one array: {networks.line(error)}; give "
            "tensors, or a DataLoader whose collate_fn makes them"
        )


def _shapes(parts: Any) -> list[tuple[int, ...]]:
    return [tuple(np.shape(part)) for part in parts]


@contextmanager
def _drawing_from(seed: int) -> Iterator[None]:
    """What is drawn inside follows from the seed alone; afterwards all generators are as before."""
    python, numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
    with torch.random.fork_rng(devices=[]):
        random.seed(seed)
        np.random.seed(seed)  # noqa: NPY002
        torch.default_generator.manual_seed(seed)
        try:
            yield
        finally:
            random.setstate(python)
            np.random.set_state(numpy)  # noqa: NPY002


Records = tuple[Any, np.ndarray]
"""An array or a `Streamed`, and what is told of each record."""


def is_stream(x: Any) -> bool:
    return isinstance(x, Dataset | DataLoader)


def read_stream(x: Any, y: Any) -> tuple[Streamed, np.ndarray]:
    """A Dataset, or that of a DataLoader, and its labels, checked in one pass.

    Raises
    ------
    InputError
        It has no length or no pairs, records differ in shape or are not finite, or labels are
        given beside it.
    """
    how: dict[str, Any] = {"batch_size": PART}
    if isinstance(x, DataLoader):
        how["num_workers"] = x.num_workers
        if x.batch_sampler is not None:  # Else what the loader collates is one record.
            how |= {"collate_fn": x.collate_fn, "batch_size": max(x.batch_size or PART, PART)}
    x = _dataset_of(x)
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
    stream = Streamed(x, how, shapes.pop())
    few = stream[np.arange(min(len(stream), PART))]
    one, same, other = (np.concatenate([part for part, _ in few.parts(i)]) for i in (0, 0, 1))
    stream.draws, stream.repeats = not np.array_equal(one, other), np.array_equal(one, same)
    return stream, np.concatenate(labels)


def _dataset_of(x: Any) -> Any:
    dataset = x.dataset if isinstance(x, DataLoader) else x
    if isinstance(dataset, IterableDataset) or not hasattr(dataset, "__len__"):
        raise InputError("x is a Dataset without a length; give one with __len__ and __getitem__")
    return dataset


def joined(members: Any, others: Any) -> tuple[Dataset | DataLoader, np.ndarray]:
    """Two Datasets or DataLoaders as one, and which of its records are the first's.

    Raises
    ------
    InputError
        The first is an array, or one has no length.
    """
    if not is_stream(members):
        raise InputError(
            "y is a Dataset and x is none; give both as Datasets, of members and of others"
        )
    each = [_dataset_of(members), _dataset_of(others)]
    whole: Any = ConcatDataset(each)
    if isinstance(members, DataLoader):
        how = {name: getattr(members, name) for name in ("batch_size", "num_workers", "collate_fn")}
        whole = DataLoader(whole, **how)
    return whole, np.repeat([True, False], [len(one) for one in each])


def in_parts(x: Any, y: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Records with what is told of them: an array whole, a Dataset a part at a time."""
    if not isinstance(x, Streamed):
        yield x, y
        return
    at = 0
    for records, _ in x.parts():
        yield records, y[at : at + len(records)]
        at += len(records)


def for_training(x: Any) -> Any:
    """What a training is given: an array, or a Dataset of the records."""
    return x.dataset if isinstance(x, Streamed) else x
