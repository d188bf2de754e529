from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from membership.book.studies.bayes_optimal import gaussian


def settings(**changes):
    sizes = {
        "seed": 0,
        "gaussian_n": 20,
        "gaussian_d": 50,
        "gaussian_repeats": 6,
        "gaussian_references": 4,
    }
    return SimpleNamespace(**(sizes | changes))


def test_figure_1_scores_lie_where_the_densities_put_them():
    table = gaussian.figure_1(settings(gaussian_n=100, gaussian_d=2000, seed=3))
    for key, group in table.groupby(["attack", "member"]):
        curve = group[group.series == "exact"]
        own = group[group.series == "record"].score
        mean = np.trapezoid(curve.density * curve.score, curve.score)
        spread = np.sqrt(np.trapezoid(curve.density * (curve.score - mean) ** 2, curve.score))
        # As if independent: that members sum to n' theta adds 1 / n' to the variance.
        assert abs(own.mean() - mean) < 4 * spread / np.sqrt(len(own)), key


def test_tau_is_minus_the_log_of_the_mean_likelihood():
    # The integral of Equation 43, with its sign put right, is a product over dimensions.
    n_members, z = 5, np.array([[0.3, -1.2, 2.0], [0.0, 0.5, -0.7]])
    node, weight = np.polynomial.hermite_e.hermegauss(60)
    t = node / np.sqrt(n_members)
    integral = np.exp(-((z[..., None] - t) ** 2) / 2) @ weight / weight.sum()
    expected = -np.log(integral).sum(axis=1)
    assert gaussian._tau(z, n_members) == pytest.approx(expected, abs=1e-12)


def test_simulated_accuracies_agree_with_the_formulas():
    table = gaussian.gaussian_accuracies(
        settings(gaussian_n=100, gaussian_d=2000, gaussian_repeats=60)
    )
    known = table.dropna(subset="exact")
    assert set(known.attack) == {"MALT", "MAST", "LLR", "MATT"}
    assert (abs(known.value - known.exact) < 4 * known.standard_error).all()
    values = table[table.attack != gaussian.LEAD].pivot(
        index="attack", columns="metric", values="value"
    )
    lead = table[(table.attack == gaussian.LEAD) & (table.metric == "attack_accuracy(%)")].iloc[0]
    accuracy = values["attack_accuracy(%)"]
    assert lead.value == pytest.approx(accuracy["MAST"] - accuracy["MALT"])
    assert 0 < lead.standard_error < 2
    assert (values["peak_accuracy(%)"] >= values["attack_accuracy(%)"]).all()
    assert ((table.low <= table.value) & (table.value <= table.high)).all()
    assert (table.n_repeats == 60).all()


def test_estimated_taus_fall_short_of_the_exact_one():
    table = gaussian.gaussian_references(
        settings(gaussian_n=40, gaussian_d=100, gaussian_repeats=80, gaussian_references=3)
    )
    assert list(table.columns[:4]) == ["tau", "n_reference", "metric", "value"]
    auc = table[table.metric == "auc(%)"].set_index("tau")
    assert auc.low["exact"] > auc.high["mean"]
    assert auc.low["exact"] > auc.high["log-mean-exp"]
    lead = auc.loc[gaussian.MEAN_LEAD]
    assert lead.value == pytest.approx(auc.value["mean"] - auc.value["log-mean-exp"])
    assert auc.n_reference.drop(gaussian.MEAN_LEAD).to_dict() == {
        "log-mean-exp": 3,
        "mean": 3,
        "exact": 0,
    }


def test_the_harder_game_leaves_room_for_either_average():
    table = gaussian.gaussian_references(settings(gaussian_repeats=12), unsaturated=True)
    accuracy = table[table.metric == "attack_accuracy(%)"].set_index("tau").value
    # Phi(sqrt(d / n') / 2) at d = 2 n'.
    assert accuracy["exact"] == pytest.approx(76.0, abs=3)
    assert accuracy["mean"] < accuracy["exact"] + 1


def test_one_reference_makes_both_taus_the_same():
    table = gaussian.gaussian_references(settings(gaussian_references=1))
    values = table.pivot(index="tau", columns="metric", values="value")
    assert values.loc["mean"].to_numpy() == pytest.approx(values.loc["log-mean-exp"].to_numpy())


@pytest.mark.parametrize(
    "study", [gaussian.figure_1, gaussian.gaussian_accuracies, gaussian.gaussian_references]
)
def test_the_same_seed_gives_the_same_table(study):
    pd.testing.assert_frame_equal(study(settings()), study(settings()), check_exact=True)
    assert not study(settings()).equals(study(settings(seed=1)))
    assert study(settings()).attrs["deviations"] == ["n = 20, d = 50; the paper: 100, 2000"]


DRAWS = 200_000


def draw(n_members, d, seed):
    """One member and one non-member a game, from the definition of the game."""
    rng = np.random.default_rng(seed)
    records = rng.standard_normal((DRAWS // n_members, n_members, d))
    theta = records.mean(axis=1)
    theta0 = rng.standard_normal((DRAWS // n_members, n_members, d)).mean(axis=1)
    return theta, theta0, {True: records[:, 0], False: rng.standard_normal(theta.shape)}


def slow_score(attack, z, theta, theta0, n_members):
    d = z.shape[1]
    loss = ((z - theta) ** 2).sum(axis=1) / 2
    if attack == "malt":
        return -loss
    if attack == "mast":
        tau = n_members / (2 * (n_members + 1)) * (z**2).sum(axis=1)
        return tau + d / 2 * np.log((n_members + 1) / n_members) - loss
    if attack == "matt":
        return -((theta - theta0) * (theta0 - z)).sum(axis=1)
    variance = 1 - 1 / n_members
    inside = -((z - theta) ** 2).sum(axis=1) / (2 * variance) - d / 2 * np.log(variance)
    return inside + (z**2).sum(axis=1) / 2


@pytest.mark.slow
@pytest.mark.parametrize("size", [(5, 20), (3, 4), (20, 30)])
@pytest.mark.parametrize("attack", ["malt", "mast", "likelihood_ratio", "matt"])
def test_accuracy_at_the_threshold_agrees_with_simulation(attack, size):
    n_members, d = size
    theta, theta0, z = draw(n_members, d, seed=7)
    decision = getattr(gaussian, f"exact_{attack}")(n_members, d)
    rates = [
        np.mean((slow_score(attack, z[m], theta, theta0, n_members) >= decision.threshold) == m)
        for m in (True, False)
    ]
    error = np.sqrt(sum(rate * (1 - rate) for rate in rates) / len(theta)) / 2
    assert abs(np.mean(rates) - decision.accuracy) < 4 * error


@pytest.mark.parametrize("attack", ["malt", "mast", "likelihood_ratio", "matt"])
def test_no_other_threshold_does_better(attack):
    n_members, d = 5, 20
    theta, theta0, z = draw(n_members, d, seed=8)
    decision = getattr(gaussian, f"exact_{attack}")(n_members, d)
    scores = {m: slow_score(attack, z[m], theta, theta0, n_members) for m in z}
    for shift in (-1.5, -0.7, 0.7, 1.5):
        other = [np.mean((scores[m] >= decision.threshold + shift) == m) for m in (True, False)]
        error = np.sqrt(sum(rate * (1 - rate) for rate in other) / len(theta)) / 2
        assert np.mean(other) < decision.accuracy + 4 * error


EXACT = {
    "malt": (gaussian.exact_malt, lambda n, d: np.sqrt(d / 2) / n),
    "mast": (gaussian.exact_mast, lambda n, d: np.sqrt(d / n) / 2),
    "likelihood ratio": (gaussian.exact_likelihood_ratio, lambda n, d: np.sqrt(d / n) / 2),
    "matt": (gaussian.exact_matt, lambda n, d: np.sqrt(d / (2 * n)) / 2),
}


@pytest.mark.parametrize(
    ("attack", "figure_1", "off", "limit_off"),
    [
        ("malt", 0.7365, 5e-5, 1e-3),
        ("mast", 0.9993, 5e-5, 1e-3),
        ("likelihood ratio", 0.9993, 5e-5, 1e-3),
        # The normal approximation, 0.9873, leaves out that |theta - theta0| varies between games.
        ("matt", 0.987, 2e-3, 2e-3),
    ],
)
def test_accuracies_are_figure_1s_and_large_sizes_approach_the_normal_limits(
    attack, figure_1, off, limit_off
):
    exact, limit = EXACT[attack]
    assert exact(50, 2000).accuracy == pytest.approx(figure_1, abs=off)
    large = 400, 10_000
    assert exact(*large).accuracy == pytest.approx(norm.cdf(limit(*large)), abs=limit_off)


@pytest.mark.parametrize("size", [(2, 1), (3, 4), (5, 20), (50, 2000), (500, 2000)])
def test_nothing_beats_the_likelihood_ratio(size):
    best = gaussian.exact_likelihood_ratio(*size).accuracy
    for attack in (gaussian.exact_malt, gaussian.exact_mast, gaussian.exact_matt):
        assert 0.5 < attack(*size).accuracy <= best + 1e-9


def test_auc_of_malt_agrees_with_simulation():
    theta, _, z = draw(5, 20, seed=9)
    loss = {m: ((z[m] - theta) ** 2).sum(axis=1) for m in z}
    wins = np.mean(loss[True] < loss[False])
    error = np.sqrt(wins * (1 - wins) / len(theta))
    assert abs(wins - gaussian.exact_malt_auc(5, 20)) < 4 * error


@pytest.mark.slow
@pytest.mark.parametrize("size", [(4, 3), (50, 2000)])
@pytest.mark.parametrize("member", [True, False])
def test_densities_are_those_of_the_scores_given_the_game(size, member):
    n_members, d = size
    rng = np.random.default_rng(3)
    theta = rng.standard_normal(d) / np.sqrt(n_members)
    r2 = float(theta @ theta)
    noise = rng.standard_normal((4_000, d))
    z = theta + np.sqrt(1 - 1 / n_members) * noise if member else noise
    loss = slow_score("malt", z, theta, theta, n_members) * -1
    score = slow_score("mast", z, theta, theta, n_members)
    for drawn, density in ((loss, gaussian.malt_density), (score, gaussian.mast_density)):
        span = np.ptp(drawn)
        grid = np.linspace(drawn.min() - span, drawn.max() + span, 40_001)
        curve = density(grid, member, r2, n_members, d)
        assert np.trapezoid(curve, grid) == pytest.approx(1, abs=1e-3)
        mean = np.trapezoid(curve * grid, grid)
        variance = np.trapezoid(curve * (grid - mean) ** 2, grid)
        assert abs(mean - drawn.mean()) < 4 * drawn.std() / np.sqrt(drawn.size)
        fourth = np.mean((drawn - drawn.mean()) ** 4)
        error = np.sqrt((fourth - drawn.var() ** 2) / drawn.size)
        assert abs(variance - drawn.var()) < 4 * error
