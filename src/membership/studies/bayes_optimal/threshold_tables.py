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
