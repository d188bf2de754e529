"""What searches for queries find: of single records, of groups, and none above the record."""

from typing import Any

import numpy as np
import xarray as xr

from membership import evidence, lood, nngp
from membership.arrays import FloatArray
from membership.studies.lood import pictures, toys
from membership.studies.lood.kernels import kernel_of, kernels
from membership.studies.lood.observed_mean import kl_directly
from membership.studies.lood.origin import of_records
from membership.studies.lood.records import SHOWN, Records, load, scaled
from membership.studies.lood.search import Found, Pictures, Searches, prepare, quickly_compiled

FEW_SHOWN = 5
"""Pictures that evidence keeps of each kernel but the first."""
GROUP = 3
SLOPED = ("kl", "kl-reverse", "mean")
PICTURE = ("channel", "height", "width")
RATES = (1.0, 0.1)
DIRECTIONS, SLOPED_RECORDS = 20, 3
NORMALISED_RECORDS = 50
FACTORS = (-1.0, 0.1, 0.5, 2.0, 10.0)
STAGES = (0, 10, 30, 100, 300)


@quickly_compiled
def searches(name: str, n_records: int, detailed: bool, settings: Any) -> xr.Dataset:
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
        "original": (("picture", *PICTURE), pictures.thumbnail(originals)),
        "level": (("picture", *PICTURE), pictures.thumbnail(levels)),
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
        [
            [pictures.correlation(query, record) for record in seen.x]
            for query in one.outcome.queries
        ]
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
        max(pictures.correlation(this, record) for record in others)
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
        "detailed_original": (PICTURE, pictures.thumbnail(seen.records.dataset.x[one.row])),
        "stage": ("stages", stages),
        "stage_kl": ("stages", kl),
        "stage_level": (("stages", *PICTURE), pictures.thumbnail(seen.seen(np.array(queries)))),
    }


@quickly_compiled
def groups(settings: Any) -> xr.Dataset:
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
        "original": pictures.thumbnail(seen.seen(seen.x[members])),
        "single_level": pictures.thumbnail(seen.seen(single.query)),
        "joint_level": pictures.thumbnail(seen.seen(best)),
    }


def _noise(seen: Pictures, settings: Any, group: int, joint: int) -> np.ndarray:
    starts = settings.sizes.group_starts
    shape = (starts, joint) if joint else (starts,)
    low, high = seen.limits
    rng = np.random.default_rng([settings.seed, 5, group, joint])
    return rng.random((*shape, *low.shape)) * (high - low) + low


def _to_members(seen: Pictures, queries: FloatArray, members: np.ndarray) -> FloatArray:
    return np.array([[pictures.correlation(q, seen.x[m]) for m in members] for q in queries])


@quickly_compiled
def normalised(settings: Any) -> xr.Dataset:
    """Queries found where D and D' normalise by themselves, and the ray of a homogeneous kernel."""
    own = load(settings)
    few = own.first(min(NORMALISED_RECORDS, settings.search_records))
    by_channel, by_pixel = (_better(few, settings, flat) for flat in (False, True))
    x = few.dataset.x.astype(np.float64)[: len(by_channel["query"])]
    queries = by_channel.pop("query")
    change = np.stack([pictures.stretched(q - r) for q, r in zip(queries, x, strict=True)])
    levels = np.stack([pictures.thumbnail(part) for part in (x, queries, change)])
    both = zip(queries, x, strict=True)
    ray = _ray(prepare(own, settings.search_records), settings)
    sizes = {"records_of_the_rays": ray.shape[1], "records_searched_from": len(x)}
    return evidence.dataset(
        "process",
        {
            **{name: ("record", values) for name, values in by_channel.items()},
            **{f"pixel_{name}": ("record", by_pixel[name]) for name in by_channel},
            "correlation": ("record", [pictures.correlation(*pair) for pair in both]),
            "level": (("part", "record", *PICTURE), levels),
            "ray": (("measure", "searched", "factor"), ray),
        },
        {"part": ["record", "better query", "difference"], "measure": ["kl", "mean"]}
        | {"factor": list(FACTORS)},
        **of_records(few, settings, **sizes),
    )


def _better(few: Records, settings: Any, flat: bool) -> dict[str, Any]:
    """The best query found from each of some records, its KL by two paths and at the record.

    And its variance under D' over the record's.
    """
    x = few.dataset.x.astype(np.float64)
    if flat:
        x = x.reshape(len(x), -1)
    kernel = next(iter(kernels(settings).values()))
    run = {"unit": np.full(x.shape[1:], 1 / 255), "steps": settings.sizes.steps, "progress": False}
    found: dict[str, list[Any]] = {}
    for row in range(min(settings.sizes.normalised, len(x))):
        kept = np.arange(len(x)) != row
        pair = x[kept], few.targets[kept]
        differing = x[row], few.targets[row]
        comparison = lood.compare_normalised(kernel, *pair, differing, settings.noise)
        # A first step of one grey level may leap over a gain that a smaller one finds.
        tried = [
            lood.maximise(comparison, x[row][None], learning_rate=rate, **run) for rate in RATES
        ]
        best = max(tried, key=lambda each: each.value[0])
        (kl, variance), (_, own) = (
            kl_directly(kernel, few, row, query, settings) for query in (best.query[0], x[row])
        )
        values = {"query": best.query[0], "kl": float(best.value[0]), "kl_directly": kl}
        values |= {"kl_at_record": float(comparison.measure(x[row])), "variance": variance / own}
        for name, value in values.items():
            found.setdefault(name, []).append(value)
    return {name: np.array(values) for name, values in found.items()}


def _ray(seen: Pictures, settings: Any) -> FloatArray:
    """KL and mean distance at multiples of each record, over those at the record."""
    n = min(settings.n_reconstructed, len(seen.x))
    found = np.zeros((2, n, len(FACTORS)))
    for row in range(n):
        comparison = seen.compare(kernel_of(settings), row, settings.noise)
        ray = np.stack([factor * seen.x[row] for factor in FACTORS])
        for i, measure in enumerate(("kl", "mean")):
            at = comparison.measure(seen.x[row], measure)
            found[i, row] = comparison.measure(ray, measure) / at
    return found


@quickly_compiled
def most_influenced(settings: Any) -> xr.Dataset:
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
    correlation = [pictures.correlation(queries[row], seen.x[row]) for row in rows]
    originals = seen.records.dataset.x[: len(queries)]
    levels = np.stack([originals, seen.seen(np.array(queries))])
    return evidence.dataset(
        "process",
        {
            "mean_distance": (("record", "place"), mean),
            "auc": (("record", "place"), auc),
            "correlation": ("record", correlation),
            "level": (("part", "record", *PICTURE), pictures.thumbnail(levels)),
        },
        {"place": ["query", "record"], "part": ["record", "most influenced"]},
        **of_records(seen.records, settings, records_searched_from=len(queries)),
    )


def slopes(settings: Any) -> xr.Dataset:
    """Directional slopes at a few records over the largest at a point one tenth away.

    On the sphere the ReLU kernel of a network without biases meets the conditions of Theorem 4.1.
    """
    seen = prepare(load(settings), settings.search_records)
    rows = scaled(seen.x, "unit sphere").reshape(seen.x.shape)
    sphere = Pictures(seen.records, rows, seen.mean, seen.std)
    cases = {name: (seen, kernel) for name, kernel in kernels(settings).items()}
    cases["ReLU on the sphere"] = sphere, next(iter(kernels(settings).values()))
    found = [
        [[_slopes(*case, row, m, settings) for row in range(SLOPED_RECORDS)] for m in SLOPED]
        for case in cases.values()
    ]
    return evidence.dataset(
        "measured",
        {"slope": (("kernel", "measure", "record", "direction"), found)},
        {"kernel": list(cases), "measure": list(SLOPED)},
        **of_records(seen.records, settings, records_tried=SLOPED_RECORDS),
    )


def _slopes(
    seen: Pictures, kernel: nngp.Kernel, row: int, measure: str, settings: Any
) -> FloatArray:
    comparison = seen.compare(kernel, row, settings.noise)
    record = seen.x[row]
    rng = np.random.default_rng([settings.seed, 9, row])
    steps = rng.standard_normal((DIRECTIONS, *record.shape))
    away = record + 0.1 * rng.standard_normal(record.shape)

    def slope(place: FloatArray) -> FloatArray:
        ahead, behind = (
            comparison.measure(place + s * toys.STEP * steps, measure) for s in (1, -1)
        )
        return np.abs(ahead - behind) / (2 * toys.STEP)

    return slope(record) / slope(away).max()


@quickly_compiled
def worst_place(settings: Any) -> xr.Dataset:
    """The place that Algorithm 1 finds: where a point is least stationary for the mean distance."""
    starts = np.linspace(-3, 3, 7)[:, None]
    run = {"unit": 1.0, "steps": 200, "learning_rate": 0.02, "progress": False}
    x, y = toys.data(settings)
    found = lood.least_stationary(nngp.rbf(toys.GAMMA), x, y, toys.LABEL, toys.NOISE, starts, **run)
    return evidence.dataset(
        "measured",
        {"query": ("start", found.query[:, 0]), "value": ("start", found.value)},
        set="one dimension",
        data={},
        recipe={"noise": toys.NOISE},
        sizes={"Starts": str(len(starts))},
        deviations=["the toy's numbers are ours"],
        device="cpu",
    )
