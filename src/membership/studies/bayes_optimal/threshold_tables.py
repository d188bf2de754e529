"""MALT against 0-1 and MATT by the number of models that thresholds are learnt from."""

from collections.abc import Sequence

import pandas as pd
import xarray as xr

from membership import metrics
from membership.exhibits.tidy import tidy
from membership.studies.bayes_optimal import logistic, thresholds
from membership.studies.bayes_optimal.names import ACCURACY, AUC, MODELS

LEAD, BEHIND = "MALT less 0-1", f"{logistic.MATT} less MALT"
FIXED = "MALT at log 2 less 0-1"


def by_models(sizes: Sequence[xr.Dataset], attrs: dict) -> pd.DataFrame:
    """Paired differences of accuracy by n and by how many models taught the thresholds.

    Parameters
    ----------
    sizes : sequence of xarray.Dataset
        Evidence of Table 1, one a size.
    attrs : dict
        Origin of the numbers, as `logistic.trials` states it.

    Returns
    -------
    pandas.DataFrame
        Columns n, models, attack, metric and those of `membership.metrics.summary`. With 0 models:
        accuracy of MALT with its threshold at log 2, and AUC of MALT, each less that of 0-1.
    """
    rows = []
    for one in sizes:
        right = logistic.number(one, "0-1", ACCURACY)
        own = {"n": one.sizes["query"]}
        for count in thresholds.counts(one.sizes["target"]):
            malt, matt = (logistic.at_others(one, a, count) for a in ("MALT", logistic.MATT))
            key = own | {"models": count, "metric": MODELS}
            rows.append(key | {"attack": LEAD} | metrics.summary(malt - right))
            rows.append(key | {"attack": BEHIND} | metrics.summary(matt - malt))
        key = own | {"models": 0}
        fixed = logistic.at_threshold(one, "MALT", -thresholds.RIGHT) - right
        rows.append(key | {"attack": FIXED, "metric": ACCURACY} | metrics.summary(fixed))
        # 0-1 says one of two things: its AUC is its accuracy.
        auc = logistic.number(one, "MALT", AUC) - logistic.number(one, "0-1", AUC)
        rows.append(key | {"attack": LEAD, "metric": AUC} | metrics.summary(auc))
    order = ["n", "models", "attack", "metric"]
    table = pd.DataFrame(rows)
    return tidy([table[[*order, *(name for name in table if name not in order)]]], attrs)


def drawn(table: pd.DataFrame) -> pd.DataFrame:
    """The rows that the picture shows, a series an n."""
    shown = table[table["metric"] == MODELS]
    panel = shown["attack"] + ", accuracy (points)"
    return shown.assign(panel=panel, size="n = " + shown["n"].astype(str))


def said(table: pd.DataFrame) -> str:
    """MALT's lead at the least and the largest n, with the fewest models and with the most."""
    lead = table[(table["attack"] == LEAD) & (table["metric"] == MODELS)]
    found = []
    for n in (table["n"].min(), table["n"].max()):
        value = lead[lead["n"] == n].set_index("models")["value"]
        few, many = (
            f"{value[count]:+.2f} with a threshold from {count}"
            for count in (value.index.min(), value.index.max())
        )
        found.append(f"n = {n:,}: {few}, {many}")
    return f"Accuracy of MALT less that of 0-1, points, by models. {'; '.join(found)}."


def picture(table: pd.DataFrame) -> str:
    """Alternative text."""
    lead = table[(table["attack"] == LEAD) & (table["metric"] == MODELS)]
    wide = lead.pivot_table(index="models", columns="n", values="value")
    rise = int((wide.iloc[-1] > wide.iloc[0]).sum())
    return (
        "Two panels against the number of models that thresholds are learnt from, one line for "
        "each n: accuracy of MALT less 0-1, and of MATT less MALT. MALT's lead is larger with the "
        f"most models than with the fewest at {rise} of {wide.shape[1]} sizes."
    )
