"""What the attacks cost in time: Table 1's last columns and Figure 3c, measured (Control 10)."""

from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from membership import metrics, published
from membership.exhibits.tidy import origin, tidy
from membership.studies.bmia.predictive import STRUCTURES
from membership.studies.bmia.seen import further
from membership.studies.bmia.tables import ON, printed_1

TIME = "time_min"
SHARE, LIRA = "inference / training", "training and inference / LiRA (n=8)"
DRAWS = "inference, most / fewest samples"
REFERENCES = 8
_TRAINED = (("LiRA", 2), ("LiRA", 4), ("LiRA", REFERENCES), ("BMIA", 1))


def control_10(source: Any) -> pd.DataFrame:
    """Wall times of training and of inference (Control 10), and their ratios.

    A reference's training is timed over two epochs of a fresh model, whatever the cache holds,
    and multiplied up. Inference is timed from the trained network: its pass over training
    records and queries, the fit of the posterior and the draws. Intervals are over timings.
    """
    some, listed = further(source, "times"), []
    for seconds in some:
        label, one = seconds.attrs["set"], seconds["training"].values
        listed.append(_row(label, "QMIA", 0, TIME, seconds["qmia"].values / 60))
        listed += [_row(label, attack, n, TIME, n * one / 60) for attack, n in _TRAINED]
        for structure in seconds["structure"].values:
            inference = seconds["inference"].sel(structure=structure)
            listed += _of_structure(label, STRUCTURES[str(structure)], inference, one)
    return tidy(listed, origin(some, timing=True))


def _of_structure(
    label: str, words: str, inference: xr.DataArray, training: np.ndarray
) -> list[dict[str, Any]]:
    """Seconds by number of samples; three ratios, of quantities of the same timing."""
    sizes = [int(n) for n in inference["draws"].values]
    took = {n: inference.sel(draws=n).values for n in sizes}
    rows = [_row(label, name(words, n), 1, "inference(s)", took[n]) for n in sizes]
    whole, last = name(words, sizes[-1]), took[sizes[-1]]
    ratios = {
        SHARE: last / training,
        LIRA: (training + last) / (REFERENCES * training),
        DRAWS: last / took[sizes[0]],
    }
    return rows + [_row(label, whole, 1, metric, ratio) for metric, ratio in ratios.items()]


def name(words: str, n: int) -> str:
    """What a posterior with so many draws is called in the table."""
    return f"BMIA, {words}, {n} samples"


def control_10_comparison(table: pd.DataFrame) -> pd.DataFrame:
    """Each time beside the published one, on other hardware."""
    return published.compare(table, printed_1(), ON)


def _row(label: str, attack: str, n: int, metric: str, timings: np.ndarray) -> dict[str, Any]:
    key = {"dataset": label, "attack": attack, "n_reference": n, "metric": metric}
    return {**key, **metrics.summary(timings, lowest=0.0)}
