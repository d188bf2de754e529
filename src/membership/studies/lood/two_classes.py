"""The two classes of a data set that the chapter compares."""

import dataclasses

import numpy as np

from membership import data

# Plane and car, as in the paper; of the digits two that are not told apart at a glance.
CLASSES = {"cifar10": (0, 1), "digits": (3, 8)}
LEAST_SIDE = 4
"""Pixels a side: the convolutional kernels look at patches of three."""


def two_classes(loaded: data.Dataset) -> data.Dataset:
    """The different records of the two classes that the chapter compares."""
    kept = data.deduplicate(data.keep_classes(loaded, CLASSES.get(loaded.name, (0, 1))))
    return kept if kept.x.ndim == 4 else as_bars(kept)


def as_bars(table: data.Dataset) -> data.Dataset:
    """A table as pictures one line high: a bar a feature, from its least value, black, to white."""
    x = table.x.astype(np.float64)
    low, spread = x.min(axis=0), np.ptp(x, axis=0)
    x = ((x - low) / np.where(spread > 0, spread, 1.0))[:, None, None].astype(np.float32)
    source = f"{table.source} Each feature scaled to run from 0 to 1."
    bars = dataclasses.replace(table, x=x, source=source, columns=(), verified=False)
    return bars.select(np.arange(len(bars)))  # which takes the digest anew
