"""The Gaussian game of Section 4.1: Figure 1, and the accuracies it illustrates.

The population mean is known to the adversary, as in Equation 34, and T = 1. Scores carry the exact
tau, with the constant that Equations 34 and 35 drop: a score of 0 then means "as likely as not".

Exact laws: the target model theta is the mean of n' members, so that u = theta - mu and v = z - mu
are jointly Gaussian,

    non-member: v ~ N(0, I);   member: v given u ~ N(u, (1 - 1/n') I);   u ~ N(0, I / n').

The attacks' scores are quadratic in v: all reduces to chi-squared laws, central or not.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import minimize_scalar
from scipy.stats import chi2, f, ncx2, norm

from membership import attacks, data, metrics
from membership.arrays import FloatArray
from membership.book.exhibits.sentences import each
from membership.book.exhibits.tidy import tidy
from membership.book.studies.bayes_optimal.names import ACCURACY, AUC, PEAK
from membership.book.studies.bayes_optimal.settings import Settings

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
    average_tau = n_members * d / (2 * (n_members + 1)) + tau_constant(n_members, d)
    loss = _loss(game.z, game.theta)
    shown = {
        "MALT": (
            average_tau + attacks.malt(loss),
            lambda score, member: malt_density(average_tau - score, member, r2, n_members, d),
        ),
        "MAST": (
            _tau(game.z, n_members) - loss,
            lambda score, member: mast_density(score, member, r2, n_members, d),
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


def figure_1_said(table: pd.DataFrame) -> str:
    """The AUC of the game drawn, by attack."""
    auc = {
        attack: metrics.auc(rows["score"].to_numpy(), rows["member"].astype(bool).to_numpy())
        for attack, rows in table[table["series"] == "record"].groupby("attack")
    }
    return (
        f"In this game one threshold for all records reaches an AUC of "
        f"{100 * auc['MALT']:.1f}%, a threshold for each record {100 * auc['MAST']:.1f}%."
    )


def gaussian_accuracies(settings: Settings) -> pd.DataFrame:
    """Attack accuracies in the Gaussian game: simulated, and by exact formula.

    The games have exactly n' = gaussian_n // 2 members, so that the formulas apply.
    """
    n_members, d = settings.gaussian_n // 2, settings.gaussian_d
    decisions = {
        "MALT": exact_malt(n_members, d),
        "MAST": exact_mast(n_members, d),
        "LLR": exact_likelihood_ratio(n_members, d),
        "MATT": exact_matt(n_members, d),
    }
    known = {(attack, ACCURACY): 100 * decision.accuracy for attack, decision in decisions.items()}
    known["MALT", AUC] = 100 * exact_malt_auc(n_members, d)
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
    for metric in (ACCURACY, AUC):
        values = (wide["MAST", metric] - wide["MALT", metric]).to_numpy()
        key = {"attack": LEAD, "metric": metric, "exact": np.nan}
        rows.append(key | metrics.summary(values))
    return tidy(rows, _attrs(settings))


def gaussian_accuracies_said(table: pd.DataFrame) -> str:
    """How often each attack is wrong, and what the best threshold of one game hides."""
    return each(
        table.assign(wrong=100 - table["exact"]),
        (),
        "Exact shares of errors: MALT {malt.wrong:.1f}%, MATT {matt.wrong:.2f}%, MAST "
        "{mast.wrong:.2f}%. With the best threshold of each game MALT seems to be right "
        "{peak:.1f}% of the time, and is {malt.exact:.1f}%.",
        malt={"attack": "MALT", "metric": ACCURACY},
        matt={"attack": "MATT", "metric": ACCURACY},
        mast={"attack": "MAST", "metric": ACCURACY},
        peak={"attack": "MALT", "metric": PEAK},
    )


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
            ACCURACY: [metrics.balanced_accuracy(s, member, threshold) for s in fresh],
            AUC: [metrics.auc(s, member) for s in fresh],
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
        ACCURACY: metrics.balanced_accuracy(score, member, threshold),
        PEAK: metrics.balanced_accuracy(score, member),
        AUC: metrics.auc(score, member),
    }


def _tau(z: FloatArray, n_members: int) -> FloatArray:
    """Equation 34 with its constant; -log of the mean of exp(-loss) over N(0, I / n')."""
    share = n_members / (2 * (n_members + 1))
    return share * np.sum(z**2, axis=1) + tau_constant(n_members, z.shape[1])


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


class Decision(NamedTuple):
    """The best threshold on a score, and its balanced accuracy as a fraction."""

    threshold: float
    accuracy: float


def tau_constant(n_members: int, d: int) -> float:
    """The constant of tau, (d / 2) log((n' + 1) / n'), which Equations 34 and 35 drop."""
    return d / 2 * float(np.log1p(1 / n_members))


def exact_malt(n_members: int, d: int) -> Decision:
    """Best threshold on -l(theta, z) and its accuracy.

    Twice the loss is (1 - 1/n') chi2_d for a member and (1 + 1/n') chi2_d for a non-member; their
    densities cross once. For large d the accuracy is about Phi(sqrt(d / 2) / n').
    """
    inside, outside = 1 - 1 / n_members, 1 + 1 / n_members
    # d log(outside / inside) / (1 / inside - 1 / outside), without cancellation.
    twice_loss = d * np.arctanh(1 / n_members) * inside * outside * n_members
    accuracy = (chi2.cdf(twice_loss / inside, d) + chi2.sf(twice_loss / outside, d)) / 2
    return Decision(-float(twice_loss) / 2, float(accuracy))


def exact_malt_auc(n_members: int, d: int) -> float:
    """AUC of MALT: the ratio of the two chi-squared losses follows an F law."""
    return float(f.cdf((n_members + 1) / (n_members - 1), d, d))


def exact_mast(n_members: int, d: int) -> Decision:
    """Best threshold on MAST with the exact tau, and its accuracy: about Phi(sqrt(d / n') / 2).

    The score is v'u - |u|^2 / 2 - a |v|^2 + `tau_constant` with a = 1 / (2 (n' + 1)).
    """
    constant = tau_constant(n_members, d)
    weight = 1 / (2 * (n_members + 1))
    return _best(
        lambda t: _quadratic_accuracy(t - constant, weight, n_members, d),
        half_width=d / n_members,
    )


def exact_likelihood_ratio(n_members: int, d: int) -> Decision:
    """Threshold 0 on the exact log-likelihood ratio, which no attack that knows mu can beat.

    The ratio of N(u, (1 - 1/n') I) to N(0, I) at v is n'/(n' - 1) times the quadratic score with
    a = 1 / (2 n'), plus (d / 2) log(n' / (n' - 1)): MAST with n' + 1 replaced by n'.
    """
    scale = n_members / (n_members - 1)
    threshold = -d / 2 * np.log(scale) / scale
    accuracy = _quadratic_accuracy(threshold, 1 / (2 * n_members), n_members, d)
    return Decision(0.0, float(accuracy))


def exact_matt(n_members: int, d: int) -> Decision:
    """Best threshold on MATT, theta0 the mean of n' other records: about Phi(sqrt(d / 2n') / 2).

    Given D = |theta - theta0|^2, which is (2 / n') chi2_d, the score is N(D, D (1 - 1/n')) for a
    member and N(D / 2, D (1 + 1/(2 n'))) for a non-member.
    """

    def accuracy(threshold: float) -> float:
        probability, weight = _quadrature()
        distance = chi2.ppf(probability, d) * 2 / n_members
        inside = norm.cdf((distance - threshold) / np.sqrt(distance * (1 - 1 / n_members)))
        outside = norm.cdf((threshold - distance / 2) / np.sqrt(distance * (1 + 0.5 / n_members)))
        return float(weight @ (inside + outside)) / 2

    return _best(accuracy, half_width=2 * d / n_members)


def malt_density(loss: FloatArray, member: bool, r2: float, n_members: int, d: int) -> FloatArray:
    """Density of l(theta, z) in a game with r2 = |theta - mu|^2.

    A member's loss does not depend on r2; a non-member's is half a non-central chi-squared.
    """
    if member:
        scale = 1 - 1 / n_members
        return 2 / scale * chi2.pdf(2 * loss / scale, d)
    return 2 * ncx2.pdf(2 * loss, d, r2)


def mast_density(score: FloatArray, member: bool, r2: float, n_members: int, d: int) -> FloatArray:
    """Density of MAST's score with the exact tau in a game with r2 = |theta - mu|^2."""
    weight = 1 / (2 * (n_members + 1))
    distance = _distance(score - tau_constant(n_members, d), weight, r2)
    scale, noncentrality = _law(member, weight, r2, n_members)
    return ncx2.pdf(distance / scale, d, noncentrality) / (scale * weight)


def _quadratic_accuracy(threshold: float, weight: float, n_members: int, d: int) -> float:
    """Balanced accuracy of v'u - |u|^2 / 2 - weight |v|^2 >= threshold, mixed over u."""
    probability, mass = _quadrature()
    r2 = chi2.ppf(probability, d) / n_members
    distance = _distance(threshold, weight, r2)
    scale, noncentrality = _law(True, weight, r2, n_members)
    inside = ncx2.cdf(distance / scale, d, noncentrality)
    scale, noncentrality = _law(False, weight, r2, n_members)
    outside = ncx2.sf(distance / scale, d, noncentrality)
    return float(mass @ (inside + outside)) / 2


def _distance(score: FloatArray | float, weight: float, r2: FloatArray | float) -> FloatArray:
    """|v - u / (2 weight)|^2 where the quadratic score has this value: completing the square."""
    return (r2 / (4 * weight) - r2 / 2 - score) / weight


def _law(
    member: bool, weight: float, r2: FloatArray | float, n_members: int
) -> tuple[float, FloatArray | float]:
    """Scale and non-centrality of the chi-squared law of |v - u / (2 weight)|^2 given |u|^2."""
    if member:
        scale = 1 - 1 / n_members
        return scale, r2 * (1 - 0.5 / weight) ** 2 / scale
    return 1.0, r2 * (0.5 / weight) ** 2


def _quadrature() -> tuple[FloatArray, FloatArray]:
    """Gauss-Legendre nodes and weights on (0, 1), for means over a law by its quantiles."""
    node, weight = np.polynomial.legendre.leggauss(64)
    return (node + 1) / 2, weight / 2


def _best(accuracy: Callable[[float], float], half_width: float) -> Decision:
    """Maximise a single-peaked accuracy over thresholds up to `half_width` from 0."""
    least = minimize_scalar(
        lambda t: -accuracy(t), bounds=(-half_width, half_width), method="bounded"
    )
    return Decision(float(least.x), -float(least.fun))
