"""The third panel: what plays another game, each number of the run that measured it."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from membership import exhibits
from membership.exhibits import Source
from membership.exhibits.tidy import tidy
from membership.metrics.rate_names import tpr_label
from membership.studies.comparison.names import AREA, RATE
from membership.studies.comparison.risk import CORRELATION
from membership.studies.comparison.scores import origin, typical

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


def panel(source: Source) -> pd.DataFrame:
    """comparison-ctl-5: GLiR on step gradients by its chapter's paper-size run, LOOD on this bench.

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
