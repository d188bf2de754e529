"""Searches for the query that leaks most, on normalised pictures: what the figures share."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from membership import lood, nngp
from membership.arrays import FloatArray
from membership.studies.lood import pictures
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
    mean, std = x.mean(axis=axes, keepdims=True)[0], x.std(axis=axes, keepdims=True)[0]
    std = np.where(std > 0, std, 1.0)
    return Pictures(records, (x - mean) / std, mean, std)


def search(records: Records, settings: Any, others: bool = True) -> dict[str, list[Found]]:
    """Reconstruct ``n_reconstructed`` records with the first kernel and a few with the others.

    Returns
    -------
    dict of str to list of Found
        By kernel, the first one first.
    """
    whole = prepare(records, settings.search_records)
    fewer = prepare(records, min(CONVOLUTIONAL_RECORDS, settings.search_records))
    found: dict[str, list[Found]] = {}
    kernels = architectures(settings)
    main = next(iter(kernels))
    is_image = whole.x.ndim == 4
    few_starts = {"n_starts": min(CONVOLUTIONAL_STARTS, settings.sizes.starts)}
    for name, kernel in kernels.items():
        if name != main and not others:
            break
        if convolutional(name) and not is_image:
            continue
        seen, changes = (fewer, few_starts) if convolutional(name) else (whole, {})
        count = settings.n_reconstructed if name == main else settings.sizes.others
        found[name] = [recover(seen, kernel, row, settings, **changes) for row in range(count)]
    return found


def recover(seen: Pictures, kernel: nngp.Kernel, row: int, settings: Any, **changes: Any) -> Found:
    """Search for the query that leaks one record most, from noise."""
    run = {"measure": "kl", "steps": settings.sizes.steps, "n_starts": settings.sizes.starts}
    outcome = lood.reconstruct(
        kernel,
        *seen.without(row),
        (seen.x[row], seen.records.targets[row]),
        settings.noise,
        seed=settings.seed * 10_007 + row,
        bounds=seen.bounds,
        learning_rate=LEARNING_RATE,
        progress=False,
        **{**run, **changes},
    )
    return Found(row, outcome, pictures.correlation(outcome.query, seen.x[row]))
