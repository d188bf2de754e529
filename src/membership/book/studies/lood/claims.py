"""The tests of this book's own claims, and all claims: what the paper says and what was found."""

import sys
from typing import Any

import numpy as np

from membership.book.exhibits import Source
from membership.book.published import Contrast, Outcome, Share, claims
from membership.book.published.claim_rules import chance, much_better
from membership.book.published.declared_tests import Test
from membership.book.published.outcomes import every, summed_up
from membership.book.published.rows import rows_at
from membership.book.studies.lood import claim_tests, queries, statements
from membership.book.studies.lood.activations import depth_of
from membership.book.studies.lood.claim_numbers import exceeded, judged, most, near_the_mean, points
from membership.book.studies.lood.experiment import NAMES


def on_data(test: Test, source: Source) -> Outcome:
    """An outcome on the data behind its table, whichever they are."""
    return test.outcome(source).on(_data(source.table(test.table)))


def ray(source: Source) -> Outcome:
    """o03: positive multiples of the record leak what it leaks."""
    table = source.table("lood-ctl-6")
    rows = rows_at(table, metric=queries.ALONG_RAY)
    rows = rows[rows["query"].str.removesuffix(queries.TIMES).astype(float) > 0]
    off = (rows["value"] - 1).abs()
    return exceeded(off, "KL of a multiple over the record's, less 1", 1e-8).on(_data(table))


def unbounded(source: Source) -> Outcome:
    """o04: the nearer to the mean of the data, the more a query leaks, for every record."""
    rows, least, paths_agree = near_the_mean(source)
    growth = Contrast("log10 of the least gain, a tenth nearer", np.log10(least[-1] / least[-2]))
    parts = [
        much_better(Contrast("least gain at the nearest, log10", np.log10(least[-1])), 0.0),
        much_better(growth, 1.5),
        paths_agree,
    ]
    return every(parts).on(_data(rows))


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


def farther_from_constant(source: Source) -> Outcome:
    """o10: GeLU at its stable points beside ReLU in shallow kernels."""
    wide = judged(points(source)).loc["GeLU"]
    cells = [
        much_better(Contrast(f"log (1 - c) over ReLU's, q = {q}, L = {depth}", value), 0.0)
        for depth in (2, 5, 10)
        for q, value in np.log(wide[f"1 - c over ReLU's, L = {depth}"]).items()
    ]
    return summed_up(cells).on("computation")


def distance_does_not_decide(source: Source) -> Outcome:
    """o12: ELU, farther from a constant than ReLU, leaks less with one layer or two."""
    wide = judged(points(source)).loc["ELU"]
    table = source.table("lood-ctl-13")
    rows = rows_at(table, inputs="unit sphere", activation="ELU")
    rows = rows[depth_of(rows["metric"]) <= 2]
    parts = len(wide) + len(rows)
    cells = [
        much_better(Contrast(f"log (1 - c) over ReLU's, q = {q}, L = 2", value), 0.0, parts=parts)
        for q, value in np.log(wide["1 - c over ReLU's, L = 2"]).items()
    ]
    cells += most(rows, "dataset", "q", "metric", parts=parts, rule=chance)
    return summed_up(cells).on(_data(table))


def _data(table: Any) -> str:
    """The display names of the data behind a table."""
    names = [NAMES.get(name.split("-")[0], name) for name in table.attrs.get("data", {})]
    return ", ".join(dict.fromkeys(names)) or "computation"


CLAIMS = claims.read("lood", claim_tests, sys.modules[__name__])
