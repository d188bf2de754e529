"""Two attacks as others run them, beside the bench's own: QMIA by trees, the only public BMIA."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from membership import metrics
from membership.errors import InputError
from membership.exhibits import Source
from membership.exhibits.tidy import tidy
from membership.studies.comparison import names
from membership.studies.comparison.names import BOOSTED, PUBLIC
from membership.studies.comparison.scores import CONTRASTS, CellEvidence, Table, origin, read
from membership.studies.comparison.settings import Settings

OWN = {"LOSS": "loss", "QMIA": "qmia", "BMIA, closed form": "bmia-closed"}
"""What the bench has of the same targets."""
LESS: Mapping[str, tuple[str, str]] = {
    "QMIA by trees less QMIA": (BOOSTED, "qmia"),
    "QMIA by trees less LOSS": (BOOSTED, "loss"),
    "public BMIA less closed form": (PUBLIC, "bmia-closed"),
}
ENDS, SAME = "records scored exactly 0 or 1 (%)", 0.01


def outside(source: Source) -> pd.DataFrame:
    """comparison-ctl-8: what both find on some targets, and what the bench's own find there."""
    chosen = names.outside(source.settings)
    every, rows = read(source), []
    cells = [one for one in every if one.cell in chosen]
    if not cells:
        key = {"dataset": "", "target": "", "attack": "none", "metric": names.NO_TABLES}
        return tidy([{**key, **metrics.exactly(0)}], origin(every, note=_NOTE))
    for evidence in cells:
        found = source.evidence(f"outside-{evidence.cell.word}")
        table = together(evidence, found)
        for words, name in (*OWN.items(), (BOOSTED, BOOSTED), (PUBLIC, PUBLIC)):
            rows += _rows(evidence, table, words, {name: 1.0}, source.settings)
        for words, (first, second) in LESS.items():
            rows += _rows(evidence, table, words, {first: 1.0, second: -1.0}, source.settings)
        score = table.score[PUBLIC]
        ends = metrics.summary(100 * ((score == 0) | (score == 1)).mean(axis=1), lowest=0.0)
        rows.append({**evidence.key, "attack": PUBLIC, "metric": ENDS, **ends})
    return tidy(rows, origin(cells, note=_NOTE))


_NOTE = (
    "QMIA by trees: scikit-learn's quantile boosting at five levels. The public BMIA: LeakPro's, "
    "as its code stands: log-odds for the hinge, and Student's distribution function of 50 draws."
)


def together(evidence: CellEvidence, found: xr.Dataset) -> Table:
    """Both attacks' scores and the bench's on the targets that both have, canaries left out.

    The targets were trained again; they have to be the ones that the bench attacks.
    """
    targets, keep = found["target"].values, ~evidence.canary
    places = [evidence.targets.index(target) for target in targets]
    odds = evidence.outputs["log_odds"].values[targets]
    apart = np.quantile(np.abs(found["log_odds"].values - odds), 0.99)
    if apart > SAME:
        raise InputError(
            f"outside-{evidence.cell.word}: its targets' log-odds differ from those of the cell by "
            f"{apart:.2g}; gather both on one machine"
        )
    score = {name: evidence.table.score[name][places] for name in OWN.values()}
    for name in (BOOSTED, PUBLIC):
        score[name] = found["score"].sel(attack=name).values[:, keep]
    return Table(score, evidence.table.member[places])


def _rows(
    evidence: CellEvidence,
    table: Table,
    words: str,
    weights: Mapping[str, float],
    settings: Settings,
) -> list[dict[str, Any]]:
    key, tables = {**evidence.key, "attack": words}, [(evidence.set, table)]
    return [
        {**key, "metric": metric, **contrast(tables, weights, settings)}
        for metric, contrast in CONTRASTS.items()
    ]
