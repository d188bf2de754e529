"""What the models of the clean game at the paper's size say under many dampings, and elsewhere.

Every model is scored by IHA and IHA* with its own Hessian over D' at each of `DAMPINGS` and, as the
theorem has it, undamped, along those directions in which the curvature at the mean of the models on
D' is above twice the weight decay. All vectors are in the eigenbasis of the Hessian there, where a
model's own is nearly diagonal, so that its systems are solved by a few steps of refinement. And
each model is asked about further records of D'.

The scores would be larger than all other evidence of the chapter. Kept is what exhibits read of
them: numbers of each score over everything as it is, and over records and models drawn again as
for iha-ctl-20.
"""

import functools
from collections.abc import Callable
from dataclasses import asdict

import numpy as np
import torch
import xarray as xr

from membership import evidence
from membership.arrays import FloatArray
from membership.attacks.iha import iha_terms
from membership.curvature.inverse import enough
from membership.errors import RunError
from membership.studies.iha import further_records, neighbours, probability, subjects, whole_game
from membership.studies.iha.neighbours import Game, Logistic
from membership.studies.iha.noise import TIMES_DECAY
from membership.studies.iha.settings import Settings
from membership.studies.iha.subjects import Subject

DAMPINGS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.5, 1.0)
# The name of no damping, which is a place on no logarithmic axis.
UNDAMPED = 0.0
STATIONARITIES = {"IHA": "published", "IHA*": "regularised"}
# Draws that are kept, the game as it is first: of `whole_game.drawn` as many.
DRAWS = 201
TOLERANCE, MOST_ROUNDS = 5e-3, 60
# Models solved for at once; with fewer training records each Hessian is formed.
MODELS, FEW = 8, 2000

# Solves (H + shift) v = b for vectors (models, k, m, p) by shifts (k,), in the directions that are
# kept (k, p) of each.
Solver = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]


def gathered(subject: Subject, settings: Settings) -> xr.Dataset:
    """The evidence: numbers by schedule, damping, attack and draw; answers at further records."""
    games = {s: neighbours.set_up(subject.name, settings, s) for s in subjects.SCHEDULES}
    weights = {s: neighbours.weights(game, settings) for s, game in games.items()}
    game = games[subjects.SCHEDULES[0]]
    further = further_records.chosen(game, settings.seed)
    items = [[s, seed] for s in games for seed in range(game.size.n_models)]
    look = functools.partial(_of_seed, games, weights, further)
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


def _of_seed(
    games: dict[str, Game], weights: dict[str, dict], further: np.ndarray, item: list
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
    every = torch.tensor(by_side["without"][0]).double()
    out, ins = every[seed], torch.tensor(by_side["with"][0, :, seed]).double()
    score, least = _scored(game, base, queried, every.mean(0), out, ins)
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
    centre: torch.Tensor,
    out: torch.Tensor,
    ins: torch.Tensor,
) -> tuple[FloatArray, FloatArray]:
    """Scores (dampings, attacks, R, 2) and the mean losses over D' (R, 2) of the models.

    `out` (p,) is asked about all records, `ins` (R, p) about one each.
    """
    values, basis = torch.linalg.eigh(base.hessian(centre))
    decay = game.task.config.weight_decay
    ends = [torch.full_like(values > 0, True)] * len(DAMPINGS) + [values > TIMES_DECAY * decay]
    # Small games are far from a minimum, and need more than they are asked for.
    enough_of_each = [enough(values.numpy(), damping) for damping in DAMPINGS]
    kept, shift = torch.stack(ends), torch.tensor([*enough_of_each, UNDAMPED], dtype=values.dtype)
    x, second = (base.x @ basis).bfloat16(), base.slopes(centre[None])[1]
    scored, least = np.empty((len(shift), 2, len(queried.x), 2)), np.empty((len(queried.x), 2))

    def enter(weight: torch.Tensor, rows: torch.Tensor, gradient: torch.Tensor, side: int) -> None:
        """Of models (m, p) the gradients (m, q, p) of as many records at these rows."""
        first, curvature = base.slopes(weight)
        mean = (first @ base.x / len(base.x))[:, None] @ basis
        if side == 0 or len(base.x) < FEW:
            solve = exact(basis.T @ torch.stack([base.hessian(w) for w in weight]) @ basis)
        else:
            solve = near(x, (curvature - second) / len(base.x), values)
        rest = mean + decay * weight[:, None] @ basis
        forms = damped(solve, gradient @ basis, mean, rest, decay, shift, kept)
        loss = (torch.sigmoid((queried.x[rows] * weight).sum(1)) - queried.y[rows]) ** 2
        least[rows, side] = base.losses(weight).mean(1).numpy()
        scored[:, :, rows, side] = _score(game, forms.flatten(3).numpy(), loss.numpy())

    places = torch.arange(len(queried.x))
    enter(out[None], places, queried.gradients(out[None]), 0)
    own = queried.slopes(ins)[0].diagonal()[:, None, None] * queried.x[:, None]
    for rows in places.split(MODELS):
        enter(ins[rows], rows, own[rows], 1)
    return scored, least


def damped(
    solve: Solver,
    gradient: torch.Tensor,
    mean: torch.Tensor,
    rest: torch.Tensor,
    weight_decay: float,
    shift: torch.Tensor,
    kept: torch.Tensor,
) -> torch.Tensor:
    """Forms (dampings, attacks, 4, models, m): own2, others2, own3, others3.

    Of gradients (models, m, p), with those of the others (models, 1, p), without the weight decay
    and with it. It is above 0: (H + e)^-1 (H + e + a)^-1 is a difference of the two over a.
    """
    count = len(shift)
    each = [torch.cat([gradient, others], 1)[:, None] for others in (mean, rest)]
    every = torch.cat([part.expand(-1, count, -1, -1) for part in each], 1)
    solved = solve(every, torch.cat([shift, shift + weight_decay]), kept.repeat(2, 1))
    (a, m), (u, r) = ((part[:, :, :-1], part[:, :, -1:]) for part in solved.split(count, 1))
    b = solve(a, shift, kept)
    c = (a - u) / weight_decay
    dots = [(a, a), (a, m), (a, b), (b, m), (u, u), (u, r), (u, c), (c, r)]
    forms = torch.stack([(one * other).sum(-1) for one, other in dots], -1)
    return forms.unflatten(-1, (len(STATIONARITIES), 4)).permute(1, 3, 4, 0, 2)


def exact(hessians: torch.Tensor) -> Solver:
    """By Hessians (models, p, p) themselves."""

    def solve(vectors: torch.Tensor, shift: torch.Tensor, kept: torch.Tensor) -> torch.Tensor:
        one, mask = torch.eye(hessians.shape[-1]).to(hessians), kept.to(hessians)
        within = hessians[:, None] * mask[:, :, None] * mask[:, None] + shift[:, None, None] * one
        b = (vectors * mask[:, None]).mT
        return torch.linalg.solve(within + torch.diag_embed(1 - mask), b).mT

    return solve


def near(x: torch.Tensor, change: torch.Tensor, values: torch.Tensor) -> Solver:
    """Of Hessians diag(values) + x' diag(change) x, by model, where the change is small.

    Few digits of x (n, p) do, for the change (models, n) is a small part of the curvature.
    """
    rows = change.to(x)[:, None]

    def changed(v: torch.Tensor) -> torch.Tensor:
        along = (v.to(x).flatten(0, 2) @ x.T).view(len(v), -1, len(x)) * rows
        return (along.flatten(0, 1) @ x).view_as(v).float()

    def solve(vectors: torch.Tensor, shift: torch.Tensor, kept: torch.Tensor) -> torch.Tensor:
        # Pixels that are never inked have no curvature at all.
        inverse = torch.where(kept, 1 / (values + shift[:, None]), 0.0).float()[:, None]
        b = vectors.float()
        v = b * inverse
        for _ in range(MOST_ROUNDS):
            last, v = v, (b - changed(v)) * inverse
            # A further step would be as much smaller as this one is.
            if bool(((v - last).norm(dim=-1) <= TOLERANCE * v.norm(dim=-1)).all()):
                return v.double()
        raise RunError("a damped Hessian of the clean game could not be solved with")

    return solve


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
