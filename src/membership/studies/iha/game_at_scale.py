"""The clean game at scale: outputs or parameters, with or without retraining, paired."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy.stats import norm

from membership import metrics
from membership.arrays import FloatArray
from membership.exhibits.tidy import tidy
from membership.published import Contrast
from membership.studies.iha import game_scores, names
from membership.studies.iha.game import COUNTED, METRICS, PAIRED, Compared

RESAMPLES = 400
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
)
DIFFERENCES = tuple(f"{PAIRED}, {word}" for word in COUNTED)


@dataclass(frozen=True)
class Numbers:
    """One attack's AUC, pooled and record by record.

    Attributes
    ----------
    value : numpy.ndarray, shape (2,)
    under : numpy.ndarray, shape (resamples, 2)
        Under resamples of records and models, the same for every attack.
    each : numpy.ndarray, shape (D', 2)
        Among the records of one D'.
    """

    value: FloatArray
    under: FloatArray
    each: FloatArray

    def less(self, other: "Numbers") -> "Numbers":
        """The difference of two attacks, draw by draw."""
        return Numbers(self.value - other.value, self.under - other.under, self.each - other.each)


def games(source: Any) -> list[xr.Dataset]:
    """The evidence of every game of a run."""
    return [source.evidence(name) for name in names.files(names.GAME, names.games(source.settings))]


def four(some: list[xr.Dataset], settings: Any) -> pd.DataFrame:
    """iha-ctl-14: the four adversaries, and attacks less each other."""
    rows = []
    for found in some:
        each = all_numbers(found, settings.seed)
        for name, attack in CELLS.items():
            key = {"dataset": found.attrs["set"], "attack": name}
            rows += _attack(key, each[attack], found.sizes["record"])
        for first, second in CONTRASTS:
            name = f"{SHORT.get(first, first)} less {SHORT.get(second, second)}"
            key = {"dataset": found.attrs["set"], "attack": name}
            rows += _difference(key, each[first].less(each[second]), found.sizes["record"])
    return tidy(rows, game_scores.about(some))


def every_attack(some: list[xr.Dataset], settings: Any) -> pd.DataFrame:
    """iha-ctl-15: every attack of the game, in the order of what it reads."""
    rows = []
    for found in some:
        for attack, number in all_numbers(found, settings.seed).items():
            reads, retrains = game_scores.FROM[attack]
            key = {"attack": attack, "reads": f"{reads}{', retrained' if retrains else ''}"}
            for row, word in zip(_attack(key, number, found.sizes["record"]), COUNTED, strict=True):
                rows.append({**row, "series": f"{found.attrs['set']}, {word}"})
    columns = ["attack", "reads", "series", "metric", "value", "low", "high", "n_repeats"]
    made = pd.DataFrame(rows)[columns]
    made.attrs = game_scores.about(some)
    return made


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


def all_numbers(found: xr.Dataset, seed: int) -> dict[str, Numbers]:
    """The numbers of every attack of a game."""
    group = np.array(found.attrs["others"])
    return {name: numbers(one, group, seed) for name, one in game_scores.scored(found).items()}


def numbers(score: FloatArray, group: np.ndarray, seed: int) -> Numbers:
    """An attack's numbers from its scores (2, R, 2, K); `group` says which D' a record is in.

    Records are drawn within their D', and so are models: those on D', which its records share, and
    the seeds of those on D' + z, which its records share too, since their batches are the same.
    """
    halves = [Compared(half[:, 0], half[:, 1]) for half in score]
    rng = np.random.default_rng([seed, 43])
    count = score.shape[-1]
    under = []
    for _ in range(RESAMPLES):
        w = _drawn(rng, np.bincount(group))
        parts = [one.numbers(w, *_models(rng, group, count)) for one in halves]
        under.append(np.mean(parts, axis=0))
    each = [
        np.mean([_alone(half[group == place]) for half in score], axis=0)
        for place in np.unique(group)
    ]
    value = np.mean([one.numbers(*one.ones) for one in halves], axis=0)
    return Numbers(value, np.array(under), np.array(each))


def _alone(score: FloatArray) -> tuple[float, float]:
    compared = Compared(score[:, 0], score[:, 1])
    return compared.numbers(*compared.ones)


def _drawn(rng: np.random.Generator, sizes: np.ndarray) -> np.ndarray:
    """How often each record is drawn, D' by D'; the records of a D' lie together."""
    return np.concatenate([rng.multinomial(size, np.full(size, 1 / size)) for size in sizes])


def _models(rng: np.random.Generator, group: np.ndarray, count: int) -> tuple[np.ndarray, ...]:
    """How often each model counts for each record, with and without it, shape (R, K) each."""
    drawn = rng.multinomial(count, np.full(count, 1 / count), size=(2, group.max() + 1))
    return tuple(side[group] for side in drawn)


def _attack(key: dict[str, str], found: Numbers, records: int) -> list[dict[str, Any]]:
    low, high = np.quantile(found.under, [0.025, 0.975], axis=0)
    rows = zip(METRICS, found.value, low, high, strict=True)
    return [
        {**key, "metric": m, "value": v, "low": a, "high": b, "n_repeats": records}
        for m, v, a, b in rows
    ]


def _difference(key: dict[str, str], found: Numbers, records: int) -> list[dict[str, Any]]:
    """Rows of a paired difference, with the interval that has the D' as its units beside it."""
    rows = []
    for place, metric in enumerate(DIFFERENCES):
        error = float(np.std(found.under[:, place], ddof=1))
        one = Contrast("", float(found.value[place]), error, records - 1.0, records)
        sets = Contrast.of_units(found.each[:, place], "")
        rows.append(
            {
                **key,
                "metric": metric,
                "value": one.difference,
                "low": one.low,
                "high": one.high,
                "standard_error": one.standard_error,
                "degrees_of_freedom": one.degrees_of_freedom,
                "n_repeats": records,
                "mean over D'": sets.difference,
                "low over D'": sets.low,
                "high over D'": sets.high,
            }
        )
    return rows
