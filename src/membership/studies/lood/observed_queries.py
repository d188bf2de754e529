"""What searches for queries find: of single records, of groups, and none above the record."""

from typing import Any

import numpy as np
import xarray as xr

from membership import evidence, lood, nngp
from membership.arrays import FloatArray
from membership.studies.lood import pictures, toys
from membership.studies.lood.fixed import FACTORS, SHOWN, STAGES
from membership.studies.lood.kernels import kernel_of, kernels
from membership.studies.lood.origin import of_records
from membership.studies.lood.records import Records, load
from membership.studies.lood.search import (
    Found,
    Pictures,
    architectures,
    convolutional,
    prepare,
    quickly_compiled,
    recover,
    search,
)

GROUP = 3
SLOPED = ("kl", "kl-reverse", "mean")
PICTURE = ("channel", "height", "width")
RATES = (1.0, 0.1)
STEP = 1e-5
DIRECTIONS = 20
SLOPED_RECORDS = 3
NORMALISED_RECORDS = 50


@quickly_compiled
def searches(name: str, n_records: int, detailed: bool, settings: Any) -> xr.Dataset:
    """Reconstructions of a data set's records; in detail: by every kernel, one step by step."""
    own = load(settings, name, n_records)
    found = search(own, settings, others=detailed)
    whole, fewer = prepare(own, settings.search_records), _fewer(own, settings)
    flat = [(kernel, one) for kernel, each in found.items() for one in each]
    places = [fewer if convolutional(kernel) else whole for kernel, _ in flat]
    near = [_others(seen, one) for seen, (_, one) in zip(places, flat, strict=True)]
    shown = [i for i, (_, one) in enumerate(flat) if one.row < SHOWN]
    originals = [own.dataset.x[flat[i][1].row] for i in shown]
    levels = [places[i].seen(flat[i][1].outcome.query) for i in shown]
    arrays = {
        "row": ("search", [one.row for _, one in flat]),
        "kl": ("search", [one.outcome.lood for _, one in flat]),
        "kl_at_record": ("search", [one.outcome.target for _, one in flat]),
        "correlation": ("search", [one.correlation for _, one in flat]),
        "other": ("search", [pair[0] for pair in near]),
        "nearest_other": ("search", [pair[1] for pair in near]),
        "shown": ("picture", shown),
        "original": (("picture", *PICTURE), pictures.thumbnail(originals)),
        "level": (("picture", *PICTURE), pictures.thumbnail(levels)),
    }
    sizes = {"records_searched_for": len(found[next(iter(found))])}
    if detailed:
        arrays |= _in_detail(whole, found, settings)
        sizes |= {"records_of_convolutional_kernels": len(fewer.x)}
    return evidence.dataset(
        "process",
        arrays,
        {"search": [kernel for kernel, _ in flat]},
        **of_records(whole.records, settings, **sizes, starts=settings.sizes.starts),
    )


def _fewer(own: Records, settings: Any) -> Pictures:
    from membership.studies.lood.search import CONVOLUTIONAL_RECORDS

    return prepare(own, min(CONVOLUTIONAL_RECORDS, settings.search_records))


def _others(seen: Pictures, one: Found) -> tuple[float, float]:
    """The best correlations of the query, and of its record, with another training record."""
    others = seen.without(one.row)[0]
    return tuple(
        max(pictures.correlation(this, record) for record in others)
        for this in (one.outcome.query, seen.x[one.row])
    )


def _in_detail(seen: Pictures, found: dict[str, list[Found]], settings: Any) -> dict[str, Any]:
    """One successful search: the KL of every start, and the best query after some steps."""
    main = next(iter(found))
    one = max(found[main], key=lambda each: (each.ratio > 0.9, -each.row))
    first = int(one.outcome.history[0].argmax())
    kernel = architectures(settings)[main]
    stages = [stage for stage in STAGES if stage <= settings.sizes.steps]
    queries, kl = [one.outcome.start[first]], [float(one.outcome.history[0, first])]
    for stage in stages[1:]:
        part = recover(seen, kernel, one.row, settings, steps=stage).outcome
        queries.append(part.query)
        kl.append(part.lood)
    original = pictures.thumbnail(seen.records.dataset.x[one.row])
    return {
        "history": (("check", "start"), one.outcome.history),
        "detailed": ("one", [one.row]),
        "detailed_original": (PICTURE, original),
        "stage": ("stages", stages),
        "stage_kl": ("stages", kl),
        "stage_level": (("stages", *PICTURE), pictures.thumbnail(seen.seen(np.array(queries)))),
    }


@quickly_compiled
def groups(settings: Any) -> xr.Dataset:
    """Groups of three left out together: single and joint queries from several starts."""
    seen = prepare(load(settings), settings.search_records)
    kernel = next(iter(architectures(settings).values()))
    each = [_group(seen, kernel, group, settings) for group in range(settings.sizes.groups)]
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
    sizes = {"groups": len(each), "starts": settings.sizes.starts}
    return evidence.dataset("process", arrays, **of_records(seen.records, settings, **sizes))


def _group(seen: Pictures, kernel: Any, group: int, settings: Any) -> dict[str, Any]:
    members = np.arange(GROUP) + GROUP * group
    comparison = seen.compare(kernel, members, settings.noise)
    low, high = seen.bounds
    unit = np.broadcast_to((high - low) / 255, seen.x.shape[1:])
    run = {"unit": unit, "steps": settings.sizes.steps, "progress": False}
    starts = [_noise(seen, settings, group, joint) for joint in (0, GROUP)]
    single = lood.maximise(comparison, starts[0], joint=False, **run)
    joint = lood.maximise(comparison, starts[1], joint=True, **run)
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
    shape = (settings.sizes.starts, joint) if joint else (settings.sizes.starts,)
    low, high = (np.broadcast_to(bound, seen.x.shape[1:]) for bound in seen.bounds)
    rng = np.random.default_rng([settings.seed, 5, group, joint])
    return rng.random((*shape, *low.shape)) * (high - low) + low


def _to_members(seen: Pictures, queries: FloatArray, members: np.ndarray) -> FloatArray:
    return np.array([[pictures.correlation(q, seen.x[m]) for m in members] for q in queries])


@quickly_compiled
def normalised(settings: Any) -> xr.Dataset:
    """Queries found where D and D' normalise by themselves, and the ray of a homogeneous kernel."""
    own = load(settings)
    few = own.first(min(NORMALISED_RECORDS, settings.search_records))
    found, by_feature = (_better(few, settings, flat) for flat in (False, True))
    x = few.dataset.x.astype(np.float64)[: len(found)]
    queries = np.stack([query for query, _, _ in found])
    change = np.stack([pictures.stretched(q - r) for q, r in zip(queries, x, strict=True)])
    ray = _ray(prepare(own, settings.search_records), settings)
    sizes = {"records_of_the_rays": ray.shape[1], "records_searched_from": len(found)}
    return evidence.dataset(
        "process",
        {
            "kl": ("record", [value for _, value, _ in found]),
            "kl_at_record": ("record", [at for _, _, at in found]),
            "correlation": (
                "record",
                [pictures.correlation(q, r) for q, r in zip(queries, x, strict=True)],
            ),
            "level": (
                ("part", "record", *PICTURE),
                np.stack([pictures.thumbnail(part) for part in (x, queries, change)]),
            ),
            "pixel_kl": ("record", [value for _, value, _ in by_feature]),
            "pixel_kl_at_record": ("record", [at for _, _, at in by_feature]),
            "ray": (("measure", "searched", "factor"), ray),
        },
        {"part": ["record", "better query", "difference"], "measure": ["kl", "mean"]}
        | {"factor": list(FACTORS)},
        **of_records(few, settings, **sizes),
    )


def _better(few: Records, settings: Any, flat: bool) -> list[tuple[FloatArray, float, float]]:
    """The best query found from each of some records, its KL, and that of the record."""
    x = few.dataset.x.astype(np.float64)
    if flat:
        x = x.reshape(len(x), -1)
    kernel = next(iter(kernels(settings).values()))
    found = []
    for row in range(min(settings.sizes.normalised, len(x))):
        kept = np.arange(len(x)) != row
        differing = x[row], few.targets[row]
        comparison = lood.compare_normalised(
            kernel, x[kept], few.targets[kept], differing, settings.noise
        )
        run = {"unit": np.full(x.shape[1:], 1 / 255), "progress": False}
        run |= {"steps": settings.sizes.steps}
        # A first step of one grey level may leap over a gain that a smaller one finds.
        tried = [
            lood.maximise(comparison, x[row][None], learning_rate=rate, **run) for rate in RATES
        ]
        best = max(tried, key=lambda each: each.value[0])
        at = float(comparison.measure(x[row]))
        found.append((best.query[0], float(best.value[0]), at))
    return found


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
    low, high = seen.bounds
    unit = np.broadcast_to((high - low) / 255, seen.x.shape[1:])
    run = {"unit": unit, "steps": settings.sizes.steps, "progress": False}
    rows = range(min(settings.n_reconstructed, SHOWN))
    queries, mean, auc = [], [], []
    for row in rows:
        comparison = seen.compare(nngp.rbf(), row, settings.noise)
        best = lood.maximise(comparison, seen.x[row][None], "mean", **run)
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
    """Directional slopes at a few records over the largest at a point one tenth away."""
    seen = prepare(load(settings), settings.search_records)
    cases = kernels(settings)
    found = [
        [[_slopes(seen, kernel, row, m, settings) for row in range(SLOPED_RECORDS)] for m in SLOPED]
        for kernel in cases.values()
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
        ahead, behind = (comparison.measure(place + s * STEP * steps, measure) for s in (1, -1))
        return np.abs(ahead - behind) / (2 * STEP)

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
