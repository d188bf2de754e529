"""What draws of a posterior are worth: how normal they are, and what their seed and kind do.

Control 13.
"""

from typing import Any

import pandas as pd

from membership import metrics
from membership.exhibits.tidy import origin, tidy
from membership.studies.bmia import names

DISTANCE = "Kolmogorov distance from the normal law"
LLN, MC = "TPR (%) at 1% FPR, LLN", "TPR (%) at 1% FPR, MC"
LESS = "LLN less MC"
SPREAD = "sd over sampling seeds"
_METHODS = {LLN: "lln", MC: "mc"}


def control_13(source: Any) -> pd.DataFrame:
    """The distance of drawn hinges from a normal law, and rates with ten seeds (Control 13).

    Distances are means over a target's queries, rates means over the seeds; intervals are over
    targets.
    """
    files = names.of_last(names.DRAWS, source.settings)
    distances, samplings = (source.evidence(name) for name in files)
    rate = samplings["rate"]
    found = {DISTANCE: distances["distance"].values.mean(axis=1)}
    found |= {name: rate.sel(draw=m).mean("sampling").values for name, m in _METHODS.items()}
    found[LESS] = found[LLN] - found[MC]
    for name, method in _METHODS.items():
        spread = rate.sel(draw=method).std("sampling", ddof=1)
        found[f"{name}, {SPREAD}"] = spread.values
    key = {"dataset": distances.attrs["set"]}
    listed = [{**key, "quantity": name, **metrics.summary(v)} for name, v in found.items()]
    more = {
        "Draws a query for the distance": f"{distances.attrs['draws']:,}",
        "Queries a target for the distance": str(distances.sizes["query"]),
        "Sampling seeds": str(samplings.sizes["sampling"]),
    }
    attrs = origin([distances])
    return tidy(listed, {**attrs, "sizes": {**attrs["sizes"], **more}})
