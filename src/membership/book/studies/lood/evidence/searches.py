"""Searches for the query that leaks most: of single records, step by step, and of groups."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from membership import evidence, lood, nngp
from membership.arrays import FloatArray
from membership.book.studies.lood.evidence import of_records
from membership.book.studies.lood.experiment import (
    RBF,
    RELU,
    SHOWN,
    Pictures,
    Records,
    correlation,
    correlations,
    family_of,
    kernel_name,
    load,
    prepare,
    thumbnail,
)
from membership.book.studies.lood.reconstruction import DEEP, DEEPER, OTHER_DEPTHS, SHALLOW
from membership.book.studies.lood.settings import LEAST_SIDE, Settings

LEARNING_RATE = 3.0
# Convolutional kernels cost a covariance a pixel: fewer starts, beside fewer training records.
CONVOLUTIONAL_STARTS = 2
CONVOLUTIONAL = "convolutional"
# Records searched for at once, and kept before the next.
TOGETHER = 20


@dataclass(frozen=True)
class Found:
    """One optimised query.

    Attributes
    ----------
    kernel : str
    seen : Pictures
        The training records of the kernel's searches.
    row : int
        The differing record.
    outcome : lood.Reconstruction
    """

    kernel: str
    seen: Pictures
    row: int
    outcome: lood.Reconstruction

    @property
    def correlation(self) -> float:
        """Of the best query with the record, over their entries."""
        return correlation(self.outcome.query, self.seen.x[self.row])

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
        if arguments[-1].sizes.compiled:
            return function(*arguments)
        import jax

        jax.config.update("jax_disable_most_optimizations", True)
        try:
            return function(*arguments)
        finally:
            jax.config.update("jax_disable_most_optimizations", False)

    return wrapped


def architectures(settings: Settings) -> dict[str, nngp.Kernel]:
    """The kernels of the reconstructions, the README's first; depth 1 throughout in tests.

    The captions that named the paper's are lost; these are the families that its text names.
    """
    shallow, middle, deep = settings.sizes.depths
    first, second = settings.sizes.convolutional_depths
    return {
        f"{kernel_name(RELU, middle)} (README)": nngp.fully_connected(middle),
        RBF: nngp.rbf(),
        f"{kernel_name(RELU, shallow)} {SHALLOW}": nngp.fully_connected(shallow),
        f"{kernel_name(RELU, deep)} {DEEP}": nngp.fully_connected(deep),
        kernel_name("GeLU", middle): nngp.fully_connected(middle, "gelu"),
        f"{kernel_name(CONVOLUTIONAL, first)} {SHALLOW}": nngp.convolutional(first),
        f"{kernel_name(CONVOLUTIONAL, second)} {DEEPER}": nngp.convolutional(second),
    }


def convolutional(kernel: str) -> bool:
    """Whether a kernel of this name is convolutional."""
    return family_of(kernel) == CONVOLUTIONAL


class Searches:
    """Reconstructions of a data set's records, by kernel."""

    def __init__(self, records: Records, settings: Settings) -> None:
        self.settings = settings
        self.every = architectures(settings)
        self.main = next(iter(self.every))
        n = settings.reconstruction_records
        self.whole = prepare(records, n)
        self.fewer = prepare(records, min(settings.sizes.convolutional_records, n))
        self._exposure: dict[str, FloatArray] = {}

    def kernels(self, further: bool) -> list[str]:
        """The first, and the others if asked for: convolutional ones for pictures only."""
        is_image = min(self.whole.x.shape[2:]) >= LEAST_SIDE
        names = [name for name in self.every if is_image or not convolutional(name)]
        return names if further else [self.main]

    def seen(self, kernel: str) -> Pictures:
        """The training records of a kernel's searches."""
        return self.fewer if convolutional(kernel) else self.whole

    def exposure(self, kernel: str) -> FloatArray:
        """KL of every training record at itself."""
        if kernel not in self._exposure:
            seen = self.seen(kernel)
            matrix, y = self.every[kernel](seen.x), seen.records.targets
            self._exposure[kernel] = lood.leave_one_out(matrix, y, self.settings.noise).kl
        return self._exposure[kernel]

    def of(self, kernel: str) -> list[Found]:
        """The first records, as many as this kernel is tried on, kept by pieces."""
        sizes, seen = self.settings.sizes, self.seen(kernel)
        count = sizes.deeper if kernel.endswith(OTHER_DEPTHS) else sizes.others
        count = self.settings.n_reconstructed if kernel == self.main else count
        starts = min(CONVOLUTIONAL_STARTS, sizes.starts) if convolutional(kernel) else sizes.starts
        pieces = [list(range(count))[i : i + TOGETHER] for i in range(0, count, TOGETHER)]
        climb = functools.partial(self._climb, kernel, starts)
        determined = (repr(self.every[kernel]), starts, sizes.steps, self.settings.noise)
        determined += (self.settings.seed, seen.x, seen.records.targets)
        parts = evidence.in_parts(climb, pieces, *determined)
        exposure = self.exposure(kernel)
        return [
            self._found(kernel, row, exposure[row], {key: array[i] for key, array in part.items()})
            for piece, part in zip(pieces, parts, strict=True)
            for i, row in enumerate(piece)
        ]

    def _climb(self, kernel: str, starts: int, rows: list[int]) -> dict[str, np.ndarray]:
        """Search for some records at once, each left out of the others: (records, starts, ...)."""
        seen, settings = self.seen(kernel), self.settings
        outcome = lood.maximise_each(
            self.every[kernel],
            seen.x,
            seen.records.targets,
            settings.noise,
            np.repeat(rows, starts),
            np.concatenate([self._start(seen, row, starts) for row in rows]),
            learning_rate=LEARNING_RATE,
            **seen.run(settings),
        )
        shape = (len(rows), starts)
        return {
            "query": outcome.query.reshape(*shape, *outcome.query.shape[1:]),
            "value": outcome.value.reshape(shape),
            "history": outcome.history.T.reshape(*shape, -1),
        }

    def _start(self, seen: Pictures, row: int, starts: int) -> FloatArray:
        """Uniform noise, as `lood.reconstruct` draws it."""
        return seen.noise(np.random.default_rng(self.settings.seed * 10_007 + row), starts)

    def _found(self, kernel: str, row: int, kl: float, part: dict[str, np.ndarray]) -> Found:
        seen, best = self.seen(kernel), int(part["value"].argmax())
        outcome = lood.Reconstruction(
            query=part["query"][best],
            lood=float(part["value"][best]),
            history=part["history"].T,
            target=float(kl),
            queries=part["query"],
            values=part["value"],
            start=self._start(seen, row, len(part["query"])),
        )
        return Found(kernel, seen, row, outcome)

    def recover(self, kernel: str, row: int, **changes: Any) -> Found:
        """Search for the query that leaks one record most, from noise, for that record alone."""
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
        return Found(kernel, seen, row, outcome)


FEW_SHOWN = 5
"""Pictures that evidence keeps of each kernel but the first."""
GROUP, PICTURED = 3, 2
PICTURE = ("channel", "height", "width")
STAGES = (0, 10, 30, 100, 300)


@evidence.version(2)
@quickly_compiled
def searches(name: str, n_records: int, detailed: bool, settings: Settings) -> xr.Dataset:
    """Reconstructions of a data set's records; in detail: by every kernel, one step by step."""
    searcher = Searches(load(settings, name, n_records), settings)
    kernels = searcher.kernels(detailed)
    results = [search for kernel in kernels for search in searcher.of(kernel)]
    kept = {searcher.main: SHOWN}
    shown = [i for i, s in enumerate(results) if s.row < kept.get(s.kernel, FEW_SHOWN)]
    near, ends = [_nearest_others(s) for s in results], [_ends(s) for s in results]
    originals = [results[i].seen.records.dataset.x[results[i].row] for i in shown]
    levels = [results[i].seen.seen(results[i].outcome.query) for i in shown]
    arrays = {
        "row": ("search", [search.row for search in results]),
        "kl": ("search", [search.outcome.lood for search in results]),
        "kl_at_record": ("search", [search.outcome.target for search in results]),
        "correlation": ("search", [search.correlation for search in results]),
        "other": ("search", [pair[0] for pair in near]),
        "nearest_other": ("search", [pair[1] for pair in near]),
        **{name: (("search", "start"), _padded([end[name] for end in ends])) for name in ends[0]},
        "exposure": (("of", "record"), _padded([searcher.exposure(name) for name in kernels])),
        "shown": ("picture", shown),
        "original": (("picture", *PICTURE), thumbnail(originals)),
        "level": (("picture", *PICTURE), thumbnail(levels)),
    }
    sizes = {"records_searched_for": settings.n_reconstructed}
    if detailed:
        arrays |= _in_detail(searcher, [s for s in results if s.kernel == searcher.main])
        sizes["of_further_kernels"] = settings.sizes.others
        sizes["of_further_depths"] = settings.sizes.deeper
        sizes["training_records_of_convolutional_kernels"] = len(searcher.fewer.x)
    return evidence.dataset(
        "process",
        arrays,
        {"search": [search.kernel for search in results], "of": kernels},
        **of_records(searcher.whole.records, settings, **sizes, starts=settings.sizes.starts),
    )


def _ends(search: Found) -> dict[str, FloatArray]:
    """Where each start ended: its KL, its correlation with the record, the nearest of all."""
    near = correlations(search.outcome.queries, search.seen.x)
    return {
        "end_kl": search.outcome.values,
        "end_correlation": near[:, search.row],
        "end_nearest": near.argmax(axis=1).astype(float),
    }


def _padded(rows: list[FloatArray]) -> FloatArray:
    """Rows of different lengths as one array, filled up with NaN."""
    filled = np.full((len(rows), max(map(len, rows))), np.nan)
    for row, values in zip(filled, rows, strict=True):
        row[: len(values)] = values
    return filled


def _nearest_others(search: Found) -> tuple[float, float]:
    """The best correlations of the query, and of its record, with another training record."""
    seen = search.seen
    rest = seen.without(search.row)[0]
    of_both = correlations(np.stack([search.outcome.query, seen.x[search.row]]), rest)
    return tuple(of_both.max(axis=1).tolist())


def _in_detail(searcher: Searches, results: list[Found]) -> dict[str, Any]:
    """One successful search: the KL of every start, and the best query after some steps."""
    best = max(results, key=lambda result: (result.ratio > 0.9, -result.row))
    first = int(best.outcome.history[0].argmax())
    stages = [stage for stage in STAGES if stage <= searcher.settings.sizes.steps]
    queries, kl = [best.outcome.start[first]], [float(best.outcome.history[0, first])]
    for stage in stages[1:]:
        part = searcher.recover(searcher.main, best.row, steps=stage).outcome
        queries.append(part.query)
        kl.append(part.lood)
    seen = searcher.whole
    return {
        "history": (("check", "start"), best.outcome.history),
        "detailed": ("one", [best.row]),
        "detailed_original": (PICTURE, thumbnail(seen.records.dataset.x[best.row])),
        "stage": ("stages", stages),
        "stage_kl": ("stages", kl),
        "stage_level": (("stages", *PICTURE), thumbnail(seen.seen(np.array(queries)))),
    }


@evidence.version(2)
@quickly_compiled
def groups(settings: Settings) -> xr.Dataset:
    """Groups of three left out together: single and joint queries from several starts."""
    searcher = Searches(load(settings), settings)
    seen, sizes = searcher.whole, settings.sizes
    determined = (repr(searcher.every[searcher.main]), sizes.group_starts, sizes.steps)
    determined += (settings.noise, settings.seed, seen.x, seen.records.targets)
    climb = functools.partial(_group, searcher)
    parts = evidence.in_parts(climb, list(range(sizes.groups)), *determined)
    dims = {
        "alone": ("group", "member"),
        "together": ("group",),
        "single_kl": ("group", "start"),
        "single_correlation": ("group", "start", "member"),
        "joint_kl": ("group", "start"),
        "joint_correlation": ("group", "place", "member"),
    }
    arrays = {name: (dim, np.stack([part[name] for part in parts])) for name, dim in dims.items()}
    pictures = {
        "original": ("pictured", "member", *PICTURE),
        "single_level": ("pictured", "start", *PICTURE),
        "joint_level": ("pictured", "place", *PICTURE),
    }
    arrays |= {
        name: (dim, np.stack([part[name] for part in parts[:PICTURED]]))
        for name, dim in pictures.items()
    }
    named = {"groups": len(parts), "starts": sizes.group_starts}
    return evidence.dataset("process", arrays, **of_records(seen.records, settings, **named))


def _group(searcher: Searches, group: int) -> dict[str, np.ndarray]:
    seen, settings = searcher.whole, searcher.settings
    members = np.arange(GROUP) + GROUP * group
    comparison = seen.compare(searcher.every[searcher.main], members, settings.noise)

    def climbed(*together: int) -> lood.Optimum:
        """From noise, by single queries or by so many together."""
        rng = np.random.default_rng([settings.seed, 5, group, *(together or [0])])
        start = seen.noise(rng, settings.sizes.group_starts, *together)
        return lood.maximise(comparison, start, joint=bool(together), **seen.run(settings))

    single, joint = climbed(), climbed(GROUP)
    best = joint.query[np.argmax(joint.value)]
    return {
        "alone": np.array(comparison.measure(seen.x[members])),
        "together": np.array(comparison.measure(seen.x[members], joint=True)),
        "single_kl": single.value,
        "single_correlation": correlations(single.query, seen.x[members]),
        "joint_kl": joint.value,
        "joint_correlation": correlations(best, seen.x[members]),
        "original": thumbnail(seen.seen(seen.x[members])),
        "single_level": thumbnail(seen.seen(single.query)),
        "joint_level": thumbnail(seen.seen(best)),
    }
