"""The controls that set simulated and real gradients side by side."""

from typing import Any

import pandas as pd

from membership.studies.gmip import gradients, joint, law_of_k, simulated
from membership.studies.gmip.gradients import Audits

_DATA = {"dataset": "data"}
_KEYS = [
    *("dataset", "data", "case", "attack", "quantity", "method", "convention", "nominal"),
    "metric",
]
_NUMBERS = ["value", "low", "high", "standard_error", "degrees_of_freedom", "n_repeats"]


def control_2(audits: Audits) -> pd.DataFrame:
    """The rank and the eigenvalues of the gradients' covariance, and the levels that follow."""
    tables = [gradients.rank_table(audits), gradients.spectrum(audits)]
    return _joined([table.rename(columns={"metric": "quantity"}) for table in tables])


def control_3(audits: Audits, settings: Any) -> pd.DataFrame:
    """Whether p-values are p-values, with known and with estimated moments."""
    known = simulated.calibration(settings).assign(data="simulated")
    return _joined([known, gradients.real_calibration(audits).rename(columns=_DATA)])


def control_4(some: Audits, settings: Any) -> pd.DataFrame:
    """Several steps on one batch, simulated and on real gradients."""
    known = simulated.five_steps(settings).assign(data="simulated")
    known["case"] = [f"correlation {each:g}" for each in known["correlation"]]
    return _joined([known, joint.rows(some)] if some else [known])


def control_6(audits: Audits, settings: Any) -> pd.DataFrame:
    """K of real gradients, and what records with a large K lose."""
    real = law_of_k.quantiles(audits).drop(columns="metric").rename(columns=_DATA)
    real["quantity"] = [f"K / rank, quantile {q:g}" for q in real["quantile"]]
    law = real.dropna(subset="chi2").assign(method="chi-squared law")
    law["value"] = law["low"] = law["high"] = law["chi2"]
    law = law.assign(standard_error=0.0, degrees_of_freedom=float("inf"), n_repeats=0)
    both = pd.concat([real.assign(method="measured"), law])
    lost = simulated.susceptible_records(settings).rename(columns={"attack": "method"})
    lost["quantity"] = [f"TPR (%) at FPR {fpr:g}" for fpr in lost["fpr"]]
    both.attrs = real.attrs
    return _joined([both, lost.assign(data="simulated, lognormal K")])


def _joined(tables: list[pd.DataFrame]) -> pd.DataFrame:
    """One table of several: keys they share first, then the number; origins merged."""
    found = [name for name in _KEYS if all(name in table for table in tables)]
    attrs = [table.attrs for table in tables]
    joined = pd.concat(tables, ignore_index=True)[[*found, *_NUMBERS]]
    joined.attrs = {
        "data": {name: digest for each in attrs for name, digest in each["data"].items()},
        "deviations": list(dict.fromkeys(text for each in attrs for text in each["deviations"])),
        "device": attrs[-1]["device"],
        "sizes": {key: text for each in attrs for key, text in each.get("sizes", {}).items()},
        "note": " ".join(each["note"] for each in attrs if "note" in each),
    }
    return joined
