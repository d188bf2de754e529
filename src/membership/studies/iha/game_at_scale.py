"""The clean game at scale: outputs or parameters, with or without retraining, paired.

The sets D' are the units: the records of one share all its models without them, and the seeds of
those with them. Pooled, there is one threshold for all records of a D'.
"""

from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy.stats import norm

from membership import metrics
from membership.arrays import FloatArray
from membership.exhibits.tidy import tidy
from membership.studies.iha import game_scores, names
from membership.studies.iha.game import COUNTED, METRICS, PAIRED, Compared

# One attack for each of the four adversaries, chosen before any result was seen. Those that retrain
# fit normal laws with one variance a record, to log-odds or to the projection.
LOSS, LIRA, IHA, PROJECTION = "LOSS", "LiRA-L, one variance", "IHA", "projection, fitted noise"
CELLS = {
    "outputs, not retrained: LOSS": LOSS,
    "outputs, retrained: LiRA-L": LIRA,
    "parameters, not retrained: IHA": IHA,
    "parameters, retrained: projection": PROJECTION,
}
SHORT = {LIRA: "LiRA-L", PROJECTION: "projection"}
ONE_SIDED = "projection, one-sided", "LiRA-L, one-sided"
CONTRASTS = (
    (IHA, LOSS),
    (LIRA, LOSS),
    (PROJECTION, LIRA),
    (LIRA, IHA),
    (PROJECTION, IHA),
    # Added once the numbers of MNIST-Odd were known, as a check: no claim rests on it.
    ONE_SIDED,
    ("IHA*", IHA),
    (IHA, "IHA, identity"),
    # What asks whether parameters tell more than the loss: see the chapter on that.
    ("IHA*", LIRA),
    ("residual norm", LIRA),
)
DIFFERENCES = tuple(f"{PAIRED}, {word}" for word in COUNTED)


def games(source: Any) -> list[xr.Dataset]:
    """The evidence of every game of a run."""
    return [source.evidence(name) for name in names.files(names.GAME, names.games(source.settings))]


def four(some: list[xr.Dataset], settings: Any) -> pd.DataFrame:
    """iha-ctl-14: the four adversaries, and attacks less each other."""
    rows = []
    for found in some:
        each = all_numbers(found)
        for name, attack in CELLS.items():
            key = {"dataset": found.attrs["set"], "attack": name}
            rows += _rows(key, METRICS, each[attack], lowest=0.0, highest=1.0)
        for first, second in CONTRASTS:
            name = f"{SHORT.get(first, first)} less {SHORT.get(second, second)}"
            key = {"dataset": found.attrs["set"], "attack": name}
            rows += _rows(key, DIFFERENCES, each[first] - each[second])
    return tidy(rows, game_scores.about(some))


def every_attack(some: list[xr.Dataset], settings: Any) -> pd.DataFrame:
    """iha-ctl-15: every attack of the game, in the order of what it reads."""
    rows = []
    for found in some:
        for attack, each in all_numbers(found).items():
            reads, retrains = game_scores.FROM[attack]
            key = {"attack": attack, "reads": f"{reads}{', retrained' if retrains else ''}"}
            made = _rows(key, METRICS, each, lowest=0.0, highest=1.0)
            for row, word in zip(made, COUNTED, strict=True):
                rows.append({**row, "series": f"{found.attrs['set']}, {word}"})
    columns = ["attack", "reads", "series", "metric", "value", "low", "high", "n_repeats"]
    table = pd.DataFrame(rows)[columns]
    table.attrs = game_scores.about(some)
    return table


def convergence(source: Any) -> pd.DataFrame:
    """iha-ctl-16: how far the models of the game have converged, beside those of Table 2."""
    rows, some = [], games(source)
    for found in some:
        side = found["form"].sel(inverse="identity", side="without")
        # The models on D' are the same for all of its records.
        first = np.unique(found.attrs["others"], return_index=True)[1]
        lengths = [side.sel(term=name).values[first].astype(float).mean(1) for name in names.NORMS]
        key = {"dataset": found.attrs["set"], "models": "clean game, models on D'"}
        rows += _over(key, lengths, found["accuracy"].values.mean(1))
        rows += [{**key, **row} for row in _expected(found)]
    for one in names.subjects(source.settings)[:1]:
        outputs, forms = (source.evidence(f"{kind}-{one.slug}") for kind in names.MAIN)
        key = {"dataset": forms.attrs["set"], "models": "Table 2"}
        accuracy = outputs["test_accuracy"].values[forms["target"].values]
        rows += _over(key, list(forms["norm"].values.T), accuracy, pairs=True)
    return tidy(rows, game_scores.about(some))


def _expected(found: xr.Dataset) -> list[dict[str, Any]]:
    """Record by record, the AUC of outputs and of parameters in a linear theory: means over D'."""
    law = found["form"].sel(inverse=names.FITTED, side="without").isel(replicate=0)
    group = np.array(found.attrs["others"])
    each = [norm.cdf(law.sel(term=name).values / np.sqrt(2)) for name in names.EXPECTED]
    some = {"parameters": each[0], "outputs": each[1], "parameters less outputs": each[0] - each[1]}
    rows = []
    for name, auc in some.items():
        values = [auc[group == place].mean() for place in np.unique(group)]
        rows.append({"metric": f"AUC expected of {name}", **metrics.summary(values)})
    return rows


def _over(
    key: dict[str, str], lengths: list[FloatArray], accuracy: FloatArray, pairs: bool = False
) -> list[dict]:
    """Means over the D', or over targets, where a target and its complement are one unit."""
    units = np.arange(len(accuracy)) // (2 if pairs else 1)
    found = zip((*names.LENGTHS, "test accuracy (%)"), (*lengths, accuracy), strict=True)
    return [{**key, "metric": name, **metrics.summary(values, units)} for name, values in found]


def all_numbers(found: xr.Dataset) -> dict[str, FloatArray]:
    """The numbers of every attack of a game, as `numbers`."""
    group = np.array(found.attrs["others"])
    return {name: numbers(one, group) for name, one in game_scores.scored(found).items()}


def numbers(score: FloatArray, group: np.ndarray) -> FloatArray:
    """An attack's AUC in each D', pooled and record by record, (D', 2); means over both halves.

    From its scores (2, R, 2, K); `group` says which D' a record is in.
    """
    each = [[_alone(half[group == place]) for half in score] for place in np.unique(group)]
    return np.mean(each, axis=1)


def _alone(score: FloatArray) -> tuple[float, float]:
    compared = Compared(score[:, 0], score[:, 1])
    return compared.numbers(*compared.ones)


def _rows(
    key: dict[str, str], names: tuple[str, ...], each: FloatArray, **ends: float
) -> list[dict[str, Any]]:
    """Means over the D' and their intervals."""
    return [
        {**key, "metric": name, **metrics.summary(values, **ends)}
        for name, values in zip(names, each.T, strict=True)
    ]
