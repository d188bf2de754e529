"""What the attacks find where there is nothing to find: each row at its nominal level."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from membership import attacks, metrics
from membership.arrays import BoolArray, FloatArray
from membership.exhibits import Source
from membership.exhibits.rows import share
from membership.exhibits.tidy import tidy
from membership.studies.comparison import names
from membership.studies.comparison.scores import Seen, Table, origin, typical

PERMUTED, UNTRAINED, BLIND = (
    "membership permuted",
    "models never trained",
    "a score that never sees the model",
)
EXCLUDED = "95% intervals of the AUC without 0.5 (%)"
CHOSEN = ("loss", "attack-r", "lira", "rmia", "bmia-mixture")
PERMUTATIONS = 20


def null_rows(source: Source) -> pd.DataFrame:
    """Shares of intervals that exclude one half, with exact limits."""
    some, rows = typical(source), []
    rng = np.random.default_rng([source.settings.seed, 43])
    for name in CHOSEN:
        found = [_permuted(one.table, name, rng) for one in some if name in one.table.score]
        rows.append(_row(PERMUTED, attacks.registry()[name].display, np.concatenate(found)))
    table = _untrained(source)
    for name in [one for one in CHOSEN if one in table.score]:
        found = excluded(zip(table.score[name], table.member, strict=True))
        rows.append(_row(UNTRAINED, attacks.registry()[name].display, found))
    blind = [excluded(_blind(one)) for one in some]
    rows.append(_row(BLIND, "mean log-odds of the references", np.concatenate(blind)))
    return tidy(rows, origin(some))


def excluded(pairs: Iterable[tuple[FloatArray, BoolArray]]) -> BoolArray:
    """Whether the interval of each pair of scores and truth leaves one half out."""
    ends = [metrics.auc_interval(score, member) for score, member in pairs]
    return np.array([not low <= 0.5 <= high for low, high in ends])


def _permuted(table: Table, name: str, rng: np.random.Generator) -> BoolArray:
    pairs = zip(table.score[name], table.member, strict=True)
    return excluded(
        (score, rng.permutation(member)) for score, member in pairs for _ in range(PERMUTATIONS)
    )


def _untrained(source: Source) -> Table:
    """The attacks on models at their random starts, which no record has touched."""
    outputs = names.with_hinge(source.evidence(names.UNTRAINED))
    ordinary = ~outputs["canary"].values.astype(bool)
    return Table(*_scores(outputs)).on(ordinary)


def _scores(outputs: Any) -> tuple[dict[str, FloatArray], BoolArray]:
    table = attacks.score_table(outputs)
    return table.score, table.member


def _blind(one: Seen) -> list[tuple[FloatArray, BoolArray]]:
    """What the references say of a record, of each target's members."""
    odds = one.outputs["log_odds"].values[:, ~one.canary].astype(float)
    mean = odds[one.references].mean(axis=0)
    return [(mean, one.member[target]) for target in one.targets]


def _row(null: str, attack: str, found: BoolArray) -> dict[str, Any]:
    """A share in percent with Clopper and Pearson's limits."""
    key = {"null": null, "attack": attack, "metric": EXCLUDED}
    return {**key, **share(found), "n_repeats": int(found.size)}
