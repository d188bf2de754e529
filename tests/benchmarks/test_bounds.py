"""The table of bounds: each on the same canaries, another library's beside them if it is there."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from benchmarks import bounds
from membership import privacy

OURS = {"epsilon, independent trials", "mu, independent trials", "epsilon, one run", "mu, one run"}


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = [one for one in bounds.settings() if one.records == 1000]
    monkeypatch.setattr(bounds, "settings", lambda: listed)
    monkeypatch.setattr(bounds, "RUNS", {100: 3, 1000: 3})
    monkeypatch.setitem(sys.modules, "jax_privacy.auditing", None)


def test_each_cell_is_the_mean_of_the_runs_and_how_many_are_above_the_truth(small) -> None:
    table = bounds.run().set_index("scores")
    assert set(table.columns) == OURS | {"records", "runs", "true epsilon"}
    chosen = {one.name: one for one in bounds.settings()}
    for name in ("Gaussian, mu 2", "randomised response, 1", "the same by unit"):
        found = [privacy.epsilon_lower_bound(*chosen[name].drawn(s), delta=1e-5) for s in range(3)]
        above = np.mean(np.array(found) > chosen[name].truth)
        cell = table.loc[name, "epsilon, independent trials"]
        assert cell == f"{np.mean(found):.2f} ({above:.0%})"
    assert table.loc["Gaussian, mu 0", "true epsilon"] == "0.00"


def test_true_levels_are_known() -> None:
    truth = {one.name: one.truth for one in bounds.settings()}
    # A delta of 1e-5 is all that is missing.
    assert truth["randomised response, 1"] == pytest.approx(1, abs=1e-4)
    assert truth["randomised response, 3"] == pytest.approx(3, abs=1e-3)
    assert truth["two values, 5% and .5%"] == pytest.approx(np.log(10), abs=1e-3)
    assert truth["two values, no leak"] == 0
    assert truth["Gaussian, mu 1"] == pytest.approx(4.38, abs=0.01)
    assert 0 < truth["five values, mu 1"] < truth["Gaussian, mu 1"] < truth["a tenth of mu 3"]
    fine = bounds.true_epsilon(
        *(np.diff(stats.norm.cdf(np.linspace(-9, 11, 10**5) - m)) for m in (1, 0))
    )
    assert fine == pytest.approx(truth["Gaussian, mu 1"], abs=1e-3)


def test_scores_are_those_that_the_setting_names() -> None:
    chosen = {one.name: one for one in bounds.settings()}
    score, member = chosen["ten visits a person, no leak, by record"].drawn(0)
    assert (member.reshape(-1, 10) == member[::10, None]).all()
    mean, person = chosen["the same by unit"].drawn(0)
    np.testing.assert_allclose(mean, score.reshape(-1, 10).mean(axis=1))
    assert (person == member[::10]).all()
    score, member = chosen["randomised response, 3"].drawn(0)
    assert set(score) == {0.0, 1.0}
    assert (score == member).mean() == pytest.approx(1 / (1 + np.exp(-3)), abs=0.03)


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
    assert set(seen) == {100, 1000}
