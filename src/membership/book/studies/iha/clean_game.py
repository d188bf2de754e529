"""The clean game at scale: outputs or parameters, with or without retraining, paired.

D' and z are fixed, a coin is flipped, and a model trained on D' or D' + z. No score can read the
coin here: the gradient over the others is that over D', whatever the model was trained on, and so
is the Hessian. Adversaries differ in what they look at only: parameters without retraining, or
outputs, with models of their own retrained on D' and on D' + z.

The models of a record are halved: those of one half are played, the other half are the references
of the attacks that retrain; then the halves change places. Nothing here reads on which side a
played model is: the side is a place in an array, and each model is scored in the same way.

The sets D' are the units: the records of one share all its models without them, and the seeds of
those with them. Pooled, there is one threshold for all records of a D'.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy.stats import norm

from membership import attacks, plots, signals
from membership.arrays import FloatArray
from membership.book.exhibits.rows import of_each
from membership.book.exhibits.sentences import joined
from membership.book.exhibits.tidy import tidy
from membership.book.studies.iha import subjects
from membership.book.studies.iha.forms import KEPT
from membership.book.studies.iha.scores import NORM, PAIRED, Compared, Scores, signs, white_box

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RESAMPLES = 400
READINGS = {"AUC": "one threshold for all", "AUC, record by record": "record by record"}
METRICS = tuple(READINGS)
WHITE = ("IHA", "IHA*", "IHA, identity", "residual norm", "residual cosine", "SIF")
# One attack less another, and which of `METRICS` (in words: pooled, or record by record).
COUNTED = ("pooled", "record by record")


# Which of two things each attack reads, and whether it retrains.
OUTPUTS, PARAMETERS = "outputs", "parameters"
FROM = {
    "LOSS": (OUTPUTS, False),
    "loss ratio, two variances": (OUTPUTS, True),
    "loss ratio, one variance": (OUTPUTS, True),
    "LiRA-L, one-sided": (OUTPUTS, True),
    **dict.fromkeys((*WHITE, NORM), (PARAMETERS, False)),
    "projection, damping": (PARAMETERS, True),
    "projection, fitted noise": (PARAMETERS, True),
    "projection and log-odds": (PARAMETERS, True),
    "projection, one-sided": (PARAMETERS, True),
}

# The inverses of `white_box.main`, in short and in their order.
INVERSES = ("published", "regularised", "identity")


def scored(game: xr.Dataset) -> Scores:
    """Scores by attack (see `FROM`), shape (2, R, 2, K / 2), from the evidence called pairs-game.

    The half that is played, the record, without or with it, the model.
    """
    log_odds = game["answer"].values[..., 0, 0].astype(float)
    white = _white(game, log_odds)
    projected = {
        "projection, damping": _projections(game, game["inverse"].values[0]),
        "projection, fitted noise": _projections(game, subjects.FITTED),
    }
    halves = [_of_half(half, log_odds, white, projected) for half in (0, 1)]
    return {name: np.stack([scores[name] for scores in halves]) for name in FROM}


def _of_half(half: int, log_odds: FloatArray, white: Scores, projected: Scores) -> Scores:
    """The scores of the models that are no references: `half` is that of the references."""

    def split(signal: FloatArray) -> tuple[FloatArray, FloatArray]:
        return signal[:, :, 1 - half :: 2], signal[:, :, half::2]

    played, references = split(log_odds)
    projections = {name: split(values[half]) for name, values in projected.items()}
    fitted = projections["projection, fitted noise"]
    pairs = zip(projections["projection, damping"], (played, references), strict=True)
    joint = [np.stack(pair, -1) for pair in pairs]
    return {
        **{name: split(score)[0] for name, score in white.items()},
        "loss ratio, two variances": _lira(played, references),
        "loss ratio, one variance": likelihood_ratio(played[..., None], references[..., None]),
        **{
            name: likelihood_ratio(a[..., None], b[..., None])
            for name, (a, b) in projections.items()
        },
        "projection and log-odds": likelihood_ratio(*joint),
        "LiRA-L, one-sided": above(played, references[:, 0]),
        "projection, one-sided": above(fitted[0], fitted[1][:, 0]),
    }


def likelihood_ratio(played: FloatArray, references: FloatArray) -> FloatArray:
    """Log-likelihood ratio of two normal laws with one covariance, fitted record by record.

    m signals (R, sides, K, m) of the models asked, those without the record before those with it
    among the references; ratios (R, sides, K), of with to without.
    """
    mean = references.mean(2)
    rest = references - mean[:, :, None]
    count = 2 * (references.shape[2] - 1)
    covariance = np.einsum("rski,rskj->rij", rest, rest) / count
    move = mean[:, 1] - mean[:, 0]
    # The pseudo-inverse, for a signal that does not vary.
    along = np.einsum("rij,rj->ri", np.linalg.pinv(covariance, hermitian=True), move)
    middle = mean.mean(1)[:, None, None]
    return np.einsum("rski,ri->rsk", played - middle, along)


def above(played: FloatArray, without: FloatArray) -> FloatArray:
    """How many standard deviations a signal (R, sides, K) lies above models without the record."""
    mean, spread = without.mean(1), without.std(1, ddof=1)
    return (played - mean[:, None, None]) / spread[:, None, None]


def _lira(played: FloatArray, references: FloatArray) -> FloatArray:
    """The registered attack: each side has a variance of its own."""
    count, k = len(played), references.shape[2]
    answers = played.reshape(count, -1)
    repeated = np.repeat(references.reshape(count, 1, 2 * k), answers.shape[1], axis=1)
    seen = np.repeat([False, True], k)[:, None]
    reference = repeated.reshape(-1, 2 * k).T
    member = np.broadcast_to(seen, reference.shape)
    return attacks.lira(answers.ravel(), reference, member).reshape(played.shape)


def _white(game: xr.Dataset, log_odds: FloatArray) -> Scores:
    """Attacks without retraining, shape (R, 2, K) each; D' is the training set whatever it was."""
    recipe = game.attrs["recipe"]
    loss = signals.loss_of_log_odds(log_odds, recipe["loss"])
    forms = {
        name: {term: form_of(game, place, term).ravel() for term in KEPT[name]}
        for place, name in enumerate(INVERSES)
    }
    norm = np.stack([form_of(game, 2, name).ravel() for name in subjects.NORMS])
    nobody = np.zeros(loss.size, bool)
    scores = white_box(forms, norm, loss.ravel(), nobody, recipe)
    shaped = {name: scores[name].reshape(loss.shape) for name in WHITE}
    return {
        "LOSS": attacks.malt(loss.ravel()).reshape(loss.shape),
        **shaped,
        NORM: norm[0].reshape(loss.shape),
    }


def _projections(game: xr.Dataset, inverse: str) -> FloatArray:
    """Projections (2, R, 2, K), by the half of the models that the direction was found with."""
    place = game["inverse"].values.tolist().index(inverse)
    return np.stack([form_of(game, place, name) for name in subjects.PROJECTED])


def form_of(game: xr.Dataset, place: int, term: str) -> FloatArray:
    """One term of the forms under one inverse, (R, 2, K)."""
    at = game["term"].values.tolist().index(term)
    return game["form"].values[:, :, :, place, at].astype(float)


def about(games: Sequence[xr.Dataset]) -> dict[str, Any]:
    """What a table made from these games says about its origin."""
    sizes = {game.attrs["set"]: size(game) for game in games}
    return {
        "data": {name: digest for game in games for name, digest in game.attrs["data"].items()},
        "deviations": [f"{name}: {text}" for name, text in sizes.items()],
        "sizes": sizes,
        "device": games[0].attrs["device"],
    }


def size(game: xr.Dataset) -> str:
    """The size of a game in words."""
    recipe, records, models = game.attrs["recipe"], game.sizes["record"], game.sizes["replicate"]
    count = len(set(game.attrs["others"]))
    sets = f"{count} sets D', the units" if count > 1 else "one set D'"
    return (
        f"{recipe['members']:,} training records, {sets}, {records} records played for, {models} "
        "models a side, each played once with half of the others as references"
    )


# One attack for each of the four adversaries, chosen before any result was seen. Those that retrain
# fit normal laws with one variance a record, to log-odds or to the projection.
LOSS, LIRA, IHA, PROJECTION = "LOSS", "loss ratio, one variance", "IHA", "projection, fitted noise"
SHORT = {LIRA: "loss ratio", PROJECTION: "projection"}
# What each sees, and what it trains.
CELLS = {
    LOSS: ("outputs", "not retrained"),
    LIRA: ("outputs", "retrained"),
    IHA: ("parameters", "not retrained"),
    PROJECTION: ("parameters", "retrained"),
}
NAMES = {
    attack: f"{sees}, {trains}: {SHORT.get(attack, attack)}"
    for attack, (sees, trains) in CELLS.items()
}
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


def four(games: list[xr.Dataset]) -> pd.DataFrame:
    """iha-ctl-14: the four adversaries, and attacks less each other."""
    rows = []
    for game in games:
        by_attack, key = all_numbers(game), {"dataset": game.attrs["set"]}
        members = {"training_records": game.attrs["recipe"]["members"]}
        entries = []
        for attack, name in NAMES.items():
            entries += _rows(
                {**key, "attack": name}, METRICS, by_attack[attack], lowest=0.0, highest=1.0
            )
        for first, second in CONTRASTS:
            name = f"{SHORT.get(first, first)} less {SHORT.get(second, second)}"
            apart = by_attack[first] - by_attack[second]
            entries += _rows({**key, "attack": name}, DIFFERENCES, apart)
        rows += [row | members for row in entries]
    return tidy(rows, about(games))


def four_said(table: pd.DataFrame) -> str:
    """Where retraining with outputs only is ahead of parameters without it, by one threshold."""
    pooled = table[table["metric"] == DIFFERENCES[0]]
    leads = pooled[pooled["attack"] == "loss ratio less IHA"]
    return f"AUC of the loss ratio less IHA, one threshold for all records: {signs(leads)}."


def four_drawn(table: pd.DataFrame) -> "Figure":
    """Control 14: what is looked at against whether models are retrained, by colour."""
    return squares(table.assign(panel=table["dataset"]), NAMES)


def squares(table: pd.DataFrame, names: dict[str, str], across: int = 0) -> "Figure":
    """Squares of the four adversaries: with one threshold, and record by record."""
    attacks = {names[attack]: attack for attack in CELLS}
    shown = table[table["metric"].isin(READINGS) & table["attack"].isin(attacks)]
    shown = shown.assign(attack=shown["attack"].map(attacks))
    shown = shown.assign(
        sees=[CELLS[attack][0] for attack in shown["attack"]],
        trains=[CELLS[attack][1].replace(" ", "\n") for attack in shown["attack"]],
        attack=shown["attack"].replace(SHORT),
        panel=shown["panel"] + ",\n" + shown["metric"].map(READINGS),
    )
    interval = "[" + shown["low"].map("{:.2f}".format) + ", " + shown["high"].map("{:.2f}".format)
    shown["text"] = shown["attack"] + "\n" + shown["value"].map("{:.2f}".format)
    shown["text"] += "\n" + interval + "]"
    return plots.heat_maps(
        shown, "sees", "trains", panel="panel", bottom=0.5, top=0.9, turned=False, across=across
    )


def every_attack(games: list[xr.Dataset]) -> pd.DataFrame:
    """iha-ctl-15: every attack of the game, in the order of what it reads."""
    rows = []
    for game in games:
        for attack, values in all_numbers(game).items():
            reads, retrains = FROM[attack]
            key = {"attack": attack, "reads": f"{reads}{', retrained' if retrains else ''}"}
            entries = _rows(key, METRICS, values, lowest=0.0, highest=1.0)
            for row, word in zip(entries, COUNTED, strict=True):
                rows.append({**row, "series": f"{game.attrs['set']}, {word}"})
    columns = ["attack", "reads", "series", "metric", "value", "low", "high", "n_repeats"]
    table = pd.DataFrame(rows)[columns]
    table.attrs = about(games)
    return table


def every_attack_said(table: pd.DataFrame) -> str:
    """Which attack has the highest AUC in how many settings."""
    best = table.loc[table.groupby("series", sort=False)["value"].idxmax(), "attack"]
    parts = [f"{attack} in {n}" for attack, n in best.value_counts().items()]
    return f"The highest AUC of {len(best)} settings: {joined(parts)}."


def convergence(
    games: list[xr.Dataset], answers: list[xr.Dataset], lengths_of: list[xr.Dataset]
) -> pd.DataFrame:
    """iha-ctl-16: how far the models of the game have converged, beside those of Table 2."""
    rows = []
    for game in games:
        side = game["form"].sel(inverse="identity", side="without")
        # The models on D' are the same for all of its records.
        first = np.unique(game.attrs["others"], return_index=True)[1]
        lengths = [
            side.sel(term=name).values[first].astype(float).mean(1) for name in subjects.NORMS
        ]
        key = {"dataset": game.attrs["set"], "models": "clean game, models on D'"}
        rows += _over(key, lengths, game["accuracy"].values.mean(1))
        rows += [{**key, **row} for row in _expected(game)]
    for outputs, forms in zip(answers, lengths_of, strict=True):
        key = {"dataset": forms.attrs["set"], "models": "Table 2"}
        accuracy = outputs["test_accuracy"].values[forms["target"].values]
        rows += _over(key, list(forms["norm"].values.T), accuracy, pairs=True)
    return tidy(rows, about(games))


def _expected(game: xr.Dataset) -> list[dict[str, Any]]:
    """Record by record, the AUC of outputs and of parameters in a linear theory: means over D'."""
    law = game["form"].sel(inverse=subjects.FITTED, side="without").isel(replicate=0)
    group = np.array(game.attrs["others"])
    pair = [norm.cdf(law.sel(term=name).values / np.sqrt(2)) for name in subjects.EXPECTED]
    aucs = {"parameters": pair[0], "outputs": pair[1], "parameters less outputs": pair[0] - pair[1]}
    by_set = {
        f"AUC expected of {name}": [auc[group == place].mean() for place in np.unique(group)]
        for name, auc in aucs.items()
    }
    return of_each({}, "metric", by_set)


def _over(
    key: dict[str, str], lengths: list[FloatArray], accuracy: FloatArray, pairs: bool = False
) -> list[dict]:
    """Means over the D', or over targets, where a target and its complement are one unit."""
    units = np.arange(len(accuracy)) // (2 if pairs else 1)
    series = zip((*subjects.LENGTHS, "test accuracy (%)"), (*lengths, accuracy), strict=True)
    return of_each(key, "metric", dict(series), units=units)


def all_numbers(game: xr.Dataset) -> dict[str, FloatArray]:
    """The numbers of every attack of a game, as `numbers`."""
    group = np.array(game.attrs["others"])
    return {name: numbers(score, group) for name, score in scored(game).items()}


def numbers(score: FloatArray, group: np.ndarray) -> FloatArray:
    """An attack's AUC in each D', pooled and record by record, (D', 2); means over both halves.

    From its scores (2, R, 2, K); `group` says which D' a record is in.
    """
    aucs = [[_alone(half[group == place]) for half in score] for place in np.unique(group)]
    return np.mean(aucs, axis=1)


def _alone(score: FloatArray) -> FloatArray:
    compared = Compared(score[:, 0], score[:, 1])
    return compared.numbers(*compared.ones)


def _rows(
    key: dict[str, str], names: tuple[str, ...], by_group: FloatArray, **ends: float
) -> list[dict[str, Any]]:
    """Means over the D' and their intervals."""
    return of_each(key, "metric", dict(zip(names, by_group.T, strict=True)), **ends)
