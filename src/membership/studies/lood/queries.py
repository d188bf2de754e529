"""No query leaks more than the record: the landscape around it, and the search for a better one."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from membership import lood, nngp
from membership.metrics.arrays import FloatArray
from membership.studies.lood import networks, reconstruction, toys
from membership.studies.lood.leakage import kernel_of, network_deviations
from membership.studies.lood.networks import Retrained
from membership.studies.lood.records import Records, attrs
from membership.studies.lood.search import Pictures, Searches, prepare, quickly_compiled

OFFSETS = np.arange(-50, 51)
N_LINES = 5
MEASURES = {"kl": "KL(D, D')", "kl-reverse": "KL(D', D)", "auc": "AUC"}
FACTORS = (-1.0, 0.1, 0.5, 2.0, 10.0)
# A query counts as better from this relative gain on; rounding is far below.
GAIN = 1e-9
RATES = (1.0, 0.1)


def figure_4(records: Records, retrained: Retrained, settings: Any) -> pd.DataFrame:
    """Leakage of queries around the differing record (Figure 4).

    Along x_S + i u with u uniform in [-1, 1] / 255, as in the released code: in one dimension, on
    pictures under the process relative to the record, and for retrained networks.

    Returns
    -------
    DataFrame
        Columns panel, series, x, value, low, high. In the last panel the mean over records with
        its 95% interval.
    """
    toy = toys.comparison(toys.PLACES["between"], settings).contrast(toys.GRID[:, None])
    a = pd.DataFrame({"panel": TOY, "series": "KL", "x": toys.GRID, "value": toy.kl()})
    parts = [a, _process_lines(records, settings), _network_line(retrained, settings)]
    table = pd.concat(parts, ignore_index=True)
    exact = table["low"].isna()
    table.loc[exact, ["low", "high"]] = table.loc[exact, ["value", "value"]].to_numpy()
    table.attrs = attrs([records], settings, network_deviations(settings))
    return table


TOY = "one dimension"
PROCESS = "pictures, process"
NETWORKS = "pictures, networks"
LABELS = {
    TOY: ("query", "KL (nats)"),
    PROCESS: ("steps from the record", "KL over the record's"),
    NETWORKS: ("steps from the record", "AUC"),
}


def _lines(x: np.ndarray, settings: Any) -> np.ndarray:
    """Queries around each record, (records, offsets, *record)."""
    rng = np.random.default_rng([settings.seed, 6])
    step = rng.uniform(-1, 1, size=x.shape) / 255
    return x[:, None] + OFFSETS.reshape(-1, *[1] * (x.ndim - 1)) * step[:, None]


def _process_lines(records: Records, settings: Any) -> pd.DataFrame:
    x = records.dataset.x.astype(np.float64)
    queries = _lines(x[:N_LINES], settings)
    parts = []
    for row in range(N_LINES):
        kept = np.arange(len(x)) != row
        differing = x[row], records.targets[row]
        pair = x[kept], records.targets[kept]
        comparison = lood.compare(kernel_of(settings), *pair, differing, settings.noise)
        values = comparison.measure(queries[row]) / comparison.measure(x[row])
        key = {"panel": PROCESS, "series": f"record {row}"}
        parts.append(pd.DataFrame({**key, "x": OFFSETS, "value": values}))
    return pd.concat(parts)


def _network_line(retrained: Retrained, settings: Any) -> pd.DataFrame:
    x = retrained.own_queries[:, 0].astype(np.float64)
    some = slice(None, None, 5)
    queries = _lines(x, settings)[:, some]
    inside, outside = retrained.logits(queries)
    auc = np.array(
        [
            [
                networks.fitted_auc(inside[r, :, q], outside[r, :, q], settings.seed)[0]
                for q in range(queries.shape[1])
            ]
            for r in range(len(x))
        ]
    )
    half = 1.96 * auc.std(axis=0, ddof=1) / np.sqrt(len(auc))
    mean = auc.mean(axis=0)
    bands = {"value": mean, "low": mean - half, "high": mean + half}
    key = {"panel": NETWORKS, "series": "AUC, mean over records"}
    return pd.DataFrame({**key, "x": OFFSETS[some], **bands})


@quickly_compiled
def optimality(searches: list[Searches], settings: Any) -> pd.DataFrame:
    """Whether any query or set of queries tells more than the record (Control 5).

    Random and optimised queries, single and in sets of three, for three kernels: one homogeneous,
    one isotropic, one that is neither normalised nor stationary.

    Returns
    -------
    DataFrame
        Columns kernel, queries, metric, value, tried: the largest relative excess of a measure
        over its value at the record, over records and queries.
    """
    seen = prepare(searches[0].pictures.records, settings.search_records)
    own = searches[0]
    rows = []
    for name, kernel in kernels(settings).items():
        excess: dict[str, dict[str, list[float]]] = {}
        for row in range(1 if settings.is_tiny else 2):
            comparison = seen.compare(kernel, row, settings.noise)
            for kind, (queries, joint) in _trials(seen, comparison, row, settings).items():
                _note(excess.setdefault(kind, {}), comparison, seen.x[row], queries, joint)
        for kind, by_measure in excess.items():
            for measure, values in by_measure.items():
                key = {"kernel": name, "queries": kind, "metric": MEASURES[measure]}
                rows.append({**key, "value": max(values), "tried": len(values)})
    for kernel, found in own.by_kernel.items():
        key = {"kernel": kernel, "queries": "reconstructions", "metric": MEASURES["kl"]}
        rows.append({**key, "value": max(f.ratio for f in found) - 1, "tried": len(found)})
    table = pd.DataFrame(rows)
    table.attrs = attrs([seen.records], settings)
    return table


def kernels(settings: Any) -> dict[str, nngp.Kernel]:
    """A homogeneous kernel, an isotropic one, and one that is neither normalised nor stationary."""
    depth = 1 if settings.is_tiny else settings.depth
    return {
        f"ReLU, depth {depth}": nngp.fully_connected(depth),
        "RBF": nngp.rbf(),
        "polynomial, degree 3": nngp.polynomial(3),
    }


def _trials(seen: Pictures, comparison: Any, row: int, settings: Any) -> dict[str, tuple]:
    """Queries by kind, and whether they are observed together."""
    rng = np.random.default_rng([settings.seed, 7, row])
    record, others = seen.x[row], seen.without(row)[0]
    low, high = (np.broadcast_to(bound, record.shape) for bound in seen.bounds)
    n = 200
    noise = rng.random((n, *record.shape)) * (high - low) + low
    size = 10.0 ** rng.uniform(-3, 0, n).reshape(-1, *[1] * record.ndim)
    near = record + size * rng.standard_normal((n, *record.shape))
    share = rng.random(n).reshape(-1, *[1] * record.ndim)
    between = share * record + (1 - share) * others[rng.integers(len(others), size=n)]
    mixed = np.concatenate([noise[:50], near[:50], between[:50]])
    sets = mixed[rng.permutation(len(mixed)).reshape(-1, 3)]
    unit = np.broadcast_to((high - low) / 255, record.shape)
    run = {"unit": unit, "steps": settings.search_steps, "progress": False}
    starts = settings.search_starts
    half = starts // 2
    single = lood.maximise(comparison, np.concatenate([noise[:half], near[:half]]), **run)
    trials = {
        "one, random": (np.concatenate([noise, near, between, others]), False),
        "one, optimised": (single.query, False),
        "three, random": (sets, True),
    }
    # In tests one kernel has to do: each is compiled anew.
    if not settings.is_tiny or isinstance(comparison.without.kernel, type(nngp.rbf())):
        together = np.stack([noise[:starts], near[:starts], between[:starts]], axis=1)
        joint = lood.maximise(comparison, together, joint=True, **run)
        trials["three, optimised"] = joint.query, True
    return trials


def _note(
    found: dict[str, list[float]], comparison: Any, record: FloatArray, queries: Any, joint: bool
) -> None:
    """Append the relative excess of each measure at each query, or set of them."""
    for measure in MEASURES:
        at_record = comparison.measure(record, measure)
        if joint:
            values = np.array([comparison.measure(q, measure, joint=True) for q in queries])
        else:
            values = comparison.measure(queries, measure)
        # An AUC of one half tells nothing: its excess counts from there.
        base = 0.5 if measure == "auc" else 0.0
        found.setdefault(measure, []).extend(((values - at_record) / (at_record - base)).tolist())


@quickly_compiled
def escapes(normalised: pd.DataFrame, records: Records, settings: Any) -> pd.DataFrame:
    """The two cases in which the record is not the only best query, or not the best (Control 6).

    Parameters
    ----------
    normalised : DataFrame
        From `figure_10`.
    records : Records
    settings : Settings

    Returns
    -------
    DataFrame
        Columns case, query, metric, value, n.
    """
    seen = prepare(records, settings.search_records)
    n = min(settings.n_reconstructed, len(seen.x))
    values: dict[float, list[tuple[float, float]]] = {factor: [] for factor in FACTORS}
    for row in range(n):
        comparison = seen.compare(kernel_of(settings), row, settings.noise)
        ray = np.stack([factor * seen.x[row] for factor in FACTORS])
        kl = comparison.measure(ray) / comparison.measure(seen.x[row])
        mean = comparison.measure(ray, "mean") / comparison.measure(seen.x[row], "mean")
        for factor, pair in zip(FACTORS, zip(kl, mean, strict=True), strict=True):
            values[factor].append(pair)
    rows = []
    for factor, pairs in values.items():
        key = {
            "case": "homogeneous kernel (ReLU, no bias)",
            "query": f"{factor:g} times the record",
        }
        kl, mean = (np.array(part) for part in zip(*pairs, strict=True))
        farthest = float(kl[np.argmax(np.abs(kl - 1))])
        rows.append({**key, "metric": "KL over the record's, farthest from 1", "value": farthest})
        rows.append({**key, "metric": "mean distance over the record's", "value": mean.mean()})
        for each in rows[-2:]:
            each["n"] = n
    gain = normalised.query("kl_at_record > 0").drop_duplicates("record")
    by_feature = [
        each.value / each.at for each in _better_queries(records, settings, by_feature=True)
    ]
    ratios = {"channel": gain["kl"] / gain["kl_at_record"], "pixel": np.array(by_feature)}
    for each, ratio in ratios.items():
        key = {"case": f"normalisation by the data, of each {each}"}
        key["query"] = "found from the record"
        share = 100 * float((ratio > 1 + GAIN).mean())
        found = {
            "records with a better query (%)": share,
            "largest KL over the record's": max(ratio),
        }
        rows += [{**key, "metric": m, "value": v, "n": len(ratio)} for m, v in found.items()]
    table = pd.DataFrame(rows)
    table.attrs = attrs([records], settings)
    return table


@quickly_compiled
def figure_10(records: Records, settings: Any) -> pd.DataFrame:
    """Queries with more leakage than the record, under normalisation by the data (Figure 10).

    D and D' each normalise by their own channel statistics; the search starts from the record.

    Returns
    -------
    DataFrame
        Columns row, column, text, record, kl, kl_at_record, correlation, shape, pixels.
    """
    from membership.studies.lood import pictures

    few = _few(records, settings)
    x = few.dataset.x.astype(np.float64)
    rows = []
    for row, (query, kl, at) in enumerate(_better_queries(records, settings)):
        key = {"column": f"record {row}", "record": row, "kl": kl, "kl_at_record": at}
        key["correlation"] = pictures.correlation(query, x[row])
        rows.append({"row": "record", "text": f"KL {at:.3g}", **key, **pictures.cells(x[row])})
        text = f"x {kl / at:.4f}"
        rows.append({"row": "better query", "text": text, **key, **pictures.cells(query)})
        change = pictures.stretched(query - x[row])
        rows.append({"row": "difference", "text": "", **key, **pictures.cells(change)})
    table = pd.DataFrame(rows)
    names = ["row", "column", "text", "record", "kl", "kl_at_record", "correlation"]
    table = table[[*names, "shape", "pixels"]]
    table.attrs = attrs([few], settings)
    return table


class _Better(NamedTuple):
    query: FloatArray
    value: float
    at: float


def _few(records: Records, settings: Any) -> Records:
    return records.first(min(50, settings.search_records))


def _better_queries(records: Records, settings: Any, by_feature: bool = False) -> list[_Better]:
    """The best query found from each of some records, where D and D' normalise by themselves."""
    few = _few(records, settings)
    x = few.dataset.x.astype(np.float64)
    if by_feature:
        x = x.reshape(len(x), -1)
    kernel = next(iter(kernels(settings).values()))
    found = []
    for row in range(min(2 if settings.is_tiny else 8, len(x))):
        kept = np.arange(len(x)) != row
        pair = x[kept], few.targets[kept]
        differing = x[row], few.targets[row]
        comparison = lood.compare_normalised(kernel, *pair, differing, settings.noise)
        run = {"unit": np.full(x.shape[1:], 1 / 255), "progress": False}
        run |= {"steps": settings.search_steps}
        # A first step of one grey level may leap over a gain that a smaller one finds.
        tried = [
            lood.maximise(comparison, x[row][None], learning_rate=rate, **run) for rate in RATES
        ]
        best = max(tried, key=lambda each: each.value[0])
        at = float(comparison.measure(x[row]))
        found.append(_Better(best.query[0], float(best.value[0]), at))
    return found


@quickly_compiled
def figure_13(searches: list[Searches], settings: Any) -> pd.DataFrame:
    """Queries that the record influences most, by mean distance, and their AUC (Figure 13).

    The RBF kernel: under a homogeneous one the mean distance grows without end along a ray.

    Returns
    -------
    DataFrame
        Columns row, column, text, dataset, kernel, record, correlation, mean_distance,
        mean_distance_at_record, auc, auc_at_record, shape, pixels.
    """
    from membership.studies.lood import pictures

    seen = searches[0].pictures
    rows = []
    low, high = seen.bounds
    unit = np.broadcast_to((high - low) / 255, seen.x.shape[1:])
    for row in range(min(settings.n_reconstructed, reconstruction.MOST_SHOWN)):
        comparison = seen.compare(nngp.rbf(), row, settings.noise)
        run = {"unit": unit, "steps": settings.search_steps, "progress": False}
        best = lood.maximise(comparison, seen.x[row][None], "mean", **run)
        query = best.query[0]
        auc = comparison.measure(np.stack([query, seen.x[row]]), "auc")
        at = comparison.measure(seen.x[row], "mean")
        key = {"column": f"record {row}", "dataset": seen.records.label, "kernel": "RBF"}
        key |= {"record": row, "correlation": pictures.correlation(query, seen.x[row])}
        key |= {"mean_distance": float(best.value[0]), "mean_distance_at_record": float(at)}
        key |= {"auc": float(auc[0]), "auc_at_record": float(auc[1])}
        original = pictures.cells(seen.records.dataset.x[row])
        rows.append({"row": "record", "text": f"AUC {auc[1]:.2f}", **key, **original})
        text = f"x {best.value[0] / at:.2f}\nAUC {auc[0]:.2f}"
        found = pictures.cells(seen.seen(query))
        rows.append({"row": "most influenced", "text": text, **key, **found})
    table = pd.DataFrame(rows)
    columns = ["row", "column", "text", *[n for n in table if n not in _PLACED], "shape", "pixels"]
    table = table[columns]
    table.attrs = attrs([seen.records], settings)
    return table


_PLACED = ("row", "column", "text", "shape", "pixels")


def mean_against_kl(most_influenced: pd.DataFrame, settings: Any) -> pd.DataFrame:
    """Where mean distance and where KL is largest (Control 8).

    Parameters
    ----------
    most_influenced : DataFrame
        From `figure_13`.
    settings : Settings

    Returns
    -------
    DataFrame
        Columns case, measure, metric, value.
    """
    toy = toys.locations(settings)
    found = most_influenced.drop_duplicates("record")
    ratio = found["mean_distance"] / found["mean_distance_at_record"]
    less = found["auc"] < found["auc_at_record"]
    key = {"case": "pictures, RBF", "measure": "mean"}
    values = {
        "records with a better query (%)": 100 * (ratio > 1 + 1e-6).mean(),
        "largest value over the record's": ratio.max(),
        "of these queries, those with a lower AUC (%)": 100 * less[ratio > 1 + 1e-6].mean(),
    }
    rows = [{**key, "metric": metric, "value": float(value)} for metric, value in values.items()]
    table = pd.concat([toy, pd.DataFrame(rows)], ignore_index=True)
    table.attrs = dict(most_influenced.attrs)
    return table
