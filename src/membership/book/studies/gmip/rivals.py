"""Gradient and loss attacks on the same models: after one step, a few, and a whole training.

A game of one step or a few is one target model, its members and as many others, all asked. Every
game has records, a start and shadow models of its own; these come in pairs on complementary halves
and start as the target does.

After Table 4's whole training without noise the targets share their asked records and their shadow
models. Each model was trained on a random half of the asked records and always on the same others,
so many that it has Table 4's number. All start from the same weights, and each draws its own random
batches. Shadow models come in pairs on complementary halves. GLiR sees every step of a target and
knows the moments of all records that are not asked.

Counts at common thresholds are kept, by target and block of records.
"""

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch
import xarray as xr
from scipy.special import expit

from membership import attacks, curvature, data, evidence, signals
from membership.arrays import BoolArray, FloatArray
from membership.attacks.glir import glir_from_distance, glir_log_ratio
from membership.book.studies import hinge_laws
from membership.book.studies.gmip import experiment
from membership.book.studies.gmip.experiment import Task, origin, task_of
from membership.book.studies.gmip.settings import Settings
from membership.book.studies.gmip.training_promise import Watch, mean_gradient
from membership.training.private import initial_weight, with_constant

GLIR, GLIR_MORE, RATIO_MORE = (
    "GLiR",
    "GLiR, moments of up to 20,000 records",
    "likelihood ratio, moments of up to 20,000 records",
)
LOSS, LIRA, LIRA_ONE, LIRA_FEW, RMIA, BMIA = (
    "LOSS",
    "LiRA",
    "LiRA, one variance",
    "LiRA, one variance, at most 16 shadow models",
    "RMIA",
    "BMIA",
)
FEW_SHADOWS = 16
BLOCKS = 20
"""Of asked records after all epochs, which intervals draw again as they draw targets."""
_STREAM, _MORE, _ASKED = 20, 20_000, 8000
# False accusations, in all games together, that a rate of 0.1% should rest on.
_ACCUSED, _LEAST_RATE = 10, 0.001
_COUNTS = ("attack", "target", "block", "threshold")
_SHARES = 400


class Scored(NamedTuple):
    """Scores by attack, each (targets, records), and who was a member."""

    scores: dict[str, FloatArray]
    member: BoolArray


def few_steps(name: str, settings: Settings, steps: int) -> xr.Dataset:
    """Evidence: counts of all attacks after one step or a few; after one also K, of others."""
    task = task_of(name, settings)
    scored, shares = few_games(task, settings, steps)
    arrays = {side: (_COUNTS, counts) for side, counts in counted(scored, 1).items()}
    if steps == 1:
        middle = (np.arange(_SHARES) + 0.5) / _SHARES
        arrays["share"] = (("quantile",), np.quantile(shares, middle))
    return evidence.dataset(
        "measured",
        arrays,
        {"attack": list(scored.scores)},
        **origin(task, settings, steps),
        steps=steps,
        sizes={
            f"Targets after {steps} step{'s' * (steps > 1)}": str(len(scored.member)),
            "Members of each": f"{task.batch:,}",
            "Shadow models of each": str(settings.n_reference),
        },
    )


def few_games(task: Task, settings: Settings, steps: int) -> tuple[Scored, FloatArray]:
    """Scores after one step or a few; after one also K over the rank, of others."""
    games = settings.rival_targets
    if settings.profile == "paper" and steps == 1:
        games = max(games, math.ceil(_ACCUSED / _LEAST_RATE / task.batch))
    played = [_few_game(task, settings, game, steps) for game in range(games)]
    scores = {name: np.stack([of[name] for of, _ in played]) for name in played[0][0]}
    member = np.tile(np.arange(2 * task.batch) < task.batch, (games, 1))
    return Scored(scores, member), np.concatenate([shares for _, shares in played])


def _few_game(
    task: Task, settings: Settings, game: int, steps: int
) -> tuple[dict[str, FloatArray], FloatArray]:
    split, seed = experiment.split(task, settings, game), settings.seed + game
    n, pool = len(split.members), split.queries
    stream = [settings.seed, _STREAM, game]
    mask = paired_halves(settings.n_reference, len(pool), stream)
    mask = np.concatenate([(np.arange(len(pool)) < n)[None], mask])
    scores, shares = {GLIR: np.zeros(len(pool))}, np.zeros(0)
    for weight in experiment.trajectory(task, split.members, steps, seed):
        scores[GLIR] += glir_from_distance(*_numbers(task, weight, split.background, pool, n))
        if steps == 1:
            rest = np.setdiff1d(np.arange(len(task.y)), pool)
            more = np.random.default_rng([*stream, 1]).permutation(rest)[:_MORE]
            numbers = _numbers(task, weight, more, pool, n)
            scores[GLIR_MORE] = glir_from_distance(*numbers)
            scores[RATIO_MORE] = glir_log_ratio(*numbers)
            shares = numbers[1][n:] / numbers[3]
    odds = experiment.log_odds(task, pool, mask, steps, seed)
    return scores | by_losses(odds[0], odds[1:], mask[1:]), shares


def _numbers(
    task: Task, weight: FloatArray, background: np.ndarray, pool: np.ndarray, n: int
) -> tuple[FloatArray, FloatArray, int, int]:
    """D^2 and K of each asked record, members first; n and the covariance's rank."""
    # The last class's entries are what those of the others lack to zero.
    of_background, of_pool = (
        experiment.gradients(task, weight, rows)[:, : -weight.shape[1]]
        for rows in (background, pool)
    )
    moments = curvature.gradient_moments(of_background)
    root = curvature.whitening(moments.covariance)
    return *experiment.two_numbers((of_pool - moments.mean) @ root, n), n, root.shape[1]


def by_losses(target: FloatArray, shadow: FloatArray, inside: BoolArray) -> dict[str, FloatArray]:
    """What losses alone say, with all shadow models and with the first 16."""
    few = slice(FEW_SHADOWS)
    target, shadow = target.astype(np.float64), shadow.astype(np.float64)
    return {
        LOSS: target,
        LIRA: attacks.lira(target, shadow, inside),
        LIRA_ONE: attacks.lira(target, shadow, inside, variance="global"),
        LIRA_FEW: attacks.lira(target, shadow[few], inside[few], variance="global"),
        RMIA: attacks.rmia_ratio(expit(target), expit(shadow), reference_member=inside),
    }


def paired_halves(number: int, records: int, stream: list[int]) -> BoolArray:
    """Random halves, the second of each pair the complement of the first."""
    (seed,) = np.random.default_rng(stream).integers(2**31, size=1)
    halves = data.random_halves((number + 1) // 2, records, int(seed))
    return np.stack([halves, ~halves], axis=1).reshape(-1, records)[:number]


def counted(scored: Scored, blocks: int) -> dict[str, Any]:
    """How many members and others of each target and block reach each threshold, by attack.

    Thresholds are scores of others, all targets together: so many of the highest as are evenly
    spaced, some on a logarithmic scale and some on a linear one. The first lies above all of
    them, and the last below everybody: its counts are those of who was asked.
    """
    member = scored.member
    total = int((~member).sum())
    ranks = np.concatenate([np.geomspace(1, total, 150), np.linspace(1, total, 60)])
    ranks = np.unique(ranks.round().astype(int))
    of = np.arange(member.shape[1]) * blocks // member.shape[1]
    starts = np.searchsorted(of, np.arange(blocks))
    hits, alarms = [], []
    for score in scored.scores.values():
        cuts = np.sort(score[~member])[::-1][ranks - 1]
        sides: tuple[list, list] = ([], [])
        for cut in [np.inf, *cuts, -np.inf]:
            # Above all others: strictly, or a tie would be counted on one side alone.
            reached = score > score[~member].max() if cut == np.inf else score >= cut
            for side, chosen in zip(sides, (member, ~member), strict=True):
                side.append(np.add.reduceat(reached & chosen, starts, axis=1, dtype=np.int32))
        hits.append(np.stack(sides[0], axis=-1))
        alarms.append(np.stack(sides[1], axis=-1))
    return {"hits": np.stack(hits), "alarms": np.stack(alarms)}


def all_epochs(name: str, settings: Settings) -> xr.Dataset:
    """Evidence: the same after a whole training, on targets that share their records."""
    task = task_of(name, settings)
    scored, n_records = played(task, settings)
    targets, asked = scored.member.shape
    counts = counted(scored, BLOCKS)
    return evidence.dataset(
        "measured",
        {side: (_COUNTS, of_side) for side, of_side in counts.items()},
        {"attack": list(scored.scores)},
        **origin(task, settings),
        trained_on=n_records,
        steps=task.steps,
        sizes={
            "Targets after all epochs": str(targets),
            "Members of each after all epochs": f"{n_records:,}, {asked // 2:,} asked",
            "Steps of all epochs": f"{task.steps:,}",
            "Shadow models of each": str(settings.n_reference),
        },
    )


class Pool(NamedTuple):
    """Positions of the records asked, of those that every model sees, and of all not asked."""

    asked: np.ndarray
    always: np.ndarray
    others: np.ndarray

    @property
    def n_records(self) -> int:
        """How many records each model is trained on."""
        return len(self.always) + len(self.asked) // 2


class Models(NamedTuple):
    """Who is trained: the half of each model, the targets first, and what they start from."""

    inside: BoolArray
    targets: int
    seed: int


def pool_of(task: Task, seed: int) -> Pool:
    """Asked records of which each model has half, so that it has Table 4's number in all."""
    total = len(task.y)
    order = np.random.default_rng([seed, _STREAM]).permutation(total)
    size = 2 * (min(_ASKED, total // 5) // 2)
    always = order[size : size + task.recipe.n_records - size // 2]
    return Pool(order[:size], always, order[size:])


def models_of(pool: Pool, settings: Settings) -> Models:
    """Random halves for the targets, and pairs of halves for the shadow models."""
    asked, targets = len(pool.asked), settings.rival_targets
    halves = data.random_halves(targets, asked, settings.seed + _STREAM)
    shadows = paired_halves(settings.n_reference, asked, [settings.seed, _STREAM, 1])
    return Models(np.concatenate([halves, shadows]), targets, settings.seed)


def played(task: Task, settings: Settings) -> tuple[Scored, int]:
    """Scores of every target's asked records, and how many records each model was trained on."""
    pool = pool_of(task, settings.seed)
    models = models_of(pool, settings)
    # A target takes a minute of processor time: a run that was stopped goes on with the next.
    found = evidence.in_parts(
        partial(_model, task, pool, models),
        range(len(models.inside)),
        *(task.features, task.y, vars(task.recipe), *pool, *models),
    )
    weights = [torch.from_numpy(of_model["weight"]) for of_model in found]
    targets, inside = models.targets, models.inside
    logits = torch.stack([_logits(task, weight, pool.asked) for weight in weights])
    label = task.y[pool.asked]
    odds, hinge = signals.scaled_logit(logits, None, label), signals.hinge(logits, None, label)
    bayesian = [_predicted(task, pool, inside[m], weights[m]) for m in (targets, targets + 1)]
    # Of the first pair of shadow models each record has one that has not seen it.
    mean, sd = (np.where(inside[targets], *pair[::-1]) for pair in zip(*bayesian, strict=True))
    scores = []
    for target in range(targets):
        of_losses = by_losses(odds[target], odds[targets:], inside[targets:])
        of_bmia = attacks.bmia_from_moments(hinge[target], mean, sd)
        scores.append({GLIR: found[target]["score"], **of_losses, BMIA: of_bmia})
    stacked = {name: np.stack([of_target[name] for of_target in scores]) for name in scores[0]}
    return Scored(stacked, inside[:targets]), pool.n_records


def _model(task: Task, pool: Pool, models: Models, model: int) -> dict[str, np.ndarray]:
    """One softmax layer after all steps; of a target also what GLiR adds up over them."""
    r, rng = task.recipe, np.random.default_rng([models.seed, _STREAM, 2, model])
    x, y = with_constant(task.features), torch.tensor(task.y)
    generator = torch.Generator().manual_seed(models.seed)
    weight = initial_weight(r.classes, x.shape[1], generator)
    watch = None
    if model < models.targets:
        x, weight, share = x.double(), weight.double(), r.batch_size / pool.n_records
        watch = Watch(x, y, pool.others, pool.asked, r.batch_size, share)
    rows = np.concatenate([pool.always, pool.asked[models.inside[model]]])
    optimiser = torch.optim.Adam([weight], lr=r.learning_rate)
    for step in range(r.steps):
        batch = torch.from_numpy(rng.choice(rows, r.batch_size, replace=False))
        weight.grad = mean_gradient(weight, x[batch], y[batch])
        if watch is not None:
            watch.at(step, r.steps, weight, weight.grad)
        optimiser.step()
    score = np.zeros(0) if watch is None else watch.score
    return {"weight": weight.double().numpy(), "score": score}


def _logits(task: Task, weight: torch.Tensor, rows: np.ndarray) -> torch.Tensor:
    return with_constant(task.features[rows]).double() @ weight.T


def _predicted(
    task: Task, pool: Pool, inside: BoolArray, weight: torch.Tensor
) -> tuple[FloatArray, FloatArray]:
    """Mean and deviation of the hinge that one shadow model's posterior predicts."""
    rows = np.concatenate([pool.always, pool.asked[inside]])
    scale, shift = weight[:, :-1].numpy(), weight[:, -1].numpy()
    fitted, asked = (
        curvature.LastLayer(task.features[of], _logits(task, weight, of).numpy(), scale, shift)
        for of in (rows, pool.asked)
    )
    law = hinge_laws.posterior_of(fitted, task.y[rows])
    return hinge_laws.closed_form(law, asked, task.y[pool.asked])
