"""The table of bounds: each on the same canaries, another library's beside them if it is there."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from benchmarks import _mechanisms, bounds
from membership import privacy

OURS = {"epsilon, independent trials", "mu, independent trials", "epsilon, one run", "mu, one run"}
LEAST = (
    "Gaussian, mu 0",
    "Gaussian, mu 2",
    "Gaussian, mu 1, a member in 21",
    "randomised response, 1",
    "told with 1%, else response, 1, delta .01",
    "the same by unit",
)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = [one for one in bounds.settings() if one.name in LEAST]
    listed = [one for one in listed if 200 < one.records < 10_000]
    monkeypatch.setattr(bounds, "settings", lambda: listed)
    monkeypatch.setattr(bounds, "RUNS", 3)
    monkeypatch.setitem(sys.modules, "jax_privacy.auditing", None)


def test_each_cell_is_the_mean_of_the_runs_and_how_many_are_above_the_truth(small) -> None:
    table = bounds.run().set_index("scores")
    assert set(table.columns) == OURS | {"records", "runs", bounds.EPSILON, bounds.MU, bounds.HOLDS}
    chosen = {one.name: one for one in bounds.settings()}
    for name in (LEAST[1], *LEAST[3:]):
        one = chosen[name]
        found = [
            (
                privacy.epsilon_lower_bound(*one.drawn(s), delta=one.delta),
                privacy.mu_lower_bound(*one.drawn(s)),
            )
            for s in range(3)
        ]
        above = np.array(found) > (one.epsilon, one.mu)
        for i, kind in enumerate(("epsilon", "mu")):
            cell = table.loc[name, f"{kind}, independent trials"]
            assert cell == f"{np.mean(found, axis=0)[i]:.2f} ({above.mean(axis=0)[i]:.0%})"
    assert table.loc["Gaussian, mu 0", bounds.EPSILON] == "0.00"
    # So uneven are no fair coins.
    assert set(table.loc[LEAST[2], ["epsilon, one run", "mu, one run"]]) == {"refused"}
    # An interval can be judged by this where nothing leaks.
    assert set(table.loc[["Gaussian, mu 2", "randomised response, 1"], bounds.HOLDS]) == {""}
    assert table.loc["the same by unit", bounds.HOLDS] in {"0%", "33%", "67%", "100%"}


def test_an_interval_holds_a_half_or_does_not() -> None:
    member = np.arange(200) < 100
    assert bounds._holds(np.arange(200) % 100 + 0.0, member)
    assert not bounds._holds(-np.arange(200.0), member)


def test_true_levels_are_known() -> None:
    truth = {one.name: one.epsilon for one in bounds.settings()}
    # A delta of 1e-5 is all that is missing.
    assert truth["randomised response, 1"] == pytest.approx(1, abs=1e-4)
    assert truth["randomised response, 3"] == pytest.approx(3, abs=1e-3)
    assert truth["two values, 5% and .5%"] == pytest.approx(np.log(10), abs=1e-3)
    assert truth["two values, no leak"] == 0
    assert truth["Gaussian, mu 1"] == pytest.approx(4.38, abs=0.01)
    assert 0 < truth["five values, mu 1"] < truth["Gaussian, mu 1"] < truth["a tenth of mu 3"]
    # The delta is what is told; without it no epsilon would do.
    assert truth["told with 1%, else response, 1, delta .01"] == pytest.approx(1, abs=1e-6)
    assert truth["told with 2%, delta .02"] == 0
    assert truth["told with 2%"] == np.inf
    assert truth["Laplace, 1"] == pytest.approx(1, abs=1e-3)
    assert truth["Laplace, 3"] == pytest.approx(3, abs=1e-3)
    # Two Cauchy laws d apart are at most (d^2 + 2 + d sqrt(d^2 + 4)) / 2 times as likely.
    assert truth["Cauchy, 2 apart"] == pytest.approx(np.log(3 + 2 * np.sqrt(2)), abs=1e-3)
    half = truth["mu 2, half of the scores tie"]
    assert 0.5 * privacy.gaussian_delta(2.0, half) == pytest.approx(1e-5, rel=1e-6)
    fine = tuple(np.diff(stats.norm.cdf(np.linspace(-9, 11, 10**5) - m)) for m in (1, 0))
    assert _mechanisms.true_epsilon(fine, 1e-5) == pytest.approx(truth["Gaussian, mu 1"], abs=1e-3)


def test_true_mu_is_the_least_whose_curve_is_below() -> None:
    truth = {one.name: one.mu for one in bounds.settings()}
    # A fair response is right with e^eps / (1 + e^eps): one corner, where both errors are alike.
    for epsilon in (1, 3):
        corner = 2 * stats.norm.ppf(np.exp(epsilon) / (1 + np.exp(epsilon)))
        assert truth[f"randomised response, {epsilon}"] == pytest.approx(corner)
    assert truth["two values, 5% and .5%"] == pytest.approx(
        stats.norm.ppf(0.05) - stats.norm.ppf(0.005)
    )
    # Rounding a score can only hide.
    assert 0 < truth["five values, mu 1"] <= 1 + 1e-9
    assert truth["two values, no leak"] == 0
    assert truth["told with 2%"] == np.inf
    # Cut off in the middle, two Laplace laws err alike: a half of e^(-1/2).
    assert truth["Laplace, 1"] == pytest.approx(-2 * stats.norm.ppf(np.exp(-0.5) / 2), abs=1e-3)


def test_scores_are_those_that_the_setting_names() -> None:
    chosen = {one.name: one for one in bounds.settings()}
    score, member = chosen["ten visits a person in or out, no leak, by record"].drawn(0)
    assert (member.reshape(-1, 10) == member[::10, None]).all()
    mean, person = chosen["the same by unit"].drawn(0)
    np.testing.assert_allclose(mean, score.reshape(-1, 10).mean(axis=1))
    assert (person == member[::10]).all()
    score, member = chosen["randomised response, 3"].drawn(0)
    assert set(score) == {0.0, 1.0}
    assert (score == member).mean() == pytest.approx(1 / (1 + np.exp(-3)), abs=0.03)
    _, member = chosen["Gaussian, mu 1, another in 21"].drawn(0)
    assert (~member).mean() == pytest.approx(1 / 21, abs=0.02)
    score, _ = chosen["mu 2, half of the scores tie"].drawn(0)
    assert (score == 0).mean() == pytest.approx(0.5, abs=0.06)
    score, member = chosen["told with 2%"].drawn(0)
    assert set(score[member]) == {1.0, 2.0}
    assert set(score[~member]) == {0.0, 1.0}


def test_one_noisy_sum_answers_for_all() -> None:
    """With three members, by loops; the noise is all that a release adds."""
    member = np.arange(6) < 3
    found = _mechanisms.noisy_sum(2.0, 4, np.random.default_rng(0), member)
    rng = np.random.default_rng(0)
    vectors = [v / np.sqrt((v**2).sum()) for v in rng.normal(size=(6, 4))]
    release = sum(vectors[:3]) + rng.normal(size=4) / 2
    np.testing.assert_allclose(found, [(v * release).sum() for v in vectors])


def test_another_librarys_bounds_are_put_beside_where_it_is_there(small, monkeypatch) -> None:
    seen = []

    class Auditor:
        def __init__(self, inside: np.ndarray, outside: np.ndarray) -> None:
            seen.append(len(inside) + len(outside))

        def __getattr__(self, method: str):
            return lambda significance, delta: 99.0 if significance < 0.06 else 0.0

    peer = SimpleNamespace(CanaryScoreAuditor=Auditor)
    monkeypatch.setitem(sys.modules, "jax_privacy", SimpleNamespace(auditing=peer))
    monkeypatch.setitem(sys.modules, "jax_privacy.auditing", peer)
    table = bounds.run()
    assert {name for name in table.columns if name.startswith("jax_privacy")}
    assert set(table["jax_privacy: one run"]) == {"99.00 (100%)"}
    assert set(seen) == {100, 1000, 2100}
