"""The tests of this book's claims about leave-one-out distinguishability."""

from typing import Any

import numpy as np
import pandas as pd

from membership.exhibits import Source
from membership.published import Contrast, Outcome, Share
from membership.published.claim_rules import much_better
from membership.published.outcomes import every
from membership.published.rows import rows_at
from membership.studies.lood import leakage, queries, statements
from membership.studies.lood.claim_numbers import (
    STRONG,
    above,
    correlated,
    exceeded,
    interval,
    judged,
    most,
    points,
    summed_up,
)
from membership.studies.lood.experiment import NAMES, NETWORK, SETTING


def one_inverse(source: Source) -> Outcome:
    """o01: the identity against two posteriors a record."""
    table = source.table("lood-ctl-1")
    return exceeded(table["value"], "largest deviation of one inverse", 1e-8).on(_data(table))


def record_is_best(source: Source) -> Outcome:
    """o02: every measure and kernel, single queries and sets."""
    table = source.table("lood-ctl-5")
    return exceeded(table["value"], "largest excess over the record", 1e-9).on(_data(table))


def ray(source: Source) -> Outcome:
    """o03: positive multiples of the record leak what it leaks."""
    table = source.table("lood-ctl-6")
    rows = rows_at(table, metric="KL over the record's, farthest from 1")
    rows = rows[~rows["query"].str.startswith("-")]
    off = (rows["value"] - 1).abs()
    return exceeded(off, "KL of a multiple over the record's, less 1", 1e-8).on(_data(table))


def unbounded(source: Source) -> Outcome:
    """o04: the nearer to the mean of the data, the more a query leaks, for every record."""
    table = rows_at(source.table("lood-ctl-6"), case=queries.NEAR_MEAN)
    table = table[table["query"].str.endswith("from the mean of D'")]
    least = rows_at(table, metric="smallest KL over the record's")["value"].to_numpy()
    off = rows_at(table, metric="largest deviation of the second path")["value"].to_numpy()[-1]
    growth = Contrast("log10 of the least gain, a tenth nearer", np.log10(least[-1] / least[-2]))
    parts = [
        much_better(Contrast("least gain at the nearest, log10", np.log10(least[-1])), 0.0),
        much_better(growth, 1.5),
        exceeded([off], "deviation of the second path, over the KL", 1e-3),
    ]
    return every(parts).on(_data(table))


def mean_is_strong(source: Source) -> Outcome:
    """o05: the mean distance's own correlation with the AUC."""
    table = source.table("lood-ctl-14")
    rows = rows_at(table, metric=leakage.OF_MEAN, inputs="raw")
    cells = correlated(rows, "rank correlation of mean distance and AUC", "kernel", "training_set")
    return summed_up(cells, STRONG).on(_data(table))


def influence_is_not_leakage(source: Source) -> Outcome:
    """o06: the most influenced picture moves more and tells less."""
    table = source.table("lood-fig-13").drop_duplicates("record")
    moved = int((table["mean_distance"] > table["mean_distance_at_record"] * (1 + 1e-6)).sum())
    lower = int((table["auc"] < table["auc_at_record"]).sum())
    labels = ("records with a more influenced query, less ½", "of these with a lower AUC, less ½")
    parts = [
        much_better(Share.count(hits, len(table), label, 0.5), 0.0, parts=2)
        for hits, label in zip((moved, lower), labels, strict=True)
    ]
    return every(parts).on(_data(table))


def needs_no_condition(source: Source) -> Outcome:
    """o07: KL(D, D') is never the smaller."""
    table = source.table("lood-ctl-10")
    ratio = rows_at(table, statement="Appendix C.2")["value"]
    return exceeded(1 - ratio, "KL(D', D) over KL(D, D'), above 1", 0.0).on(_data(table))


def left_in(source: Source) -> Outcome:
    """o08: the record that stays in D."""
    table = rows_at(source.table("lood-ctl-11"), slip=statements.LEFT_IN).set_index("metric")[
        "value"
    ]
    lower = table["median KL, record left out"] - table["median KL, as released"]
    excess = table["largest t, as released (at most 1/2)"] - 0.5
    parts = [
        exceeded([excess], "largest t less ½", 0.0),
        much_better(Contrast("median KL, left out less left in", float(lower)), 0.0),
    ]
    return every(parts).on(_data(source.table("lood-ctl-11")))


def unstable_point(source: Source) -> Outcome:
    """o09: at the unstable point q = 1/2 shallow GeLU kernels leak less."""
    table = source.table("lood-ctl-13")
    rows = rows_at(table, inputs="unit sphere", q=0.5, activation="GeLU")
    rows = rows[rows["metric"].str.startswith("depth 1,")]
    return summed_up(most(_turned(rows), "dataset", "metric")).on(_data(table))


def farther_from_constant(source: Source) -> Outcome:
    """o10: GeLU at its stable points beside ReLU in shallow kernels."""
    wide = judged(points(source)).loc["GeLU"]
    cells = [
        much_better(Contrast(f"log (1 - c) over ReLU's, q = {q}, L = {depth}", value), 0.0)
        for depth in (2, 5, 10)
        for q, value in np.log(wide[f"1 - c over ReLU's, L = {depth}"]).items()
    ]
    return summed_up(cells).on("computation")


def deviation_decides(source: Source) -> Outcome:
    """o11: on raw pixels ReLU leads at the released kernels, GeLU at its networks' deviation."""
    table = source.table("lood-ctl-9")
    rows = rows_at(table, inputs="raw")
    rows = rows[rows["metric"].str.contains("KL")]
    pairs = [(row, -1.0) for _, row in rows_at(rows, kernels=SETTING).iterrows()]
    pairs += [(row, 1.0) for _, row in rows_at(rows, kernels=NETWORK).iterrows()]
    cells = []
    for row, sign in pairs:
        label = f"{row['kernels']}, {row['metric']}, {'over' if sign > 0 else 'below'} 50"
        ends = sorted(sign * (row[name] - 50) for name in ("low", "high"))
        numbers = {"value": sign * (row["value"] - 50), "low": ends[0], "high": ends[1]}
        cells.append(much_better(interval(numbers, label), 0.0, parts=len(pairs)))
    return summed_up(cells).on(_data(table))


def distance_does_not_decide(source: Source) -> Outcome:
    """o12: ELU, farther from a constant than ReLU, leaks less with one layer or two."""
    wide = judged(points(source)).loc["ELU"]
    table = source.table("lood-ctl-13")
    rows = rows_at(table, inputs="unit sphere", activation="ELU")
    rows = rows[rows["metric"].str.match(r"depth [12],")]
    turned = _turned(rows)
    parts = len(wide) + len(rows)
    cells = [
        much_better(Contrast(f"log (1 - c) over ReLU's, q = {q}, L = 2", value), 0.0, parts=parts)
        for q, value in np.log(wide["1 - c over ReLU's, L = 2"]).items()
    ]
    cells += most(turned, "dataset", "q", "metric", parts=parts)
    return summed_up(cells).on(_data(table))


def divergence_follows_the_attack(source: Source) -> Outcome:
    """o13: by how much KL's correlation with the AUC exceeds that of estimates of influence."""
    table = source.table("lood-ctl-3")
    rows = rows_at(table, metric=leakage.AHEAD)
    return summed_up(above(rows, "rank correlation, KL's less", "estimate")).on(_data(table))


def _turned(rows: pd.DataFrame) -> pd.DataFrame:
    """The shares of the other records, in percent."""
    ends = {"low": 100 - rows["high"], "high": 100 - rows["low"]}
    return rows.assign(value=100 - rows["value"], **ends)


def _data(table: Any) -> str:
    """The display names of the data behind a table."""
    names = [NAMES.get(name.split("-")[0], name) for name in table.attrs.get("data", {})]
    return ", ".join(dict.fromkeys(names)) or "computation"
