"""Every attack's scores in the clean game at scale, from evidence alone.

The models of a record are halved: those of one half are played, the other half are the references
of the attacks that retrain; then the halves change places. Nothing here reads on which side a
played model is: the side is a place in an array, and each model is scored in the same way.
"""

from typing import Any

import numpy as np
import xarray as xr

from membership import attacks, signals
from membership.arrays import FloatArray
from membership.studies.iha import names
from membership.studies.iha import scores as of
from membership.studies.iha.game import NORM, WHITE
from membership.studies.iha.white_box import KEPT

# Which of two things each attack reads, and whether it retrains.
OUTPUTS, PARAMETERS = "outputs", "parameters"
FROM = {
    "LOSS": (OUTPUTS, False),
    "LiRA-L, online": (OUTPUTS, True),
    "LiRA-L, one variance": (OUTPUTS, True),
    "LiRA-L, one-sided": (OUTPUTS, True),
    **dict.fromkeys((*WHITE, NORM), (PARAMETERS, False)),
    "projection, damping": (PARAMETERS, True),
    "projection, fitted noise": (PARAMETERS, True),
    "projection and log-odds": (PARAMETERS, True),
    "projection, one-sided": (PARAMETERS, True),
}

# The inverses of `white_box.main`, in short and in their order.
INVERSES = ("published", "regularised", "identity")

Scores = dict[str, FloatArray]


def scored(found: xr.Dataset) -> Scores:
    """Scores by attack (see `FROM`), shape (2, R, 2, K / 2), from the evidence called pairs-game.

    The half that is played, the record, without or with it, the model.
    """
    log_odds = found["answer"].values[..., 0, 0].astype(float)
    white = _white(found, log_odds)
    projected = {
        "projection, damping": _projections(found, found["inverse"].values[0]),
        "projection, fitted noise": _projections(found, names.FITTED),
    }
    halves = [_of_half(half, log_odds, white, projected) for half in (0, 1)]
    return {name: np.stack([one[name] for one in halves]) for name in FROM}


def _of_half(half: int, log_odds: FloatArray, white: Scores, projected: Scores) -> Scores:
    """The scores of the models that are no references: `half` is that of the references."""

    def split(signal: FloatArray) -> tuple[FloatArray, FloatArray]:
        return signal[:, :, 1 - half :: 2], signal[:, :, half::2]

    played, references = split(log_odds)
    one = {name: split(values[half]) for name, values in projected.items()}
    fitted = one["projection, fitted noise"]
    pairs = zip(one["projection, damping"], (played, references), strict=True)
    both = [np.stack(pair, -1) for pair in pairs]
    return {
        **{name: split(score)[0] for name, score in white.items()},
        "LiRA-L, online": _lira(played, references),
        "LiRA-L, one variance": likelihood_ratio(played[..., None], references[..., None]),
        **{name: likelihood_ratio(a[..., None], b[..., None]) for name, (a, b) in one.items()},
        "projection and log-odds": likelihood_ratio(*both),
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
    asked = played.reshape(count, -1)
    every = np.repeat(references.reshape(count, 1, 2 * k), asked.shape[1], axis=1)
    seen = np.repeat([False, True], k)[:, None]
    reference = every.reshape(-1, 2 * k).T
    member = np.broadcast_to(seen, reference.shape)
    return attacks.lira(asked.ravel(), reference, member).reshape(played.shape)


def _white(found: xr.Dataset, log_odds: FloatArray) -> Scores:
    """Attacks without retraining, shape (R, 2, K) each; D' is the training set whatever it was."""
    recipe = found.attrs["recipe"]
    loss = signals.loss_of_log_odds(log_odds, recipe["loss"])
    forms = {
        name: {term: _form(found, place, term).ravel() for term in KEPT[name]}
        for place, name in enumerate(INVERSES)
    }
    norm = np.stack([_form(found, 2, name).ravel() for name in names.NORMS])
    nobody = np.zeros(loss.size, bool)
    scores = of.white_box(forms, norm, loss.ravel(), nobody, recipe)
    shaped = {name: scores[name].reshape(loss.shape) for name in WHITE}
    return {
        "LOSS": attacks.malt(loss.ravel()).reshape(loss.shape),
        **shaped,
        NORM: norm[0].reshape(loss.shape),
    }


def _projections(found: xr.Dataset, inverse: str) -> FloatArray:
    """Projections (2, R, 2, K), by the half of the models that the direction was found with."""
    place = found["inverse"].values.tolist().index(inverse)
    return np.stack([_form(found, place, name) for name in names.PROJECTED])


def _form(found: xr.Dataset, place: int, term: str) -> FloatArray:
    at = found["term"].values.tolist().index(term)
    return found["form"].values[:, :, :, place, at].astype(float)


def about(some: list[xr.Dataset]) -> dict[str, Any]:
    """What a table made from these games says about its origin."""
    sizes = {one.attrs["set"]: size(one) for one in some}
    return {
        "data": {name: digest for one in some for name, digest in one.attrs["data"].items()},
        "deviations": [f"{name}: {text}" for name, text in sizes.items()],
        "sizes": sizes,
        "device": some[0].attrs["device"],
    }


def size(found: xr.Dataset) -> str:
    """The size of a game in words."""
    recipe, records, models = found.attrs["recipe"], found.sizes["record"], found.sizes["replicate"]
    sets = len(set(found.attrs["others"]))
    return (
        f"{recipe['members']:,} training records, {sets} sets D', the units, {records} records "
        f"played for, {models} models a side, each played once with half of the others as "
        "references"
    )
