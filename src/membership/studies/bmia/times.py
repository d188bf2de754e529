"""What the attacks cost in time: Table 1's last columns and Figure 3c, measured (Control 10)."""

from typing import Any

import pandas as pd

from membership import published
from membership.exhibits.tidy import tidy
from membership.studies.bmia.predictive import STRUCTURES
from membership.studies.bmia.seen import further, origin
from membership.studies.bmia.tables import ON, printed_1

TIME = "time_min"


def control_10(source: Any) -> pd.DataFrame:
    """Wall times of training and of inference (Control 10).

    A reference's training is timed over two epochs of a fresh model, whatever the cache holds,
    and multiplied up. Inference is timed from the trained network: its pass over training
    records and queries, the fit of the posterior and the draws.
    """
    some, listed = further(source, "times"), []
    for seconds in some:
        label, one = seconds.attrs["set"], float(seconds["training"].values.mean())
        listed.append(_row(label, "QMIA", 0, TIME, float(seconds["qmia"].values.mean()) / 60))
        for attack, n in (("LiRA", 2), ("LiRA", 4), ("LiRA", 8), ("BMIA", 1)):
            listed.append(_row(label, attack, n, TIME, n * one / 60))
        for structure in seconds["structure"].values:
            for n in seconds["draws"].values:
                name = f"BMIA, {STRUCTURES[str(structure)]}, {n} samples"
                took = float(seconds["inference"].sel(structure=structure, draws=n))
                listed.append(_row(label, name, 1, "inference(s)", took))
    return tidy(listed, origin(some, timing=True))


def control_10_comparison(table: pd.DataFrame) -> pd.DataFrame:
    """Each time beside the published one, on other hardware."""
    return published.compare(table, printed_1(), ON)


def _row(label: str, attack: str, n: int, metric: str, value: float) -> dict[str, Any]:
    key = {"dataset": label, "attack": attack, "n_reference": n, "metric": metric}
    return {**key, "value": value, "low": value, "high": value}
