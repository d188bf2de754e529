"""How the Hessian is inverted.

Its damping: Table 8, and over three orders of magnitude (iha-ctl-2). Solvers that approximate
(Table 3).
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy.stats import t

from membership import attacks, plots
from membership.attacks.forms import TERMS
from membership.attacks.iha import iha_from_forms
from membership.book import published
from membership.book.exhibits.sentences import joined
from membership.book.studies.iha import scores
from membership.book.studies.iha.evaluation import Evaluation, table_of
from membership.book.studies.iha.experiment import Trained
from membership.book.studies.iha.forms import DAMPINGS, records, training_records
from membership.book.studies.iha.score_taken_apart import auc
from membership.book.studies.iha.scores import LEARNT_BY, columns, over_models
from membership.book.studies.iha.settings import Settings

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
    """Damping against low rank (Table 8); columns as `table_2`.

    Where few records are asked, the same of every target, the errors are over records too, and
    there is the AUC alone, as in the paper. Where every record is, low rates stand beside it.
    """
    rows, evaluations = [], most_asked(swept, whole)
    for evaluation in evaluations:
        for attack, name in CONDITIONINGS.items():
            if evaluation.has(name):
                key = {"dataset": evaluation.label, "attack": attack, "metric": "AUC"}
                rows.append({**key, **_over_records_too(evaluation, name)})
                rows += evaluation.rates(attack, name) if evaluation.is_whole else []
        known = [attack for attack, name in CONDITIONINGS.items() if evaluation.has(name)]
        if BEST in known:
            rows += [
                evaluation.less(BEST, other, CONDITIONINGS) for other in known if other != BEST
            ]
    return table_of(rows, evaluations)


def table_8_said(table: pd.DataFrame) -> str:
    """The best conditioning on each data set."""
    auc = table[table["metric"] == "AUC"]
    best = auc.loc[auc.groupby("dataset", sort=False)["value"].idxmax()]
    parts = best["attack"].str.removeprefix("IHA ") + " on " + best["dataset"]
    return f"The highest AUC: {joined(parts.tolist())}."


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


def control_2_said(table: pd.DataFrame) -> str:
    """The best damping over attacks and data sets."""
    best = table.loc[table.groupby(["panel", "series"], sort=False)["value"].idxmax(), "damping"]
    dampings = joined([f"{damping:g}" for damping in sorted(set(best))])
    return f"The AUC of IHA and IHA* is the highest at a damping of {dampings}."


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


def control_2_drawn(table: pd.DataFrame) -> "Figure":
    printed = published_dampings(table)
    return plots.lines_with_intervals(
        table, x="damping", by="series", panel="panel", published=printed, log_x=True
    )


Variables = dict[str, tuple[tuple[str, ...], Any]]
# Records that conjugate gradients are asked about, by profile.
SOLVED = {"tiny": 60, "quick": 100, "paper": 10_000}
BITS = 2


def by_cg(trained: Trained, observed: list[dict[str, np.ndarray]], settings: Settings) -> Variables:
    """How far IHA's scores by conjugate gradients are from the exact ones, for every target.

    Both are computed at gathering from the same model; of the small difference a few bits do.
    """
    queries = trained.sample_queries(SOLVED[settings.profile])
    rows, apart = np.searchsorted(trained.queries, queries), []
    for target, observation in zip(trained.targets, observed, strict=True):
        member = trained.task.membership[target, queries]
        cg = attacks.iha(
            trained.ensemble.module(target),
            trained.task.config.loss_of,
            training_records(trained, target),
            records(trained, queries),
            member,
            **trained.recipe,
            damping=float(observation["amount"][0]),
            solver="cg",
        )
        forms = dict(zip(TERMS, observation["main"][0][:, rows], strict=True))
        how = (cg.loss, member, trained.task.n_members, *trained.recipe.values())
        apart.append(_few_bits(cg.score - iha_from_forms(forms, *how).score))
    return {
        "difference": (("target", "query"), np.array(apart)),
        "query": (("query",), queries.astype(np.int32)),
    }


def _few_bits(values: np.ndarray) -> np.ndarray:
    """Numbers right to a fifth, whose few bits of mantissa compress."""
    mantissa, exponent = np.frexp(values)
    return np.ldexp(np.round(mantissa * 2**BITS) / 2**BITS, exponent).astype(np.float32)


def table_3(evaluations: Sequence[Evaluation], solved: Sequence[xr.Dataset]) -> pd.DataFrame:
    """Exact scores against conjugate gradients on the same records (Table 3)."""
    rows, sizes, queried, count = [], [], {}, {}
    for evaluation, solution in zip(evaluations, solved, strict=True):
        places = np.searchsorted(evaluation.outputs["record"].values, solution["query"].values)
        exact = np.stack(evaluation.scores("IHA"))[:, places]
        member = [truth[places] for truth in evaluation.member]
        difference = solution["difference"].values.astype(float)
        cg = exact + difference
        for attack, parts in {"IHA (Exact)": exact, "IHA (CG)": cg}.items():
            key = {"dataset": evaluation.label, "attack": attack}
            rows += scores.measured(key, parts, member, units=evaluation.units)
        apart = (np.abs(cg - exact).max(1) / np.abs(exact).max(1)).tolist()
        key = {"dataset": evaluation.label, "attack": "IHA (CG)"}
        key |= {"metric": "largest difference from exact, relative"}
        rows.append(key | scores.over_models(apart, units=evaluation.units))
        sizes.append(
            f"{evaluation.label}: {len(places):,} records asked of each of {len(exact)} models "
            "(the paper: 10,000 records)"
        )
        queried[evaluation.label] = {
            "queried_members": min(int(truth.sum()) for truth in member),
            "queried_non_members": min(int((~truth).sum()) for truth in member),
        }
        count[evaluation.label] = len(places)
    table = table_of(rows, evaluations, sizes)
    for label, facts in queried.items():
        table.attrs["setup"][label] |= facts
    table.attrs["asked"] = count
    return table


def beside_judged(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """Table 3, or Table 6 of another machine, beside the published one."""
    reference = published.reference(name)
    # For Purchase-100(S) the paper has neither table, so Purchase-100 stands beside it.
    if "Purchase-100" not in {setup["published"] for setup in table.attrs["setup"].values()}:
        reference["dataset"] = reference["dataset"].replace({"Purchase-100": "Purchase-100(S)"})
    return scores.judged(table, reference)
