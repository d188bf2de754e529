"""The table of bounds: each on the same canaries, another library's beside them if it is there."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks import bounds
from membership import privacy

OURS = {"epsilon, independent trials", "mu, independent trials", "epsilon, one run", "mu, one run"}


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "RUNS", {60: 4})
    monkeypatch.setattr(bounds, "MUS", (0.0, 2.0))
    monkeypatch.setitem(sys.modules, "jax_privacy.auditing", None)


def test_each_cell_is_the_mean_of_the_runs_and_how_many_are_above_the_truth(small) -> None:
    table = bounds.run().set_index("bound")
    assert set(table.index) == OURS | {"true epsilon"}
    found = [
        privacy.epsilon_lower_bound(*bounds.canaries(60, 2.0, s), delta=1e-5) for s in range(4)
    ]
    truth = privacy.gaussian_epsilon(2.0, 1e-5)
    above = np.mean(np.array(found) > truth)
    cell = table.loc["epsilon, independent trials", "mu = 2"]
    assert cell == f"{np.mean(found):.2f}, {above:.0%} above"
    assert table.loc["true epsilon", "mu = 2"] == f"{truth:.2f}"
    assert table.loc["true epsilon", "mu = 0"] == "0.00"


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
    table = bounds.run().set_index("bound")
    assert {name for name in table.index if name.startswith("jax_privacy")}
    assert set(table.loc["jax_privacy: one run"][["mu = 0", "mu = 2"]]) == {"99.00, 100% above"}
    assert set(seen) == {60}
