"""Searches for the query that leaks most, on normalised pictures: what the figures share."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from membership import lood, nngp
from membership.arrays import FloatArray, deviation
from membership.studies.lood import pictures
from membership.studies.lood.needs import LEAST_SIDE
from membership.studies.lood.records import Records

LEARNING_RATE = 3.0
# Convolutional kernels cost a covariance a pixel: fewer training records and starts.
CONVOLUTIONAL_RECORDS, CONVOLUTIONAL_STARTS = 60, 2


@dataclass(frozen=True)
class Pictures:
    """Training records as the reconstructions see them: each channel has mean 0, variance 1.

    Attributes
    ----------
    records : Records
    x : ndarray of float64, shape (records, *record)
    mean, std : ndarray that broadcasts against a record
        Of these records; they do not depend on which of them is left out.
    """

    records: Records
    x: FloatArray
    mean: FloatArray
    std: FloatArray

    @property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """What black and white became."""
        return (0 - self.mean) / self.std, (1 - self.mean) / self.std

    def seen(self, query: FloatArray) -> FloatArray:
        """Queries as pictures again, in [0, 1] but for what went beyond black and white."""
        return query * self.std + self.mean

    @property
    def limits(self) -> tuple[FloatArray, FloatArray]:
        """The same in the shape of a record."""
        return tuple(np.broadcast_to(bound, self.x.shape[1:]) for bound in self.bounds)

    def run(self, settings: Any) -> dict[str, Any]:
        """How `lood.maximise` climbs on these records: a grey level is the unit of a step."""
        low, high = self.limits
        return {"unit": (high - low) / 255, "steps": settings.sizes.steps, "progress": False}

    def without(self, rows: Any) -> tuple[FloatArray, FloatArray]:
        """Records and targets but for some rows."""
        kept = np.setdiff1d(np.arange(len(self.x)), rows)
        return self.x[kept], self.records.targets[kept]

    def compare(self, kernel: nngp.Kernel, rows: Any, noise: float) -> lood.Comparison:
        """Both posteriors, where D lacks these rows."""
        rows = np.atleast_1d(rows)
        differing = self.x[rows], self.records.targets[rows]
        return lood.compare(kernel, *self.without(rows), differing, noise)


@dataclass(frozen=True)
class Found:
    """One optimised query.

    Attributes
    ----------
    row : int
        The differing record.
    outcome : lood.Reconstruction
    correlation : float
        Of the best query with the record, over their entries.
    """

    row: int
    outcome: Any
    correlation: float

    @property
    def ratio(self) -> float:
        """The measure at the query over that at the record."""
        return self.outcome.lood / self.outcome.target


def quickly_compiled(function: Callable) -> Callable:
    """Let JAX compile without most optimisations in tests, where little is run of what it compiles.

    The function's last argument is the settings.
    """

    @functools.wraps(function)
    def wrapped(*arguments: Any) -> Any:
        if arguments[-1].sizes.optimised:
            return function(*arguments)
        import jax

        jax.config.update("jax_disable_most_optimizations", True)
        try:
            return function(*arguments)
        finally:
            jax.config.update("jax_disable_most_optimizations", False)

    return wrapped


def architectures(settings: Any) -> dict[str, nngp.Kernel]:
    """The kernels of the reconstructions, the README's first; depth 1 throughout in tests.

    The captions that named the paper's are lost; these are the families that its text names.
    """
    shallow, middle, deep = settings.sizes.depths
    first, second = settings.sizes.convolutional_depths
    return {
        f"ReLU, depth {middle} (README)": nngp.fully_connected(middle),
        "RBF": nngp.rbf(),
        f"ReLU, depth {shallow} (shallow)": nngp.fully_connected(shallow),
        f"ReLU, depth {deep} (deep)": nngp.fully_connected(deep),
        f"GeLU, depth {middle}": nngp.fully_connected(middle, "gelu"),
        f"convolutional, depth {first} (shallow)": nngp.convolutional(first),
        f"convolutional, depth {second} (deeper)": nngp.convolutional(second),
    }


def convolutional(kernel: str) -> bool:
    """Whether a kernel of this name is convolutional."""
    return kernel.startswith("convolutional")


def prepare(records: Records, n: int) -> Pictures:
    """Normalise the first n records, images channel by channel and other records as a whole."""
    records = records.first(n)
    x = records.dataset.x.astype(np.float64)
    axes = (0, 2, 3) if x.ndim == 4 else (0,)
    mean, std = x.mean(axis=axes, keepdims=True)[0], deviation(x, axes, keepdims=True)[0]
    std = np.where(std > 0, std, 1.0)
    return Pictures(records, (x - mean) / std, mean, std)


class Searches:
    """Reconstructions of a data set's records, by kernel."""

    def __init__(self, records: Records, settings: Any) -> None:
        self.settings = settings
        self.every = architectures(settings)
        self.main = next(iter(self.every))
        self.whole = prepare(records, settings.search_records)
        self.fewer = prepare(records, min(CONVOLUTIONAL_RECORDS, settings.search_records))

    def kernels(self, others: bool) -> list[str]:
        """The first, and the others if asked for: convolutional ones for pictures only."""
        is_image = min(self.whole.x.shape[2:]) >= LEAST_SIDE
        names = [name for name in self.every if is_image or not convolutional(name)]
        return names if others else [self.main]

    def seen(self, kernel: str) -> Pictures:
        """The training records of a kernel's searches."""
        return self.fewer if convolutional(kernel) else self.whole

    def of(self, kernel: str) -> list[Found]:
        """The first records, as many as this kernel is tried on."""
        sizes = self.settings.sizes
        few = {"n_starts": min(CONVOLUTIONAL_STARTS, sizes.starts)} if convolutional(kernel) else {}
        count = self.settings.n_reconstructed if kernel == self.main else sizes.others
        return [self.recover(kernel, row, **few) for row in range(count)]

    def recover(self, kernel: str, row: int, **changes: Any) -> Found:
        """Search for the query that leaks one record most, from noise."""
        seen, settings = self.seen(kernel), self.settings
        run = {"steps": settings.sizes.steps, "n_starts": settings.sizes.starts, **changes}
        outcome = lood.reconstruct(
            self.every[kernel],
            *seen.without(row),
            (seen.x[row], seen.records.targets[row]),
            settings.noise,
            measure="kl",
            seed=settings.seed * 10_007 + row,
            bounds=seen.bounds,
            learning_rate=LEARNING_RATE,
            progress=False,
            **run,
        )
        return Found(row, outcome, pictures.correlation(outcome.query, seen.x[row]))
