"""How much the damping decides: Table 8, and the damping over three orders of magnitude."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd
from scipy.stats import t

from membership import published
from membership.studies.iha.evaluation import Evaluation, table_of
from membership.studies.iha.forms import DAMPINGS
from membership.studies.iha.score_taken_apart import auc
from membership.studies.iha.scores import LEARNT_BY, columns, over_models

if TYPE_CHECKING:
    from matplotlib.figure import Figure


CONDITIONINGS = {
    "IHA (low-rank eps=1e-2)": "IHA, low rank 0.01",
    "IHA (low-rank eps=1e-1)": "IHA, low rank 0.1",
    "IHA (low-rank eps=2e-1)": "IHA, low rank 0.2",
    "IHA (damping eps=1e-2)": "IHA, damping 0.01",
    "IHA (damping eps=1e-1)": "IHA, damping 0.1",
    "IHA (damping eps=2e-1)": "IHA, damping 0.2",
}


# The paper's choice; the table has it less each of the others, paired.
BEST = "IHA (damping eps=2e-1)"


def most_asked(swept: Sequence[Evaluation], whole: Sequence[Evaluation]) -> list[Evaluation]:
    """The data sets of the sweep, each by its numbers over every record where there are any."""
    by_label = {evaluation.label: evaluation for evaluation in whole}
    return [by_label.get(evaluation.label, evaluation) for evaluation in swept]


def table_8(swept: Sequence[Evaluation], whole: Sequence[Evaluation]) -> pd.DataFrame:
    """Damping against low rank (Table 8); columns as `table_2`, AUC only.

    Where few records are asked, the same of every target, the errors are over records too.
    """
    rows, evaluations = [], most_asked(swept, whole)
    for evaluation in evaluations:
        for attack, name in CONDITIONINGS.items():
            if evaluation.has(name):
                key = {"dataset": evaluation.label, "attack": attack, "metric": "AUC"}
                rows.append({**key, **_over_records_too(evaluation, name)})
        known = [attack for attack, name in CONDITIONINGS.items() if evaluation.has(name)]
        if BEST in known:
            rows += [
                evaluation.less(BEST, other, CONDITIONINGS) for other in known if other != BEST
            ]
    return table_of(rows, evaluations)


def _over_records_too(evaluation: Evaluation, name: str) -> dict[str, float]:
    """The AUC of one attack with the error of its targets and records, as degrees of the fewer.

    Where every record was asked, over the targets alone.
    """
    if evaluation.is_whole:
        return over_models(evaluation.aucs(name), 1.0, units=evaluation.units)
    estimate = columns(auc(evaluation.scores(name), evaluation.member, evaluation.units).interval())
    degrees = min(estimate["degrees_of_freedom"], estimate["n_repeats"] - 1)
    half = float(t.ppf(0.975, degrees)) * estimate["standard_error"]
    ends = {"low": estimate["value"] - half, "high": estimate["value"] + half}
    return {**estimate, **ends, "degrees_of_freedom": degrees}


def control_2(swept: Sequence[Evaluation], whole: Sequence[Evaluation]) -> pd.DataFrame:
    """The damping, over three orders of magnitude (iha-ctl-2)."""
    rows, evaluations = [], most_asked(swept, whole)
    for evaluation in evaluations:
        for damping in DAMPINGS:
            for series in LEARNT_BY:
                name = f"{series}, damping {damping:g}"
                if evaluation.has(name):
                    key = {"panel": f"{evaluation.label}: AUC", "damping": damping}
                    key |= {"series": series, "metric": "AUC"}
                    auc = over_models(evaluation.aucs(name), 1.0, units=evaluation.units)
                    rows.append(key | auc)
    return table_of(rows, evaluations)


def published_dampings(table: pd.DataFrame) -> pd.DataFrame:
    """The dampings of Table 8 as points of `control_2`, for the paper's data sets."""
    printed = published.table("iha_table8")
    printed = printed[printed["attack"].str.contains("damping")]
    panels = [f"{name}: AUC" for name in printed["dataset"]]
    points = pd.DataFrame(
        {
            "panel": panels,
            "damping": [float(name.split("=")[1].rstrip(")")) for name in printed["attack"]],
            "series": "IHA",
            "value": printed["value"].astype(float).to_numpy(),
        }
    )
    return points[points["panel"].isin(table["panel"])].reset_index(drop=True)


def drawn(table: pd.DataFrame) -> "Figure":
    from membership import plots

    printed = published_dampings(table)
    return plots.lines_with_intervals(
        table, x="damping", by="series", panel="panel", published=printed, log_x=True
    )
