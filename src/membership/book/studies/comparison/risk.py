"""Who is at risk, beside numbers that take no retraining, and the panel of what plays another game.

LOOD is in both: it orders records without a model to ask.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy import stats

from membership import metrics, plots
from membership.arrays import BoolArray, FloatArray
from membership.book import exhibits
from membership.book.exhibits import Source
from membership.book.exhibits.sentences import span
from membership.book.exhibits.tidy import tidy
from membership.book.studies.comparison.names import AREA, RATE, picked
from membership.book.studies.comparison.scores import CellEvidence, origin, typical
from membership.book.studies.comparison.thresholds import CHOSEN
from membership.metrics.rate_names import tpr_label

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CORRELATION = "rank correlation with the risk"
BY = "lira-offline"
RELIABILITY = "reliability of the risk"
CORRECTED = "rank correlation over the root of the reliability"
RESAMPLES = 200


def risk_map(source: Source) -> pd.DataFrame:
    """Rank correlations of cheap numbers with each record's AUC over all models."""
    rows = []
    cells = typical(source)
    for evidence in cells:
        table = evidence.every_model(CHOSEN)
        risk = risks(table.score[BY], table.member)
        reliable = reliability(table.score[BY], table.member, len(evidence.targets))
        rows.append(
            {**evidence.key, "predictor": "(risk itself)", "metric": RELIABILITY}
            | metrics.exactly(reliable)
        )
        lood = source.evidence(f"lood-{evidence.cell.word}")
        for name, values in predictors(evidence, lood).items():
            number = _correlation(values, risk, source.settings.seed)
            rows.append({**evidence.key, "predictor": name, "metric": CORRELATION, **number})
            if reliable > 0:
                root = np.sqrt(reliable)
                scaled = {
                    k: v / root if k in ("value", "low", "high", "standard_error") else v
                    for k, v in number.items()
                }
                rows.append({**evidence.key, "predictor": name, "metric": CORRECTED, **scaled})
    return tidy(rows, origin(cells))


def risk_map_said(table: pd.DataFrame) -> str:
    """How well the best predictor of each data set does."""
    best = picked(table, CORRELATION).groupby("dataset")["value"].max()
    return (
        f"The best predictor's rank correlation with the risk is {span(best, 2, '')} by data set."
    )


def risk_map_drawn(table: pd.DataFrame) -> "Figure":
    """Figure 4: how cheap numbers order the records."""
    shown = picked(table, CORRELATION)
    return plots.dots_by_row(shown, "predictor", by="dataset", baseline=0.0, label=CORRELATION)


def risks(score: FloatArray, member: BoolArray) -> FloatArray:
    """Each record's AUC: its scores by models with it against those by models without it.

    NaN where all models are of one side.
    """
    aucs = np.full(score.shape[1], np.nan)
    for record in np.flatnonzero(member.any(axis=0) & ~member.all(axis=0)):
        aucs[record] = metrics.auc(score[:, record], member[:, record])
    return aucs


def reliability(score: FloatArray, member: BoolArray, n_targets: int) -> float:
    """That of the risk by all models, from two halves of the pairs (Spearman and Brown)."""
    place = np.arange(len(member) - n_targets) // 2
    halves = [n_targets + np.flatnonzero(place % 2 == side) for side in (0, 1)]
    split = np.array([risks(score[rows], member[rows]) for rows in halves])
    split = split[:, np.isfinite(split).all(axis=0)]
    half = float(stats.spearmanr(*split).statistic)
    return max(2 * half / (1 + half), 0.0)


def predictors(evidence: CellEvidence, lood: Any) -> dict[str, FloatArray]:
    """What is known of a record without retraining, by name; larger for riskier ones."""
    keep = ~evidence.canary
    odds = evidence.outputs["log_odds"].values[:, keep].astype(float)
    loss = np.logaddexp(0.0, -odds)
    first = evidence.targets[0]
    by_name = {
        "loss at one model": loss[first],
        "LOOD, KL at the record": lood["kl"].values[keep],
        "LOOD, variance at the record": lood["variance"].values[keep],
    }
    posterior = evidence.parts[1]
    law = posterior.sel(reference=evidence.references[0], variant="closed form")
    by_name["Laplace deviation"] = law["sd"].values.astype(float)[keep]
    if len(evidence.parts) > 2:
        form = evidence.parts[2].sel(target=first)["form"]
        for name, inverse, term in (
            ("squared gradient norm", "identity", "own2"),
            ("self-influence", "published", "own1"),
            ("IHA's own term", "published", "own2"),
        ):
            by_name[name] = form.sel(inverse=inverse, term=term).values.astype(float)[keep]
    return by_name


def _correlation(values: FloatArray, risk: FloatArray, seed: int) -> dict[str, float]:
    """Spearman's correlation with an interval over resampled records, on Fisher's scale."""
    rng, n = np.random.default_rng([seed, 44]), len(risk)
    drawn = []
    for _ in range(RESAMPLES):
        rows = rng.integers(n, size=n)
        drawn.append(np.arctanh(stats.spearmanr(values[rows], risk[rows]).statistic))
    value = float(stats.spearmanr(values, risk).statistic)
    error = float(np.std(drawn, ddof=1))
    low, high = np.tanh(np.arctanh(value) + np.array([-1.96, 1.96]) * error)
    return {
        "value": value,
        "low": float(low),
        "high": float(high),
        "standard_error": error * (1 - value**2),
        "degrees_of_freedom": np.inf,
        "n_repeats": n,
    }


STEP, STEPS, BEFORE = (
    "sees the gradient of one training step",
    "sees the gradients of five steps",
    "sees the records, and no model",
)
ONE_STEP, MANY_STEPS = "gmip-ctl-12", "gmip-ctl-4"
RISK = "comparison-fig-4"
RATIO = "likelihood ratio"
ATTACKS = {"GLiR": "GLiR", RATIO: "likelihood ratio of gradients"}
NUMBERS = ["value", "low", "high", "standard_error", "degrees_of_freedom", "n_repeats"]


def another_game(source: Source) -> pd.DataFrame:
    """comparison-ctl-5: GLiR on step gradients by its chapter's full run, LOOD on this bench.

    Neither sees what the attacks of the other panels see, and the data and models are others.
    """
    rows, used = [], []
    for make_rows, exhibit_id in ((_one_step, ONE_STEP), (_several, MANY_STEPS)):
        kept = exhibits.load(exhibit_id, "paper")
        if kept is not None:
            rows += make_rows(kept[0])
            used.append(exhibit_id)
    rows += _predicted(source.table(RISK))
    note = f"Panel: another game. GLiR is that of the paper-size run behind {' and '.join(used)}."
    return tidy(rows, origin(typical(source), note=note if used else "Panel: another game."))


def _one_step(table: pd.DataFrame) -> Iterator[dict[str, Any]]:
    scales = {"AUC (%)": (AREA, 0.01), tpr_label(0.01): (RATE, 1.0)}
    shown = table[(table["asked"] == "all records") & table["attack"].isin(ATTACKS)]
    for row in shown[shown["quantity"].isin(scales)].to_dict("records"):
        metric, scale = scales[row["quantity"]]
        key = {"game": STEP, "what": ATTACKS[row["attack"]], "dataset": row["data"]}
        yield {**key, "metric": metric, **_scaled(row, scale)}


def _several(table: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Five steps with as many background records as there are."""
    real = table[table["case"].str.startswith("5 steps")]
    widest = real[real["case"] == real["case"].iloc[-1]] if len(real) else real
    display = {"sum of log p": "GLiR, all steps", "joint likelihood ratio": ATTACKS[RATIO]}
    for row in widest[widest["metric"] == "auc(%)"].to_dict("records"):
        if row["attack"] in display:
            key = {"game": STEPS, "what": display[row["attack"]], "dataset": row["data"]}
            yield {**key, "metric": AREA, **_scaled(row, 0.01)}


def _predicted(table: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """How LOOD orders the records beside the order of their risk on this bench."""
    shown = table[table["predictor"].str.startswith("LOOD, KL")]
    for row in shown[shown["metric"] == CORRELATION].to_dict("records"):
        key = {"game": BEFORE, "what": "LOOD, as a predictor of risk", "dataset": row["dataset"]}
        yield {**key, "metric": CORRELATION, **{name: row[name] for name in NUMBERS}}


def _scaled(row: dict[str, Any], scale: float) -> dict[str, float]:
    linear = ("value", "low", "high", "standard_error")
    return {name: row[name] * scale if name in linear else row[name] for name in NUMBERS}
