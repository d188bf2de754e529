"""The clean game: D' and z are fixed, a coin is flipped, and a model trained on D' or D' + z.

No score can read the coin here. The gradient over the others is that over D', whatever the model
was trained on, and so is the Hessian. Adversaries differ in what they look at only: parameters
without retraining, or outputs, with models of their own retrained on D' and on D' + z.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from membership import attacks
from membership.arrays import BoolArray, FloatArray
from membership.exhibits.tidy import tidy
from membership.published import Contrast
from membership.studies.iha import scores as of
from membership.studies.iha.experiment import Experiment, origin_of

RESAMPLES = 400
METRICS = ("AUC", "AUC, record by record")
WHITE = ("IHA", "IHA*", "IHA, identity", "residual norm", "residual cosine", "SIF")
NORM = "norm of the others' gradient"
# What the page's table leaves out: other tables have it.
ELSEWHERE = ("LiRA-L, two-sided", "residual cosine")
PAIRED = "AUC, paired difference"
# One attack less another, and which of `METRICS` (in words: pooled, or record by record).
COUNTED = ("pooled", "record by record")
CONTRASTS = (
    ("IHA", "LOSS", 0),
    ("IHA", "LOSS", 1),
    ("IHA*", "IHA", 0),
    ("IHA", "IHA, identity", 0),
    ("LiRA-L, online", "IHA", 0),
    ("LiRA-L, online", "IHA", 1),
)

Scores = dict[str, FloatArray]


def play(some: Sequence[Experiment], settings: Any) -> pd.DataFrame:
    """iha-ctl-5: every attack in the clean game, and the norm that a per-model curve rewards.

    Half of the models retrained on D' and on D' + z are played for; the other half are the
    references of the attacks that need some. After the attacks, their paired differences.
    """
    found = []
    for experiment in some:
        scores, trained_on = scored(experiment)
        for name in [one for one in scores if one not in ELSEWHERE]:
            score = scores[name]
            key = {"dataset": experiment.label, "attack": name}
            found += _numbers(key, score, trained_on, settings.seed)
        for first, second, place in CONTRASTS:
            name = f"{first} less {second}, {COUNTED[place]}"
            one = _less(scores, trained_on, first, second, settings.seed, place)
            key = {"dataset": experiment.label, "attack": name, "metric": PAIRED}
            ends = {"low": one.low, "high": one.high, "n_repeats": one.units}
            found.append({**key, "value": one.difference, **ends})
    return tidy(found, origin_of(some))


def scored(experiment: Experiment) -> tuple[dict[str, FloatArray], BoolArray]:
    """Scores of every played model for its record."""
    half = experiment.groups["with"].shape[1] // 2
    out = experiment.groups["targets"][:half]
    parts = [
        _black(experiment, z, out, experiment.groups["with"][r], half)
        for r, z in enumerate(experiment.outside)
    ]
    scores = {name: np.stack([part[name] for part in parts]) for name in parts[0]}
    trained_on = np.repeat([False, True], [half, half])
    return {**scores, **_white(experiment, out, half)}, trained_on


def _black(
    experiment: Experiment, z: int, out: np.ndarray, retrained: np.ndarray, half: int
) -> Scores:
    """Attacks on outputs: for each played model the score of the one record z."""
    played = np.concatenate([out, retrained[half : 2 * half]])
    references = [experiment.groups["references"], retrained[:half]]
    seen = np.repeat([False, True], [len(group) for group in references])
    phi, loss = experiment.scaled[:, z], experiment.loss[:, z]
    of_target, count = phi[played], len(played)

    def repeated(rows: np.ndarray, signal: FloatArray) -> FloatArray:
        return np.repeat(signal[rows][:, None], count, axis=1)

    outside = repeated(references[0], phi)
    every = repeated(np.concatenate(references), phi)
    member = np.repeat(seen[:, None], count, axis=1)
    return {
        "LOSS": attacks.malt(loss[played]),
        "L-attack": attacks.attack_r(loss[played], repeated(references[0], loss)),
        "LiRA-L, one-sided": attacks.lira(of_target, outside, mode="offline"),
        "LiRA-L, two-sided": attacks.lira(of_target, outside, mode="offline", sided="two"),
        "LiRA-L, online": attacks.lira(of_target, every, member),
    }


def _white(experiment: Experiment, out: np.ndarray, half: int) -> Scores:
    """Attacks on parameters, shape (R, models) each."""
    retrained = experiment.groups["with"][:, half : 2 * half]
    # A model trained on D' is asked about every z, one trained on D' + z about that one.
    every = [_of_model(experiment, model, experiment.outside) for model in out]
    own = [
        [_of_model(experiment, model, experiment.outside[[r]]) for model in models]
        for r, models in enumerate(retrained)
    ]
    return {
        name: np.concatenate(
            [
                np.stack([part[name] for part in every], axis=1),
                np.array([[part[name][0] for part in parts] for parts in own]),
            ],
            axis=1,
        )
        for name in (*WHITE, NORM)
    }


def _of_model(experiment: Experiment, model: int, z: np.ndarray) -> Scores:
    """Scores of some records for one model, with D' as the training set whatever it was."""
    recipe, nobody = experiment.outputs.attrs["recipe"], np.zeros(len(z), bool)
    forms, norm = experiment.white_box(model, z)
    found = of.white_box(forms, norm, experiment.loss[model, z], nobody, recipe)
    return {**{name: found[name] for name in WHITE}, NORM: np.full(len(z), norm[0])}


def record_by_record(score: FloatArray, trained_on: BoolArray) -> FloatArray:
    """The AUC of one attack among the models of each record."""
    compared = Compared(score[:, ~trained_on], score[:, trained_on])
    return compared.same.mean(axis=(1, 2))


def difference(experiment: Experiment, first: str, second: str, seed: int) -> Contrast:
    """AUC of one attack less another, records pooled.

    Both attacks see the same draws of records and models.
    """
    return _less(*scored(experiment), first, second, seed)


def _less(
    scores: Scores, trained_on: BoolArray, first: str, second: str, seed: int, place: int = 0
) -> Contrast:
    """One attack less another by one of `METRICS`; the records are the units."""
    some = [
        Compared(scores[name][:, ~trained_on], scores[name][:, trained_on])
        for name in (first, second)
    ]
    a, b = (one.numbers(*one.ones)[place] for one in some)
    draws = [
        some[0].numbers(*weights)[place] - some[1].numbers(*weights)[place]
        for weights in some[0].redrawn(seed)
    ]
    count = len(scores[first])
    label = f"AUC of {first} less {second}, {COUNTED[place]}"
    return Contrast(label, a - b, float(np.std(draws, ddof=1)), count - 1.0, count)


def _numbers(key: dict[str, str], score: FloatArray, trained_on: BoolArray, seed: int) -> list:
    """Rows of one attack: pooled over the records, and record by record."""
    compared = Compared(score[:, ~trained_on], score[:, trained_on])
    draws = [compared.numbers(*weights) for weights in compared.redrawn(seed)]
    low, high = np.quantile(draws, [0.025, 0.975], axis=0)
    count = len(score)
    return [
        {**key, "metric": metric, "value": v, "low": a, "high": b, "n_repeats": count}
        for metric, v, a, b in zip(
            METRICS, compared.numbers(*compared.ones), low, high, strict=True
        )
    ]


class Compared:
    """AUC of one attack when records and models count with weights, as in a bootstrap.

    Two records drawn from a bootstrap sample can be one and the same, which compares models on
    one record more often than the game does. Pairs of the same record and pairs of different
    records are therefore kept apart, and each keeps the share that it has among all records.

    Parameters
    ----------
    out, ins : ndarray of shape (R, K)
        Scores of the models trained on D', which all records share, and on D' + z.

    Notes
    -----
    The weights of the models on D' are one a model, or (R, K) where records have different D'.
    """

    def __init__(self, out: FloatArray, ins: FloatArray) -> None:
        self.out, self.ins = out, ins
        lower, equal = ins[:, :, None] > out[:, None], ins[:, :, None] == out[:, None]
        self.same = lower + 0.5 * equal
        self.order = np.argsort(out, axis=None)
        ranked = out.ravel()[self.order]
        self.below = [np.searchsorted(ranked, ins, side) for side in ("left", "right")]

    @property
    def ones(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The weights of everything as it is."""
        count, n_out = self.out.shape
        return np.ones(count), np.ones((count, self.ins.shape[1])), np.ones(n_out)

    def redrawn(self, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Weights of records, of the models of each, and of the models that all share."""
        rng = np.random.default_rng([seed, 23])
        count, n_out = self.out.shape
        n_in = self.ins.shape[1]
        for _ in range(RESAMPLES):
            yield (
                rng.multinomial(count, np.full(count, 1 / count)),
                rng.multinomial(n_in, np.full(n_in, 1 / n_in), size=count),
                rng.multinomial(n_out, np.full(n_out, 1 / n_out)),
            )

    def numbers(self, w: np.ndarray, v: np.ndarray, u: np.ndarray) -> tuple[float, float]:
        """AUC of all records pooled, and the mean over records."""
        v, u, count = v / v.sum(1, keepdims=True), np.broadcast_to(u, self.out.shape), len(w)
        u = u / u.sum(1, keepdims=True)
        own = np.einsum("rij,ri,rj->r", self.same, v, u)
        each = float(w @ own / w.sum())
        pairs = w.sum() ** 2 - w @ w
        if not pairs:
            return each, each
        below = np.concatenate([[0.0], np.cumsum((w[:, None] * u).ravel()[self.order])])
        won = 0.5 * sum(below[index] for index in self.below)
        different = ((w[:, None] * v * won).sum() - w**2 @ own) / pairs
        return float(each / count + (1 - 1 / count) * different), each
