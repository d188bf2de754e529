"""The Gaussian game of Section 4.1: Figure 1, and the accuracies it illustrates.

The population mean is known to the adversary, as in Equation 34, and T = 1. Scores carry the exact
tau, with the constant that Equations 34 and 35 drop: a score of 0 then means "as likely as not".
"""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from membership import attacks, data, metrics
from membership.arrays import FloatArray
from membership.exhibits.tidy import tidy
from membership.studies.bayes_optimal import gaussian_exact as exact
from membership.studies.bayes_optimal.settings import Settings

GRID_POINTS = 400
LEAD = "MAST less MALT"
ACCURACIES, REFERENCES = 1, 2  # streams of random numbers
HARDER = 100
MEAN_LEAD = "mean less log-mean-exp"


class Game(NamedTuple):
    """One game as the attacks see it; the population mean is 0."""

    z: FloatArray
    member: np.ndarray
    theta: FloatArray


def figure_1(settings: Settings) -> pd.DataFrame:
    """Scores of MALT and MAST in one game, and their exact densities in that game (Figure 1)."""
    game = _paper_game(settings)
    n_members, d = int(game.member.sum()), settings.gaussian_d
    r2 = float(game.theta @ game.theta)
    average_tau = n_members * d / (2 * (n_members + 1)) + exact.tau_constant(n_members, d)
    loss = _loss(game.z, game.theta)
    shown = {
        "MALT": (
            average_tau + attacks.malt(loss),
            lambda score, member: exact.malt_density(average_tau - score, member, r2, n_members, d),
        ),
        "MAST": (
            _tau(game.z, n_members) - loss,
            lambda score, member: exact.mast_density(score, member, r2, n_members, d),
        ),
    }
    parts = []
    for attack, (score, density) in shown.items():
        grid = _grid(score)
        for member in (True, False):
            key = {"attack": attack, "member": member}
            own = score[game.member == member]
            curve = density(grid, member)
            parts.append(pd.DataFrame({**key, "series": "record", "score": own, "density": np.nan}))
            parts.append(pd.DataFrame({**key, "series": "exact", "score": grid, "density": curve}))
    attrs = _attrs(settings)
    note = (
        f"In this game {n_members} of {len(game.member)} records are members. The curves are exact "
        "given the mean of these members."
    )
    return tidy(parts, attrs | {"sizes": attrs["sizes"] | {"Games": "1"}, "note": note})


def gaussian_accuracies(settings: Settings) -> pd.DataFrame:
    """Attack accuracies in the Gaussian game: simulated, and by exact formula.

    The games have exactly n' = gaussian_n // 2 members, so that the formulas apply.
    """
    n_members, d = settings.gaussian_n // 2, settings.gaussian_d
    decisions = {
        "MALT": exact.malt(n_members, d),
        "MAST": exact.mast(n_members, d),
        "LLR": exact.likelihood_ratio(n_members, d),
        "MATT": exact.matt(n_members, d),
    }
    known = {
        (attack, "attack_accuracy(%)"): 100 * decision.accuracy
        for attack, decision in decisions.items()
    }
    known["MALT", "auc(%)"] = 100 * exact.malt_auc(n_members, d)
    measured = []
    for repeat in range(settings.gaussian_repeats):
        game, rng = _play(settings.gaussian_n, d, settings.seed, ACCURACIES, repeat)
        for attack, score in _scores(game, rng).items():
            threshold = decisions[attack].threshold
            measured += [
                (repeat, attack, metric, 100 * value)
                for metric, value in _measure(score, game.member, threshold).items()
            ]
    played = pd.DataFrame(measured, columns=["game", "attack", "metric", "value"])
    rows = [
        {"attack": attack, "metric": metric}
        | metrics.summary(values.to_numpy())
        | {"exact": known.get((attack, metric), np.nan)}
        for (attack, metric), values in played.groupby(["attack", "metric"], sort=False)["value"]
    ]
    wide = played.pivot_table(index="game", columns=["attack", "metric"], values="value")
    for metric in ("attack_accuracy(%)", "auc(%)"):
        values = (wide["MAST", metric] - wide["MALT", metric]).to_numpy()
        key = {"attack": LEAD, "metric": metric, "exact": np.nan}
        rows.append(key | metrics.summary(values))
    return tidy(rows, _attrs(settings))


def both_games(settings: Settings) -> dict[str, pd.DataFrame]:
    """MAST in the paper's game and in one that is harder to win, by what tables call them."""
    return {
        name: gaussian_references(settings, unsaturated)
        for name, unsaturated in (("Gaussian game", False), ("harder Gaussian game, d = 2n'", True))
    }


def gaussian_references(settings: Settings, unsaturated: bool = False) -> pd.DataFrame:
    """MAST's tau estimated from reference models, against the exact tau.

    The paper's game is so easy that every tau is nearly always right; `unsaturated` plays one with
    n' = `HARDER` members in twice as many dimensions, as n' = 1000 would be in the paper's 2000.
    """
    n_reference = settings.gaussian_references
    n, d = (2 * HARDER, 2 * HARDER) if unsaturated else (settings.gaussian_n, settings.gaussian_d)
    n_members = n // 2
    played: dict[str, list[FloatArray]] = {"log-mean-exp": [], "mean": [], "exact": []}
    for repeat in range(settings.gaussian_repeats):
        game, rng = _play(n, d, settings.seed, REFERENCES, repeat)
        references = _fresh_models(rng, n_reference, n_members, d)
        loss = _loss(game.z, game.theta)
        reference_loss = np.stack([_loss(game.z, reference) for reference in references])
        for tau in ("log-mean-exp", "mean"):
            played[tau].append(attacks.mast(loss, reference_loss, tau=tau))
        played["exact"].append(_tau(game.z, n_members) - loss)
    half, member = settings.gaussian_repeats // 2, game.member
    rows, measured = [], {}
    for tau, scores in played.items():
        threshold = metrics.best_threshold(np.concatenate(scores[:half]), np.tile(member, half))
        fresh = scores[half:]
        key = {"tau": tau, "n_reference": 0 if tau == "exact" else n_reference}
        measured[tau] = {
            "attack_accuracy(%)": [metrics.balanced_accuracy(s, member, threshold) for s in fresh],
            "auc(%)": [metrics.auc(s, member) for s in fresh],
        }
        rows += [
            key | {"metric": metric} | metrics.summary(100 * np.array(values))
            for metric, values in measured[tau].items()
        ]
    for metric, values in measured["mean"].items():
        less = 100 * (np.array(values) - np.array(measured["log-mean-exp"][metric]))
        key = {"tau": MEAN_LEAD, "n_reference": n_reference, "metric": metric}
        rows.append(key | metrics.summary(less))
    return tidy(rows, _attrs(settings))


def _paper_game(settings: Settings) -> Game:
    """One game as in the paper: each record a member with probability 1/2."""
    drawn = data.gaussian_game(settings.gaussian_n, settings.gaussian_d, settings.seed)
    return Game(drawn.z - drawn.mu, drawn.member, drawn.theta - drawn.mu)


def _grid(score: FloatArray) -> FloatArray:
    """Places to draw a density at, a little beyond the scores on either side."""
    margin = 0.15 * np.ptp(score)
    return np.linspace(score.min() - margin, score.max() + margin, GRID_POINTS)


def _scores(game: Game, rng: np.random.Generator) -> dict[str, FloatArray]:
    """Scores of the four attacks, in whose exact units the thresholds are."""
    n_members, d = int(game.member.sum()), game.theta.size
    loss = _loss(game.z, game.theta)
    norm2 = np.sum(game.z**2, axis=1)
    scale = n_members / (n_members - 1)
    quadratic = game.z @ game.theta - game.theta @ game.theta / 2 - norm2 / (2 * n_members)
    theta0 = _fresh_models(rng, 1, n_members, d)[0]
    return {
        "MALT": attacks.malt(loss),
        "MAST": _tau(game.z, n_members) - loss,
        "LLR": scale * quadratic + d / 2 * np.log(scale),
        "MATT": attacks.matt(game.theta, theta0, theta0 - game.z),
    }


def _measure(score: FloatArray, member: np.ndarray, threshold: float) -> dict[str, float]:
    return {
        "attack_accuracy(%)": metrics.balanced_accuracy(score, member, threshold),
        "peak_accuracy(%)": metrics.balanced_accuracy(score, member),
        "auc(%)": metrics.auc(score, member),
    }


def _tau(z: FloatArray, n_members: int) -> FloatArray:
    """Equation 34 with its constant; -log of the mean of exp(-loss) over N(0, I / n')."""
    share = n_members / (2 * (n_members + 1))
    return share * np.sum(z**2, axis=1) + exact.tau_constant(n_members, z.shape[1])


def _loss(z: FloatArray, theta: FloatArray) -> FloatArray:
    """Equation 33."""
    return np.sum((z - theta) ** 2, axis=1) / 2


def _play(n: int, d: int, seed: int, stream: int, repeat: int) -> tuple[Game, np.random.Generator]:
    """One game whose first n // 2 records are the members, and a generator for the attacks."""
    sequence = np.random.SeedSequence([seed, stream, repeat])
    game_seed, attack_seed = (int(seed) for seed in sequence.generate_state(2))
    drawn = data.gaussian_game(n, d, game_seed)
    z = drawn.z - drawn.mu
    member = np.arange(n) < n // 2
    return Game(z, member, z[member].mean(axis=0)), np.random.default_rng(attack_seed)


def _fresh_models(rng: np.random.Generator, count: int, n_members: int, d: int) -> FloatArray:
    """Means of n' records each, none of them queried: drawn from their law N(0, I / n')."""
    return rng.standard_normal((count, d)) / np.sqrt(n_members)


def _attrs(settings: Settings) -> dict[str, Any]:
    n, d = settings.gaussian_n, settings.gaussian_d
    deviations = [] if (n, d) == (100, 2000) else [f"n = {n}, d = {d}; the paper: 100, 2000"]
    sizes = {"Records": str(n), "Dimensions": f"{d:,}", "Games": str(settings.gaussian_repeats)}
    return {"data": {}, "deviations": deviations, "device": "cpu", "sizes": sizes}
