"""Queries that might tell more than the record, near it, at the mean of the data, or far away."""

from typing import Any

import numpy as np
import xarray as xr

from membership import evidence, lood, nngp
from membership.arrays import FloatArray
from membership.book.studies.lood import influenced
from membership.book.studies.lood.evidence import of_records
from membership.book.studies.lood.evidence.records import gaussian_kl, posterior
from membership.book.studies.lood.evidence.searches import PICTURE, quickly_compiled
from membership.book.studies.lood.experiment import (
    SHOWN,
    Pictures,
    Records,
    correlation,
    kernel_of,
    kernels,
    load,
    prepare,
    scaled,
    stretched,
    thumbnail,
)
from membership.book.studies.lood.queries import THREE_OPTIMISED, THREE_RANDOM
from membership.book.studies.lood.settings import Settings

ATTEMPTED = ("kl", "kl-reverse", "auc")
TRIED = 200


@quickly_compiled
def attempts(settings: Settings) -> xr.Dataset:
    """Three measures at random and optimised queries, single and in sets, and at the record."""
    seen = prepare(load(settings), settings.search_records)
    kernel_of, kinds, values, at_record = [], [], [], []
    for name, kernel in kernels(settings).items():
        for row in range(settings.sizes.attempted):
            comparison = seen.compare(kernel, row, settings.noise)
            at = [comparison.measure(seen.x[row], measure) for measure in ATTEMPTED]
            for kind, (queries, joint) in _trials(seen, comparison, row, settings).items():
                measurements = _measured(comparison, queries, joint)
                kernel_of += [name] * len(measurements)
                kinds += [kind] * len(measurements)
                values.append(measurements)
                at_record += [at] * len(measurements)
    return evidence.dataset(
        "process",
        {
            "kernel": ("attempt", kernel_of),
            "queries": ("attempt", kinds),
            "value": (("attempt", "measure"), np.concatenate(values)),
            "at_record": (("attempt", "measure"), at_record),
        },
        {"measure": list(ATTEMPTED)},
        **of_records(seen.records, settings, records_tried=settings.sizes.attempted),
    )


def _measured(comparison: lood.Comparison, queries: FloatArray, joint: bool) -> FloatArray:
    """Each measure at each query, or set of queries: (attempts, measures)."""
    if joint:
        return np.array(
            [[comparison.measure(q, m, joint=True) for m in ATTEMPTED] for q in queries]
        )
    return np.stack([comparison.measure(queries, m) for m in ATTEMPTED], axis=1)


def _trials(
    seen: Pictures, comparison: lood.Comparison, row: int, settings: Settings
) -> dict[str, tuple]:
    """Queries by kind, and whether they are observed together."""
    rng = np.random.default_rng([settings.seed, 7, row])
    record, rest = seen.x[row], seen.without(row)[0]
    noise = seen.noise(rng, TRIED)
    size = 10.0 ** rng.uniform(-3, 0, TRIED).reshape(-1, *[1] * record.ndim)
    near = record + size * rng.standard_normal((TRIED, *record.shape))
    share = rng.random(TRIED).reshape(-1, *[1] * record.ndim)
    between = share * record + (1 - share) * rest[rng.integers(len(rest), size=TRIED)]
    mixed = np.concatenate([noise[:50], near[:50], between[:50]])
    sets = mixed[rng.permutation(len(mixed)).reshape(-1, 3)]
    run, starts = seen.run(settings), settings.sizes.starts
    half = starts // 2
    single = lood.maximise(comparison, np.concatenate([noise[:half], near[:half]]), **run)
    trials = {
        "one, random": (np.concatenate([noise, near, between, rest]), False),
        "one, optimised": (single.query, False),
        THREE_RANDOM: (sets, True),
    }
    if settings.sizes.compiled or isinstance(comparison.without.kernel, type(nngp.rbf())):
        together = np.stack([noise[:starts], near[:starts], between[:starts]], axis=1)
        joint = lood.maximise(comparison, together, joint=True, **run)
        trials[THREE_OPTIMISED] = joint.query, True
    return trials


SLOPED = ("kl", "kl-reverse", "mean")
RATES = (1.0, 0.1)
DIRECTIONS, SLOPED_RECORDS = 20, 3
NORMALISED_RECORDS = 50
FACTORS = (-1.0, 0.1, 0.5, 2.0, 10.0)


@quickly_compiled
def normalised(settings: Settings) -> xr.Dataset:
    """Queries found where D and D' normalise by themselves, and the ray of a homogeneous kernel."""
    own = load(settings)
    few = own.first(min(NORMALISED_RECORDS, settings.search_records))
    by_channel, by_pixel = (_better(few, settings, flat) for flat in (False, True))
    x = few.dataset.x.astype(np.float64)[: len(by_channel["query"])]
    queries = by_channel.pop("query")
    change = np.stack([stretched(q - r) for q, r in zip(queries, x, strict=True)])
    levels = np.stack([thumbnail(part) for part in (x, queries, change)])
    pairs = zip(queries, x, strict=True)
    ray = _ray(prepare(own, settings.search_records), settings)
    sizes = {"records_of_the_rays": ray.shape[1], "records_searched_from": len(x)}
    return evidence.dataset(
        "process",
        {
            **{name: ("record", values) for name, values in by_channel.items()},
            **{f"pixel_{name}": ("record", by_pixel[name]) for name in by_channel},
            "correlation": ("record", [correlation(*pair) for pair in pairs]),
            "level": (("part", "record", *PICTURE), levels),
            "ray": (("measure", "searched", "factor"), ray),
        },
        {"part": ["record", "better query", "difference"], "measure": ["kl", "mean"]}
        | {"factor": list(FACTORS)},
        **of_records(few, settings, **sizes),
    )


def _better(few: Records, settings: Settings, flat: bool) -> dict[str, Any]:
    """The best query found from each of some records, its KL by two paths and at the record.

    And its variance under D' over the record's.
    """
    x = few.dataset.x.astype(np.float64)
    if flat:
        x = x.reshape(len(x), -1)
    kernel = next(iter(kernels(settings).values()))
    run = {"unit": np.full(x.shape[1:], 1 / 255), "steps": settings.sizes.steps, "progress": False}
    columns: dict[str, list[Any]] = {}
    for row in range(min(settings.sizes.normalised, len(x))):
        kept = np.arange(len(x)) != row
        pair = x[kept], few.targets[kept]
        differing = x[row], few.targets[row]
        comparison = lood.compare_normalised(kernel, *pair, differing, settings.noise)
        # A first step of one grey level may leap over a gain that a smaller one finds.
        tried = [
            lood.maximise(comparison, x[row][None], learning_rate=rate, **run) for rate in RATES
        ]
        best = max(tried, key=lambda outcome: outcome.value[0])
        (kl, variance), (_, own) = (
            kl_directly(kernel, few, row, query, settings) for query in (best.query[0], x[row])
        )
        values = {"query": best.query[0], "kl": float(best.value[0]), "kl_directly": kl}
        values |= {"kl_at_record": float(comparison.measure(x[row])), "variance": variance / own}
        for name, value in values.items():
            columns.setdefault(name, []).append(value)
    return {name: np.array(values) for name, values in columns.items()}


def _ray(seen: Pictures, settings: Settings) -> FloatArray:
    """KL and mean distance at multiples of each record, over those at the record."""
    n = min(settings.n_reconstructed, len(seen.x))
    ratios = np.zeros((2, n, len(FACTORS)))
    for row in range(n):
        comparison = seen.compare(kernel_of(settings), row, settings.noise)
        ray = np.stack([factor * seen.x[row] for factor in FACTORS])
        for i, measure in enumerate(("kl", "mean")):
            at = comparison.measure(seen.x[row], measure)
            ratios[i, row] = comparison.measure(ray, measure) / at
    return ratios


@quickly_compiled
def most_influenced(settings: Settings) -> xr.Dataset:
    """Queries that records influence most by mean distance, found from them, under RBF.

    Under a homogeneous kernel the mean distance grows without end along a ray.
    """
    seen = prepare(load(settings), settings.search_records)
    rows = range(min(settings.n_reconstructed, SHOWN))
    queries, mean, auc = [], [], []
    for row in rows:
        comparison = seen.compare(nngp.rbf(), row, settings.noise)
        best = lood.maximise(comparison, seen.x[row][None], "mean", **seen.run(settings))
        queries.append(best.query[0])
        mean.append([best.value[0], comparison.measure(seen.x[row], "mean")])
        auc.append(comparison.measure(np.stack([queries[-1], seen.x[row]]), "auc"))
    likeness = [correlation(queries[row], seen.x[row]) for row in rows]
    originals = seen.records.dataset.x[: len(queries)]
    levels = np.stack([originals, seen.seen(np.array(queries))])
    return evidence.dataset(
        "process",
        {
            "mean_distance": (("record", "place"), mean),
            "auc": (("record", "place"), auc),
            "correlation": ("record", likeness),
            "level": (("part", "record", *PICTURE), thumbnail(levels)),
        },
        {"place": ["query", "record"], "part": ["record", "most influenced"]},
        **of_records(seen.records, settings, records_searched_from=len(queries)),
    )


def slopes(settings: Settings) -> xr.Dataset:
    """Directional slopes at a few records over the largest at a point one tenth away.

    On the sphere the ReLU kernel of a network without biases meets the conditions of Theorem 4.1.
    """
    seen = prepare(load(settings), settings.search_records)
    rows = scaled(seen.x, "unit sphere").reshape(seen.x.shape)
    sphere = Pictures(seen.records, rows, seen.mean, seen.std)
    cases = {name: (seen, kernel) for name, kernel in kernels(settings).items()}
    cases["ReLU on the sphere"] = sphere, next(iter(kernels(settings).values()))
    slope = [
        [[_slopes(*case, row, m, settings) for row in range(SLOPED_RECORDS)] for m in SLOPED]
        for case in cases.values()
    ]
    return evidence.dataset(
        "measured",
        {"slope": (("kernel", "measure", "record", "direction"), slope)},
        {"kernel": list(cases), "measure": list(SLOPED)},
        **of_records(seen.records, settings, records_tried=SLOPED_RECORDS),
    )


def _slopes(
    seen: Pictures, kernel: nngp.Kernel, row: int, measure: str, settings: Settings
) -> FloatArray:
    comparison = seen.compare(kernel, row, settings.noise)
    record = seen.x[row]
    rng = np.random.default_rng([settings.seed, 9, row])
    steps = rng.standard_normal((DIRECTIONS, *record.shape))
    away = record + 0.1 * rng.standard_normal(record.shape)

    def slope(place: FloatArray) -> FloatArray:
        ahead, behind = (
            comparison.measure(place + s * influenced.STEP * steps, measure) for s in (1, -1)
        )
        return np.abs(ahead - behind) / (2 * influenced.STEP)

    return slope(record) / slope(away).max()


@quickly_compiled
def worst_place(settings: Settings) -> xr.Dataset:
    """The place that Algorithm 1 finds: where a point is least stationary for the mean distance."""
    starts = np.linspace(-3, 3, 7)[:, None]
    run = {"unit": 1.0, "steps": 200, "learning_rate": 0.02, "progress": False}
    x, y = influenced.data(settings)
    worst = lood.least_stationary(
        nngp.rbf(influenced.GAMMA), x, y, influenced.LABEL, influenced.NOISE, starts, **run
    )
    return evidence.dataset(
        "measured",
        {"query": ("start", worst.query[:, 0]), "value": ("start", worst.value)},
        set="one dimension",
        data={},
        recipe={"noise": influenced.NOISE},
        sizes={"Starts": str(len(starts))},
        deviations=["the toy's numbers are ours"],
        device="cpu",
    )


DISTANCES = (1.0, 0.1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
CHECKED = 20
"""Records whose KL a second path confirms."""
B_STD = 0.1
LEVELS = 255


def at_mean(settings: Settings) -> xr.Dataset:
    """KL of queries ever nearer to the mean of D', for every record left out.

    Beside them the picture of 256 grey levels nearest to that mean, and the mean itself under
    kernels that are not zero there. A second path writes both posteriors out.
    """
    few = load(settings).first(min(settings.sizes.beside_mean, settings.search_records))
    x = few.dataset.x.astype(np.float64)
    main = next(iter(kernels(settings).values()))
    depth = min(settings.depth, settings.sizes.most_depth)
    further = {
        f"ReLU with biases of deviation {B_STD:g}": nngp.fully_connected(depth, b_std=B_STD),
        "RBF": nngp.rbf(),
    }
    parts = [_of_record(row, few, x, main, further, settings) for row in range(len(x))]
    dims = {
        "kl": ("record", "distance"),
        "variance": ("record", "distance"),
        "kl_at_record": ("record",),
        "kl_in_grey_levels": ("record",),
        "auc": ("record",),
        "auc_at_record": ("record",),
        "kl_of_others": ("record", "kernel"),
        "kl_of_others_at_record": ("record", "kernel"),
    }
    arrays = {name: (dim, np.array([part[name] for part in parts])) for name, dim in dims.items()}
    confirmed = [part["kl_directly"] for part in parts if "kl_directly" in part]
    return evidence.dataset(
        "process",
        arrays | {"kl_directly": (("checked", "distance"), confirmed)},
        {"distance": list(DISTANCES), "kernel": list(further)},
        **of_records(few, settings, records_tried=len(x), records_confirmed=len(confirmed)),
    )


def _of_record(
    row: int,
    few: Records,
    x: FloatArray,
    main: nngp.Kernel,
    further: dict[str, nngp.Kernel],
    settings: Settings,
) -> dict[str, Any]:
    kept = np.arange(len(x)) != row
    arguments = x[kept], few.targets[kept], (x[row], few.targets[row]), settings.noise
    comparison = lood.compare_normalised(main, *arguments)
    side = comparison.with_s
    step = np.random.default_rng([settings.seed, 11, row]).standard_normal(x[row].shape)
    away = np.array(DISTANCES).reshape(-1, *[1] * step.ndim)
    queries = side.mean + side.std * away * step
    grey = np.rint(LEVELS * np.broadcast_to(side.mean, step.shape)) / LEVELS
    _, variance = side.predict(np.concatenate([queries, x[row][None]]))
    numbers = {
        "kl": comparison.measure(queries),
        "variance": variance[:-1] / variance[-1],
        "kl_at_record": comparison.measure(x[row]),
        "kl_in_grey_levels": comparison.measure(grey),
        "auc": comparison.measure(queries[-1], "auc"),
        "auc_at_record": comparison.measure(x[row], "auc"),
    }
    pairs = []
    for kernel in further.values():
        own = lood.compare_normalised(kernel, *arguments)
        mean = np.broadcast_to(own.with_s.mean, x[row].shape)
        pairs.append((own.measure(mean), own.measure(x[row])))
    numbers["kl_of_others"], numbers["kl_of_others_at_record"] = zip(*pairs, strict=True)
    if row < CHECKED:
        direct = [kl_directly(main, few, row, query, settings)[0] for query in queries]
        numbers["kl_directly"] = np.array(direct)
    return numbers


def kl_directly(
    kernel: nngp.Kernel, few: Records, row: int, query: FloatArray, settings: Settings
) -> tuple[float, float]:
    """KL at a query with each training set's own normalisation, and its variance under D'."""
    x, y = few.dataset.x.astype(np.float64).reshape(len(few), *query.shape), few.targets
    moments = []
    for training in (np.delete(np.arange(len(x)), row), np.arange(len(x))):
        axes = (0, *range(2, x.ndim)) if x.ndim > 2 else (0,)
        mean, std = x[training].mean(axes, keepdims=True), x[training].std(axes, keepdims=True)
        seen = (np.concatenate([x[training], query[None]]) - mean) / np.where(std > 0, std, 1.0)
        matrix = kernel(seen)
        moments.append(posterior(matrix, y[training], np.arange(len(training)), -1, settings.noise))
    (mean, variance), (mean_s, variance_s) = moments
    moved = float(np.square(mean - mean_s).sum())
    return gaussian_kl(variance, variance_s, moved, y.shape[1]), variance_s
