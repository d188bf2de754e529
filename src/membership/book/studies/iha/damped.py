"""What the models of the clean game at the paper's size say under many dampings, and elsewhere.

Every model is scored by IHA and IHA* at each of `DAMPINGS` and, as the theorem has it, undamped,
along those directions in which the curvature is above twice the weight decay. One Hessian over D'
serves all models, that at the mean of the models on D'; iha-ctl-20, at one damping, has each
model's own. And each model is asked about further records of D'.

The scores would be larger than all other evidence of the chapter. Kept is what exhibits read of
them: numbers of each score over everything as it is, and over records and models drawn again as
for iha-ctl-20.
"""

import functools
from dataclasses import asdict

import numpy as np
import torch
import xarray as xr

from membership import evidence
from membership.arrays import FloatArray
from membership.attacks.iha import iha_terms
from membership.book.studies.iha import (
    further_records,
    neighbours,
    probability,
    subjects,
    whole_game,
)
from membership.book.studies.iha.neighbours import Game, Logistic
from membership.book.studies.iha.noise import TIMES_DECAY
from membership.book.studies.iha.settings import Settings
from membership.book.studies.iha.subjects import Subject
from membership.curvature.eigen import Spectrum
from membership.curvature.inverse import enough

DAMPINGS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.5, 1.0)
# The name of no damping, which is a place on no logarithmic axis.
UNDAMPED = 0.0
STATIONARITIES = {"IHA": "published", "IHA*": "regularised"}
# Draws that are kept, the game as it is first: of `whole_game.drawn` as many.
DRAWS = 201


def gathered(subject: Subject, settings: Settings) -> xr.Dataset:
    """The evidence: numbers by schedule, damping, attack and draw; answers at further records."""
    games = {s: neighbours.set_up(subject.name, settings, s) for s in subjects.SCHEDULES}
    weights = {s: neighbours.weights(game, settings) for s, game in games.items()}
    game = games[subjects.SCHEDULES[0]]
    further = further_records.chosen(game, settings.seed)
    items = [[s, seed] for s in games for seed in range(game.size.n_models)]
    spectra = {s: spectrum(game, weights[s]["without"][0]) for s, game in games.items()}
    look = functools.partial(_of_seed, games, weights, spectra, further)
    determined = [asdict(g.task.config) for g in games.values()] + [further, DAMPINGS]
    determined += [part for by_side in weights.values() for part in by_side.values()]
    parts = evidence.in_parts(look, items, *determined)
    draws = whole_game.draws_of(game.size.n_records, game.size.n_models, settings.seed, DRAWS)
    numbers, answered = [], []
    for schedule in games:
        of_rate = [part for item, part in zip(items, parts, strict=True) if item[0] == schedule]
        stacked = {
            name: np.stack([part[name] for part in of_rate], -1).astype(float)
            for name in ("score", "factor", "own", "without", "having")
        }
        score, factor, *answers = stacked.values()
        numbers.append([[_numbers(x, factor, draws) for x in of_one] for of_one in score])
        answered.append(further_records.numbers(*answers, draws))
    axes = ("schedule", "damping", "attack", "metric", "draw")
    return evidence.dataset(
        "measured",
        {
            "number": (axes, evidence.rounded(np.array(numbers))),
            "answered": (("schedule", "components", "reading", "draw"), evidence.rounded(answered)),
        },
        {
            "schedule": list(games),
            "damping": [*DAMPINGS, UNDAMPED],
            "attack": list(STATIONARITIES),
            "metric": [*whole_game.METRICS, *probability.METRICS],
            "draw": np.arange(DRAWS),
            "components": list(further_records.COMPONENTS),
            "reading": list(whole_game.METRICS),
        },
        asked=further.tolist(),
        models=game.size.n_models,
        **neighbours.about(game, settings),
    )


def _numbers(score: FloatArray, factor: FloatArray, draws: whole_game.Draws) -> FloatArray:
    """Of a score (R, 2, K): AUC in both readings, then of the probability that it comes to."""
    ranks = whole_game.measured(whole_game.halves(score), draws)
    return np.concatenate([ranks, probability.numbers(factor * score, draws)], 1).T


def spectrum(game: Game, without: FloatArray) -> Spectrum:
    """Of the Hessian over D' at the mean of models (K, p) on it."""
    base = Logistic.of(*game.records(game.base[0], torch.float64))
    values, basis = torch.linalg.eigh(base.hessian(torch.tensor(without).double().mean(0)))
    return Spectrum(values.numpy(), basis)


def _of_seed(
    games: dict[str, Game],
    weights: dict[str, dict],
    spectra: dict[str, Spectrum],
    further: np.ndarray,
    item: list,
) -> dict[str, np.ndarray]:
    """The models of one seed: scores (dampings, attacks, R, 2), answers at their own and there.

    Theorem 3.2's log-odds of a fair coin are a factor (R, 2) times the score.

    Answers at the record played for are (R, 2), at further ones (F,) without it, (R, F) with it.
    """
    schedule, seed = item
    game, by_side = games[schedule], weights[schedule]
    base = Logistic.of(*game.records(game.base[0], torch.float64))
    queried = Logistic.of(*game.records(game.added[0], torch.float64))
    asked = Logistic.of(*game.records(further, torch.float64))
    out = torch.tensor(by_side["without"][0, seed]).double()
    ins = torch.tensor(by_side["with"][0, :, seed]).double()
    score, least = _scored(game, base, queried, spectra[schedule], out, ins)
    config = game.task.config
    # The mean loss stands for that at the minimum.
    factor = config.batch_size * (1 - config.momentum) / (2 * game.size.n_train * least)
    sign, sign_there = 2 * queried.y - 1, 2 * asked.y - 1
    own = torch.stack([queried.x @ out, (queried.x * ins).sum(1)], 1) * sign[:, None]
    return {
        "score": score.astype(np.float32),
        "factor": factor,
        "own": own.numpy(),
        "without": (asked.x @ out * sign_there).numpy(),
        "having": (ins @ asked.x.T * sign_there).numpy(),
    }


def _scored(
    game: Game,
    base: Logistic,
    queried: Logistic,
    spectrum: Spectrum,
    out: torch.Tensor,
    ins: torch.Tensor,
) -> tuple[FloatArray, FloatArray]:
    """Scores (dampings, attacks, R, 2) and the mean losses over D' (R, 2) of the models.

    `out` (p,) is asked about all records, `ins` (R, p) about one each.
    """
    basis, decay = spectrum.vectors, game.task.config.weight_decay
    inverses = by_damping(torch.tensor(spectrum.values), decay)
    models = torch.cat([out[None], ins])
    mean, least = base.mean_gradients(models)
    own = queried.slopes(ins)[0].diagonal()[:, None] * queried.x
    gradients = queried.gradients(out[None])[0], own
    places = torch.zeros(len(ins), dtype=torch.int64), torch.arange(len(ins)) + 1
    scores = []
    for gradient, at in zip(gradients, places, strict=True):
        vectors = (gradient, mean[at], mean[at] + decay * models[at])
        forms = damped(*(part @ basis for part in vectors), *inverses).numpy()
        loss = (torch.sigmoid((queried.x * models[at]).sum(1)) - queried.y) ** 2
        scores.append(_score(game, forms, loss.numpy()))
    return np.stack(scores, -1), torch.stack([least[at] for at in places], 1).numpy()


def by_damping(values: torch.Tensor, weight_decay: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Eigenvalues (dampings, p) of the inverse, and of that with the weight decay added."""
    # Small games are far from a minimum, and need more than they are asked for.
    amounts = [enough(values.numpy(), damping) for damping in DAMPINGS]
    every = torch.stack([values + amount for amount in (*amounts, UNDAMPED)])
    kept = torch.ones_like(every, dtype=torch.bool)
    kept[-1] = values > TIMES_DECAY * weight_decay
    # Pixels that are never inked have no curvature at all.
    plain, regularised = (torch.where(kept, every + a, torch.inf) for a in (0.0, weight_decay))
    return 1 / plain, 1 / regularised


def damped(
    gradient: torch.Tensor,
    mean: torch.Tensor,
    rest: torch.Tensor,
    plain: torch.Tensor,
    regularised: torch.Tensor,
) -> torch.Tensor:
    """Forms (dampings, attacks, 4, m): own2, others2, own3, others3, in the eigenbasis.

    Of gradients (m, p), with those of the others (m, p), without the weight decay and with it.
    """
    parts = [
        (gradient * vector) @ (outer**2 * between).T
        for outer, others in ((plain, mean), (regularised, rest))
        for between in (torch.ones_like(plain), plain)
        for vector in (gradient, others)
    ]
    return torch.stack(parts).unflatten(0, (len(STATIONARITIES), 4)).permute(3, 0, 1, 2)


def _score(game: Game, forms: FloatArray, loss: FloatArray) -> FloatArray:
    """The attacks' scores (dampings, attacks, m) from forms (dampings, attacks, 4, m)."""
    config, n = game.task.config, game.size.n_train
    recipe = (config.learning_rate, config.momentum, config.weight_decay)
    scores = [
        iha_terms(own2, others2, own3, others3, loss, n, *recipe, stationarity).score
        for of_damping in forms
        for (own2, others2, own3, others3), stationarity in zip(
            of_damping, STATIONARITIES.values(), strict=True
        )
    ]
    return np.reshape(scores, (len(forms), len(STATIONARITIES), -1))
