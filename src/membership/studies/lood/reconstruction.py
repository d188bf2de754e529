"""Tables of the reconstructions: Figures 2, 8, 9 and 14 to 19, and how often they succeed."""

from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from membership import lood
from membership.studies.lood import pictures
from membership.studies.lood.records import attrs
from membership.studies.lood.search import (
    Found,
    Pictures,
    Searches,
    architectures,
    quickly_compiled,
    recover,
)

# A query is said to have found the record from this correlation on; two digits of one class may
# have 0.97.
SUCCESS = 0.99
MOST_SHOWN = 10
STAGES = (0, 10, 30, 100, 300)
FIGURES = tuple(f"lood-fig-{number}" for number in range(14, 20))


def figure_2(searches: list[Searches], settings: Any) -> pd.DataFrame:
    """Records above what was found of them, by the first kernel (Figure 2).

    Returns
    -------
    DataFrame
        Columns row, column, text, dataset, kernel, record, correlation, kl, kl_at_record, shape,
        pixels.
    """
    rows = []
    for each in searches:
        found = each.by_kernel[each.main][:MOST_SHOWN]
        seen, label = each.pictures, each.pictures.records.label
        rows += _pairs(seen, found, each.main, f"{label}: record", f"{label}: found")
    return _table(rows, searches, settings)


def figure_8(searches: list[Searches], settings: Any) -> pd.DataFrame:
    """A few records and what each kernel's search found of them (Figure 8); columns as Figure 2."""
    own = searches[0]
    some = next(reversed(own.by_kernel.values()))
    rows = _originals(own.pictures, [found.row for found in some], "record")
    for kernel, found in own.by_kernel.items():
        rows += _queries(own.pictures, found[: len(some)], kernel, kernel)
    return _table(rows, searches[:1], settings)


def more(searches: list[Searches], settings: Any) -> dict[str, pd.DataFrame]:
    """One kernel a figure (Figures 14 to 19), by exhibit; columns as Figure 2."""
    own = searches[0]
    others = [name for name in own.by_kernel if name != own.main]
    # Records that are no pictures have no convolutional kernels; what is left serves again.
    names = [others[i % len(others)] for i in range(len(FIGURES))]
    return {
        figure: _table(
            _pairs(own.pictures, own.by_kernel[name], name, "record", "found"),
            searches[:1],
            settings,
        )
        for figure, name in zip(FIGURES, names, strict=True)
    }


def figure_9(searches: list[Searches], settings: Any) -> pd.DataFrame:
    """One search step by step: the KL of every start, and the best query so far (Figure 9).

    Returns
    -------
    DataFrame
        Columns row, column, text, series, step, kl, shape, pixels. Rows without pixels are points
        of the curves; the series "at the record" is the KL at the record.
    """
    own = searches[0]
    found = max(own.by_kernel[own.main], key=lambda each: (each.ratio > 0.9, -each.row))
    first = int(found.outcome.history[0].argmax())
    kernel, seen = architectures(settings)[own.main], own.pictures
    rows = [{**_originals(seen, [found.row], "best query so far")[0], "text": "record"}]
    for stage in (s for s in STAGES if s <= settings.search_steps):
        query, kl = found.outcome.start[first], float(found.outcome.history[0, first])
        if stage:
            part = recover(seen, kernel, found.row, settings, steps=stage).outcome
            query, kl = part.query, part.lood
        text = {"column": f"step {stage}", "text": f"step {stage}", "step": stage, "kl": kl}
        rows.append({"row": "best query so far", **text, **pictures.cells(seen.seen(query))})
    for start, values in enumerate(found.outcome.history.T):
        points = enumerate(values)
        series = f"start {start + 1}"
        rows += [{"series": series, "step": 10 * i, "kl": float(value)} for i, value in points]
    ends = (0, 10 * (len(found.outcome.history) - 1))
    rows += [{"series": "at the record", "step": s, "kl": found.outcome.target} for s in ends]
    columns = ["row", "column", "text", "series", "step", "kl", "shape", "pixels"]
    table = pd.DataFrame(rows)[columns]
    text = ["row", "column", "text", "series", "shape", "pixels"]
    table[text] = table[text].fillna("")
    table.attrs = attrs([seen.records], settings)
    return table


def success(searches: list[Searches], settings: Any) -> pd.DataFrame:
    """How often a search finds its record, and how near its KL comes (Control 7).

    Returns
    -------
    DataFrame
        Columns dataset, kernel, metric, value, low, high, n: shares in percent with
        Clopper-Pearson intervals; the largest KL relative to that at the record, less 1; the
        median, over the records searched for, of the best correlation with another record.
    """
    rows = []
    for each in searches:
        for kernel, found in each.by_kernel.items():
            key = {"dataset": each.pictures.records.label, "kernel": kernel}
            hits = {
                f"correlation above {SUCCESS} (%)": [f.correlation > SUCCESS for f in found],
                "nearest training record is the record itself (%)": [
                    f.correlation > _best_other(each.pictures, f.outcome.query, f.row)
                    for f in found
                ],
                "KL within 5% of the record's (%)": [f.ratio > 0.95 for f in found],
            }
            for metric, hit in hits.items():
                interval = binomtest(sum(hit), len(hit)).proportion_ci(method="exact")
                share = {"value": 100 * np.mean(hit), "low": 100 * interval.low}
                share |= {"high": 100 * interval.high, "n": len(hit)}
                rows.append({**key, "metric": metric, **share})
            most = max(f.ratio for f in found) - 1
            others = [_best_other(each.pictures, each.pictures.x[f.row], f.row) for f in found]
            exact = {
                "largest relative excess over the record": most,
                "median correlation of the records with their nearest other": np.median(others),
            }
            for metric, value in exact.items():
                ends = {"value": value, "low": value, "high": value, "n": len(found)}
                rows.append({**key, "metric": metric, **ends})
    table = pd.DataFrame(rows)
    table.attrs = attrs([each.pictures.records for each in searches], settings)
    return table


def _best_other(seen: Pictures, query: np.ndarray, row: int) -> float:
    """The largest correlation of a query with a training record other than its own."""
    return max(pictures.correlation(query, record) for record in seen.without(row)[0])


@quickly_compiled
def figure_3(searches: list[Searches], settings: Any) -> pd.DataFrame:
    """Groups of three left out together, and single and joint queries for them (Figure 3).

    Returns
    -------
    DataFrame
        Columns row, column, text, group, member, kl, kl_of_all, correlation, shape, pixels: the
        members with the KL of querying each alone, and of querying all three; the query of each
        start with the KL, the member it is nearest to and the correlation with it; three queries
        optimised jointly.
    """
    own = searches[0]
    kernel, seen = architectures(settings)[own.main], own.pictures
    rows = []
    for group in range(1 if settings.is_tiny else 2):
        members = np.arange(3) + 3 * group
        comparison = seen.compare(kernel, members, settings.noise)
        single = comparison.measure(seen.x[members])
        name = f"group {group + 1}"
        before = len(rows)
        for member, kl in enumerate(single):
            rows.append(_member(seen, name, "members", member, members[member], kl))
        queries = [_noise(seen, settings, group, settings.search_starts, joint) for joint in (0, 3)]
        for kind, start in zip(("one query", "three queries"), queries, strict=True):
            joint = kind == "three queries"
            best = _climb(comparison, start, joint, seen, settings)
            chosen = best.query[np.argmax(best.value)] if joint else best.query[:3]
            values = [best.value.max()] * 3 if joint else best.value
            for place, (query, kl) in enumerate(zip(chosen, values, strict=False)):
                rows.append(_nearest(seen, name, kind, place, query, members, kl))
        everything = float(comparison.measure(seen.x[members], joint=True))
        for row in rows[before:]:
            row["kl_of_all"] = everything
    return _table(rows, searches[:1], settings)


def _noise(seen: Pictures, settings: Any, group: int, starts: int, joint: int) -> np.ndarray:
    shape = (starts, joint) if joint else (starts,)
    low, high = (np.broadcast_to(bound, seen.x.shape[1:]) for bound in seen.bounds)
    rng = np.random.default_rng([settings.seed, 5, group, joint])
    return rng.random((*shape, *low.shape)) * (high - low) + low


def _climb(comparison: Any, start: np.ndarray, joint: bool, seen: Pictures, settings: Any) -> Any:
    low, high = seen.bounds
    unit = np.broadcast_to((high - low) / 255, seen.x.shape[1:])
    steps = {"steps": settings.search_steps, "progress": False}
    return lood.maximise(comparison, start, joint=joint, unit=unit, **steps)


def _member(seen: Pictures, group: str, kind: str, place: int, row: int, kl: float) -> dict:
    return {
        "row": f"{group}: {kind}",
        "column": place,
        "text": f"KL {kl:.2g}",
        "group": group,
        "member": place + 1,
        "kl": float(kl),
        "correlation": 1.0,
        **pictures.cells(seen.seen(seen.x[row])),
    }


def _nearest(
    seen: Pictures, group: str, kind: str, place: int, query: Any, members: Any, kl: float
) -> dict:
    correlations = [pictures.correlation(query, seen.x[row]) for row in members]
    nearest = int(np.argmax(correlations))
    return {
        "row": f"{group}: {kind}",
        "column": place,
        "text": f"member {nearest + 1}, r = {correlations[nearest]:.2f}",
        "group": group,
        "member": nearest + 1,
        "kl": float(kl),
        "correlation": correlations[nearest],
        **pictures.cells(seen.seen(query)),
    }


def _pairs(seen: Pictures, found: list[Found], kernel: str, upper: str, lower: str) -> list[dict]:
    rows = _originals(seen, [each.row for each in found], upper)
    return rows + _queries(seen, found, kernel, lower)


def _originals(seen: Pictures, chosen: list[int], row: str) -> list[dict]:
    return [
        {
            "row": row,
            "column": f"record {record}",
            "text": "",
            "dataset": seen.records.label,
            "kernel": "",
            "record": record,
            "correlation": 1.0,
            **pictures.cells(seen.records.dataset.x[record]),
        }
        for record in chosen
    ]


def _queries(seen: Pictures, found: list[Found], kernel: str, row: str) -> list[dict]:
    return [
        {
            "row": row,
            "column": f"record {each.row}",
            "text": f"r = {each.correlation:.2f}\n{100 * each.ratio:.0f}% KL",
            "dataset": seen.records.label,
            "kernel": kernel,
            "record": each.row,
            "correlation": each.correlation,
            "kl": each.outcome.lood,
            "kl_at_record": each.outcome.target,
            **pictures.cells(seen.seen(each.outcome.query)),
        }
        for each in found
    ]


def _table(rows: list[dict], searches: list[Searches], settings: Any) -> pd.DataFrame:
    table = pd.DataFrame(rows)
    ends = ["shape", "pixels"]
    table = table[[*[name for name in table if name not in ends], *ends]]
    records = {each.pictures.records.label: each.pictures.records for each in searches}
    table.attrs = attrs(list(records.values()), settings)
    return table
