"""The clean game at the paper's size, by the schedule of the learning rate (iha-ctl-20).

There is one D', as large as the paper's training sets, so that the records and the models are the
units: both are drawn again with replacement, with the same draws for every attack and for both
schedules, whose models share their seeds. Models of one seed share their batches over the records,
and are drawn together. The references of the attacks that retrain are not drawn again.

The theorems suppose a constant learning rate, the paper's networks were trained with one that falls
to zero along a cosine.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from membership import attacks, signals
from membership.arrays import FloatArray
from membership.book.exhibits.tidy import tidy
from membership.book.published import Contrast
from membership.book.studies.iha import clean_game, subjects
from membership.book.studies.iha.clean_game import DIFFERENCES, METRICS, RESAMPLES
from membership.book.studies.iha.forms import KEPT
from membership.book.studies.iha.scores import Compared, Scores, iha

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RATES = dict(zip(subjects.SCHEDULES, ("falling rate (the paper's)", "constant rate"), strict=True))
FALLING, CONSTANT = RATES.values()
BETWEEN = f"{CONSTANT} less {FALLING.partition(' (')[0]}"
SAME_GRADIENT = "IHA, one gradient for all"
# What the table calls the attacks of the game, in its order.
NAMES = {
    clean_game.LOSS: "LOSS",
    "L-attack": "L-attack",
    clean_game.LIRA: "loss ratio",
    SAME_GRADIENT: SAME_GRADIENT,
    clean_game.IHA: "IHA",
    "IHA*": "IHA*",
    "residual norm": "residual norm",
    clean_game.PROJECTION: "projection",
    **{name: name for name in reversed(clean_game.ONE_SIDED)},
}
LED, PARAMETERS_LED = "IHA less loss ratio", "projection less loss ratio"
# Added once the numbers were known: whether it takes that many references. The projection's
# direction and noise stay as evidence has them, of half of all models on D'.
HALVED = f"{PARAMETERS_LED}, half of the models"
# The main effect of parameters less that of knowledge, over the two by two of Section 4.4, is the
# first; where IHA's margin over LOSS is shared out, the next two are above 0 for parameters.
ACCESS = "access less knowledge"
OVER_BLACK_BOX = "IHA's lead over the L-attack less the L-attack's over LOSS"
BY_PARAMETERS = "lead over LOSS with one gradient for all less what the others' gradient adds"
CONTRASTS = {
    "IHA less LOSS": {"IHA": 1, "LOSS": -1},
    LED: {"IHA": 1, "loss ratio": -1},
    "IHA* less loss ratio": {"IHA*": 1, "loss ratio": -1},
    "residual norm less loss ratio": {"residual norm": 1, "loss ratio": -1},
    "IHA less L-attack": {"IHA": 1, "L-attack": -1},
    PARAMETERS_LED: {"projection": 1, "loss ratio": -1},
    " less ".join(clean_game.ONE_SIDED): dict(zip(clean_game.ONE_SIDED, (1, -1), strict=True)),
    ACCESS: {SAME_GRADIENT: 1, "L-attack": -1},
    OVER_BLACK_BOX: {"IHA": 1, "LOSS": 1, "L-attack": -2},
    BY_PARAMETERS: {SAME_GRADIENT: 2, "LOSS": -1, "IHA": -1},
}


def control_20(games: Sequence[xr.Dataset]) -> pd.DataFrame:
    """iha-ctl-20: attacks of the clean game under both schedules, and paired differences."""
    draws, rows, count = drawn(games[0]), [], games[0].sizes["record"]
    parts = [_measured(game, draws) for game in games]
    key = {"dataset": games[0].attrs["set"]}
    for rate, numbers in zip(RATES.values(), parts, strict=True):
        for attack, values in numbers.items():
            rows += rows_of(key | {"schedule": rate, "attack": attack}, METRICS, values, count)
        for name, weights in CONTRASTS.items():
            values = _combined(numbers, weights)
            rows += rows_of(key | {"schedule": rate, "attack": name}, DIFFERENCES, values, count)
    gap = _combined(parts[1], CONTRASTS[LED]) - _combined(parts[0], CONTRASTS[LED])
    rows += rows_of(key | {"schedule": BETWEEN, "attack": LED}, DIFFERENCES, gap, count)
    halved = games[0].isel(replicate=slice(0, games[0].sizes["replicate"] // 2))
    values = _combined(_measured(halved, drawn(halved)), CONTRASTS[PARAMETERS_LED])
    rows += rows_of(key | {"schedule": FALLING, "attack": HALVED}, DIFFERENCES, values, count)
    return tidy(rows, clean_game.about(games[:1]))


def control_20_drawn(table: pd.DataFrame) -> "Figure":
    """Control 20: the same at the paper's size, a row of squares a schedule."""
    shown = table.assign(panel=table["schedule"].str.partition(" (")[0])
    return clean_game.squares(shown, NAMES, across=2)


def scored(game: xr.Dataset) -> Scores:
    """Scores (2, R, 2, K / 2) by the names of the table, as `clean_game.scored` has them."""
    scores = clean_game.scored(game)
    scores |= {"L-attack": _by_rank(game), SAME_GRADIENT: _one_gradient(game)}
    return {name: scores[attack] for attack, name in NAMES.items()}


def _losses(game: xr.Dataset) -> FloatArray:
    log_odds = game["answer"].values[..., 0, 0].astype(float)
    return signals.loss_of_log_odds(log_odds, game.attrs["recipe"]["loss"])


def _by_rank(game: xr.Dataset) -> FloatArray:
    """The L-attack: where a loss lies among those of reference models without the record."""
    loss, scores = _losses(game), []
    for half, played in enumerate(halves(loss)):
        repeated = np.repeat(loss[:, 0, half::2], played[0].size, axis=0).T
        scores.append(attacks.attack_r(played.ravel(), repeated).reshape(played.shape))
    return np.stack(scores)


def _one_gradient(game: xr.Dataset) -> FloatArray:
    """IHA where the gradient over the others is that over all that the model was trained on."""
    recipe, loss = game.attrs["recipe"], _losses(game)
    forms = {term: clean_game.form_of(game, 0, term) for term in KEPT["published"]}
    count = recipe["members"]
    for power in "23":
        with_z = count * forms[f"mean{power}"] + forms[f"own{power}"]
        # What D' gives stays where the model is without the record.
        forms[f"mean{power}"] = np.stack(
            [forms[f"mean{power}"][:, 0], with_z[:, 1] / (count + 1)], axis=1
        )
    flat = {term: form.ravel() for term, form in forms.items()}
    score = iha(flat, loss.ravel(), np.zeros(loss.size, bool), recipe, "IHA").score
    return halves(score.reshape(loss.shape))


@dataclass(frozen=True)
class Draws:
    """How often each record and each played model counts: as they are first, then drawn again.

    Attributes
    ----------
    records : numpy.ndarray of float, shape (draws, R)
    models : numpy.ndarray of float, shape (draws, 2, 2, K / 2)
        By half, and without or with the record: the models of one seed count alike for every
        record.
    """

    records: FloatArray
    models: FloatArray


def drawn(game: xr.Dataset) -> Draws:
    """Everything as it is, then as often as `RESAMPLES` drawn with replacement."""
    return draws_of(game.sizes["record"], game.sizes["replicate"], game.attrs["seed"])


def draws_of(count: int, models: int, seed: int, kept: int = RESAMPLES + 1) -> Draws:
    """The same of so many records and models a side; the first ones of it."""
    played, rng = models // 2, np.random.default_rng([seed, 29])
    records = rng.multinomial(count, np.full(count, 1 / count), size=RESAMPLES)
    each = rng.multinomial(played, np.full(played, 1 / played), size=(RESAMPLES, 2, 2))
    whole = np.ones((1, count)), np.ones((1, 2, 2, played))
    parts = zip(whole, (records, each), strict=True)
    return Draws(*(np.concatenate(part)[:kept] for part in parts))


def halves(score: FloatArray) -> FloatArray:
    """Scores (R, 2, K) of who needs no references, by the half that is played: (2, R, 2, K / 2)."""
    return np.stack([score[:, :, 1 - half :: 2] for half in (0, 1)])


def measured(score: FloatArray, draws: Draws) -> FloatArray:
    """AUC pooled and record by record, (draws, 2), means over the halves of scores (2, R, 2, K)."""
    numbers = []
    for place, half in enumerate(score):
        without, having = draws.models[:, place].swapaxes(0, 1)
        shared = np.repeat(having[:, None], len(half), axis=1)
        numbers.append(Compared(half[:, 0], half[:, 1]).numbers(draws.records, shared, without))
    return np.mean(numbers, axis=0)


def _measured(game: xr.Dataset, draws: Draws) -> dict[str, FloatArray]:
    return {name: measured(score, draws) for name, score in scored(game).items()}


def _combined(numbers: dict[str, FloatArray], weights: dict[str, int]) -> FloatArray:
    return sum((weight * numbers[name] for name, weight in weights.items()), np.zeros(()))


def rows_of(
    key: dict[str, Any], names: Sequence[str], values: FloatArray, count: int
) -> list[dict[str, Any]]:
    """One row a metric (draws, metrics): the number as it is, its error that of the draws."""
    rows = []
    for name, (value, *redrawn) in zip(names, values.T.tolist(), strict=True):
        contrast = Contrast(name, value, float(np.std(redrawn, ddof=1)), count - 1.0, count)
        low, high = contrast.low, contrast.high
        if name in METRICS:
            low, high = np.quantile(redrawn, [0.025, 0.975])
        row = {**key, "metric": name, "value": value, "low": low, "high": high}
        row["standard_error"] = contrast.standard_error
        rows.append({**row, "degrees_of_freedom": count - 1.0, "n_repeats": count})
    return rows
