"""The controls that set simulated and real gradients, or two views of one bound, side by side."""

from typing import Any

import pandas as pd

from membership.studies.gmip import gradients, simulated, theory
from membership.studies.gmip.gradients import Audits

_DATA = {"dataset": "data"}


def control_3(audits: Audits, settings: Any) -> pd.DataFrame:
    """Whether p-values are p-values, with known and with estimated moments (Control 3).

    Returns
    -------
    DataFrame
        Columns data, convention, nominal (in %), metric, value, low, high, n_repeats.
    """
    known = simulated.calibration(settings).assign(data="simulated")
    return _joined([known, gradients.real_calibration(audits).rename(columns=_DATA)], "data")


def control_5(audits: Audits, settings: Any) -> pd.DataFrame:
    """How loose the composition and the noise bound are, on paper and as measured (Control 5).

    Returns
    -------
    DataFrame
        Columns data, quantity, method, value, low, high.
    """
    formulas = theory.looseness(settings).rename(columns=_DATA)
    measured = gradients.spectrum(audits).rename(columns={**_DATA, "metric": "quantity"})
    measured["data"] += ", gradients"
    measured["method"] = "measured"
    return _joined([formulas, measured], "data")


def control_7(audits: Audits, settings: Any) -> pd.DataFrame:
    """K of real gradients, and what records with a large K lose (Control 7).

    Returns
    -------
    DataFrame
        Columns data, quantity, method, value, low, high.
    """
    real = gradients.susceptibility(audits).drop(columns="metric").rename(columns=_DATA)
    real["quantity"] = [f"K / rank, quantile {q:g}" for q in real["quantile"]]
    law = real.dropna(subset="chi2").assign(method="chi-squared law")
    law["value"] = law["low"] = law["high"] = law["chi2"]
    both = pd.concat([real.assign(method="measured"), law])
    lost = simulated.susceptible_records(settings).rename(columns={"attack": "method"})
    lost["quantity"] = [f"TPR (%) at FPR {fpr:g}" for fpr in lost["fpr"]]
    both.attrs = real.attrs
    return _joined([both, lost.assign(data="simulated, lognormal K")], "data")


def _joined(tables: list[pd.DataFrame], key: str) -> pd.DataFrame:
    """One table of several: keys they share first, then the number; origins merged."""
    known = [key, "quantity", "method", "convention", "nominal", "metric"]
    found = [name for name in known if all(name in table for table in tables)]
    joined = pd.concat(tables, ignore_index=True)[[*found, "value", "low", "high"]]
    attrs = [table.attrs for table in tables]
    joined.attrs = {
        "data": {name: digest for each in attrs for name, digest in each["data"].items()},
        "deviations": [text for each in attrs for text in each["deviations"]],
        "comparable": all(each["comparable"] for each in attrs),
        "device": attrs[-1]["device"],
        "note": " ".join(each["note"] for each in attrs if "note" in each),
    }
    return joined
