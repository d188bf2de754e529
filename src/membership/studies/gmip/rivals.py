"""Gradient and loss attacks on the same models, after one step and after a few; counts of any.

A game is one target model, its members and as many others, all asked. Every game has records, a
start and shadow models of its own; these come in pairs on complementary halves and start as the
target does. Counts at common thresholds are kept, by target and block of records.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from membership import attacks, curvature, data
from membership.arrays import BoolArray, FloatArray
from membership.attacks.glir import glir_from_distance, glir_log_ratio
from membership.studies.gmip import experiment, names
from membership.studies.gmip.experiment import Task
from membership.studies.gmip.settings import Settings

FEW_SHADOWS = 16
_STREAM, _MORE = 20, 20_000
# False accusations, in all games together, that a rate of 0.1% should rest on.
_ACCUSED, _LEAST_RATE = 10, 0.001


class Scored(NamedTuple):
    """Scores by attack, each (targets, records), and who was a member."""

    scores: dict[str, FloatArray]
    member: BoolArray


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
    scores, shares = {names.GLIR: np.zeros(len(pool))}, np.zeros(0)
    for weight in experiment.trajectory(task, split.members, steps, seed):
        scores[names.GLIR] += glir_from_distance(*_numbers(task, weight, split.background, pool, n))
        if steps == 1:
            rest = np.setdiff1d(np.arange(len(task.y)), pool)
            more = np.random.default_rng([*stream, 1]).permutation(rest)[:_MORE]
            numbers = _numbers(task, weight, more, pool, n)
            scores[names.GLIR_MORE] = glir_from_distance(*numbers)
            scores[names.RATIO_MORE] = glir_log_ratio(*numbers)
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
        names.LOSS: target,
        names.LIRA: attacks.lira(target, shadow, inside),
        names.LIRA_ONE: attacks.lira(target, shadow, inside, variance="global"),
        names.LIRA_FEW: attacks.lira(target, shadow[few], inside[few], variance="global"),
        names.RMIA: attacks.rmia_ratio(expit(target), expit(shadow), reference_member=inside),
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
