"""Searches for the query that leaks most: of single records, step by step, and of groups."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from membership import evidence, lood, nngp
from membership.arrays import FloatArray, deviation
from membership.studies.lood.evidence import of_records
from membership.studies.lood.experiment import (
    SHOWN,
    Records,
    correlation,
    load,
    thumbnail,
)
from membership.studies.lood.settings import Settings
from membership.studies.lood.two_classes import LEAST_SIDE

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

    def run(self, settings: Settings) -> dict[str, Any]:
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
    outcome: lood.Reconstruction
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


def architectures(settings: Settings) -> dict[str, nngp.Kernel]:
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

    def __init__(self, records: Records, settings: Settings) -> None:
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
        return Found(row, outcome, correlation(outcome.query, seen.x[row]))


FEW_SHOWN = 5
"""Pictures that evidence keeps of each kernel but the first."""
GROUP = 3
PICTURE = ("channel", "height", "width")
STAGES = (0, 10, 30, 100, 300)


@quickly_compiled
def searches(name: str, n_records: int, detailed: bool, settings: Settings) -> xr.Dataset:
    """Reconstructions of a data set's records; in detail: by every kernel, one step by step."""
    made = Searches(load(settings, name, n_records), settings)
    found = [(kernel, one) for kernel in made.kernels(detailed) for one in made.of(kernel)]
    kept = {made.main: SHOWN}
    shown = [i for i, (of, one) in enumerate(found) if one.row < kept.get(of, FEW_SHOWN)]
    places = [made.seen(kernel) for kernel, _ in found]
    near = [_others(seen, one) for seen, (_, one) in zip(places, found, strict=True)]
    each = [one for _, one in found]
    ends = [_ends(seen, one) for seen, one in zip(places, each, strict=True)]
    originals = [places[i].records.dataset.x[each[i].row] for i in shown]
    levels = [places[i].seen(each[i].outcome.query) for i in shown]
    arrays = {
        "row": ("search", [one.row for one in each]),
        "kl": ("search", [one.outcome.lood for one in each]),
        "kl_at_record": ("search", [one.outcome.target for one in each]),
        "correlation": ("search", [one.correlation for one in each]),
        "other": ("search", [pair[0] for pair in near]),
        "nearest_other": ("search", [pair[1] for pair in near]),
        **{name: (("search", "start"), _padded([end[name] for end in ends])) for name in ends[0]},
        "exposure": (("of", "record"), _exposure(made, list(dict.fromkeys(n for n, _ in found)))),
        "shown": ("picture", shown),
        "original": (("picture", *PICTURE), thumbnail(originals)),
        "level": (("picture", *PICTURE), thumbnail(levels)),
    }
    sizes = {"records_searched_for": settings.n_reconstructed}
    if detailed:
        arrays |= _in_detail(made, [one for kernel, one in found if kernel == made.main])
        sizes["of_further_kernels"] = settings.sizes.others
        sizes["records_of_convolutional_kernels"] = len(made.fewer.x)
    return evidence.dataset(
        "process",
        arrays,
        {
            "search": [kernel for kernel, _ in found],
            "of": list(dict.fromkeys(kernel for kernel, _ in found)),
        },
        **of_records(made.whole.records, settings, **sizes, starts=settings.sizes.starts),
    )


def _ends(seen: Pictures, one: Found) -> dict[str, FloatArray]:
    """Where each start ended: its KL, its correlation with the record, the nearest of all."""
    near = np.array(
        [[correlation(query, record) for record in seen.x] for query in one.outcome.queries]
    )
    return {
        "end_kl": one.outcome.values,
        "end_correlation": near[:, one.row],
        "end_nearest": near.argmax(axis=1).astype(float),
    }


def _exposure(made: Searches, names: list[str]) -> FloatArray:
    """KL of every training record at itself under each kernel, (kernels, records)."""
    rows = []
    for name in names:
        seen = made.seen(name)
        matrix = made.every[name](seen.x)
        rows.append(lood.leave_one_out(matrix, seen.records.targets, made.settings.noise).kl)
    return _padded(rows)


def _padded(rows: list[FloatArray]) -> FloatArray:
    """Rows of different lengths as one array, filled up with NaN."""
    filled = np.full((len(rows), max(map(len, rows))), np.nan)
    for row, values in zip(filled, rows, strict=True):
        row[: len(values)] = values
    return filled


def _others(seen: Pictures, one: Found) -> tuple[float, float]:
    """The best correlations of the query, and of its record, with another training record."""
    others = seen.without(one.row)[0]
    return tuple(
        max(correlation(this, record) for record in others)
        for this in (one.outcome.query, seen.x[one.row])
    )


def _in_detail(made: Searches, found: list[Found]) -> dict[str, Any]:
    """One successful search: the KL of every start, and the best query after some steps."""
    one = max(found, key=lambda each: (each.ratio > 0.9, -each.row))
    first = int(one.outcome.history[0].argmax())
    stages = [stage for stage in STAGES if stage <= made.settings.sizes.steps]
    queries, kl = [one.outcome.start[first]], [float(one.outcome.history[0, first])]
    for stage in stages[1:]:
        part = made.recover(made.main, one.row, steps=stage).outcome
        queries.append(part.query)
        kl.append(part.lood)
    seen = made.whole
    return {
        "history": (("check", "start"), one.outcome.history),
        "detailed": ("one", [one.row]),
        "detailed_original": (PICTURE, thumbnail(seen.records.dataset.x[one.row])),
        "stage": ("stages", stages),
        "stage_kl": ("stages", kl),
        "stage_level": (("stages", *PICTURE), thumbnail(seen.seen(np.array(queries)))),
    }


@quickly_compiled
def groups(settings: Settings) -> xr.Dataset:
    """Groups of three left out together: single and joint queries from several starts."""
    made = Searches(load(settings), settings)
    each = [_group(made, group) for group in range(settings.sizes.groups)]
    dims = {
        "alone": ("group", "member"),
        "together": ("group",),
        "single_kl": ("group", "start"),
        "single_correlation": ("group", "start", "member"),
        "joint_kl": ("group", "start"),
        "joint_correlation": ("group", "place", "member"),
        "original": ("group", "member", *PICTURE),
        "single_level": ("group", "start", *PICTURE),
        "joint_level": ("group", "place", *PICTURE),
    }
    arrays = {name: (dim, np.stack([one[name] for one in each])) for name, dim in dims.items()}
    sizes = {"groups": len(each), "starts": settings.sizes.group_starts}
    return evidence.dataset("process", arrays, **of_records(made.whole.records, settings, **sizes))


def _group(made: Searches, group: int) -> dict[str, Any]:
    seen, settings = made.whole, made.settings
    members = np.arange(GROUP) + GROUP * group
    comparison = seen.compare(made.every[made.main], members, settings.noise)
    starts = [_noise(seen, settings, group, joint) for joint in (0, GROUP)]
    single, joint = (
        lood.maximise(comparison, start, joint=together, **seen.run(settings))
        for start, together in zip(starts, (False, True), strict=True)
    )
    best = joint.query[np.argmax(joint.value)]
    return {
        "alone": comparison.measure(seen.x[members]),
        "together": comparison.measure(seen.x[members], joint=True),
        "single_kl": single.value,
        "single_correlation": _to_members(seen, single.query, members),
        "joint_kl": joint.value,
        "joint_correlation": _to_members(seen, best, members),
        "original": thumbnail(seen.seen(seen.x[members])),
        "single_level": thumbnail(seen.seen(single.query)),
        "joint_level": thumbnail(seen.seen(best)),
    }


def _noise(seen: Pictures, settings: Settings, group: int, joint: int) -> np.ndarray:
    starts = settings.sizes.group_starts
    shape = (starts, joint) if joint else (starts,)
    low, high = seen.limits
    rng = np.random.default_rng([settings.seed, 5, group, joint])
    return rng.random((*shape, *low.shape)) * (high - low) + low


def _to_members(seen: Pictures, queries: FloatArray, members: np.ndarray) -> FloatArray:
    return np.array([[correlation(q, seen.x[m]) for m in members] for q in queries])
