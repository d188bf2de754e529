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
from membership.studies.comparison.scores import CellEvidence, Table, origin, typical

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
    cells, rows = typical(source), []
    rng = np.random.default_rng([source.settings.seed, 43])
    for name in CHOSEN:
        exclusions = [
            _permuted(evidence.table, name, rng)
            for evidence in cells
            if name in evidence.table.score
        ]
        rows.append(_row(PERMUTED, attacks.registry()[name].display, np.concatenate(exclusions)))
    table = _untrained(source)
    for name in [name for name in CHOSEN if name in table.score]:
        exclusions = excluded(zip(table.score[name], table.member, strict=True))
        rows.append(_row(UNTRAINED, attacks.registry()[name].display, exclusions))
    blind = [excluded(_blind(evidence)) for evidence in cells]
    rows.append(_row(BLIND, "mean log-odds of the references", np.concatenate(blind)))
    return tidy(rows, origin(cells))


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
    table = attacks.score_table(outputs)
    return Table(table.score, table.member).on(ordinary)


def _blind(evidence: CellEvidence) -> list[tuple[FloatArray, BoolArray]]:
    """What the references say of a record, of each target's members."""
    odds = evidence.outputs["log_odds"].values[:, ~evidence.canary].astype(float)
    mean = odds[evidence.references].mean(axis=0)
    return [(mean, evidence.member[target]) for target in evidence.targets]


def _row(null: str, attack: str, exclusions: BoolArray) -> dict[str, Any]:
    """A share in percent with Clopper and Pearson's limits."""
    key = {"null": null, "attack": attack, "metric": EXCLUDED}
    return {**key, **share(exclusions), "n_repeats": int(exclusions.size)}
