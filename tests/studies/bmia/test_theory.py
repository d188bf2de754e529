from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import norm

from membership.studies.bmia import theory, toy

pytestmark = pytest.mark.slow

SETTINGS = SimpleNamespace(seed=0)


@pytest.fixture(scope="module")
def table():
    return theory.control_9(SETTINGS)


def test_the_plus_sign_agrees_with_the_simulation_and_the_minus_does_not(table):
    rows = table[table["case"].str.startswith("4.1, means")].set_index("quantity")
    simulated = rows.loc["TPR (%), simulated"]
    assert simulated["low"] <= rows.loc["TPR (%), plus sign (4.1 and the proof)", "value"]
    assert rows.loc["TPR (%), plus sign (4.1 and the proof)", "value"] <= simulated["high"]
    assert rows.loc["TPR (%), minus sign (statement of 4.2)", "value"] > 99


def test_proposition_4_2_has_a_counterexample(table):
    rows = table[table["case"].str.contains("counterexample")].set_index("quantity")["value"]
    assert rows["TPR (%), conditional"] == pytest.approx(18.0, abs=0.1)
    assert rows["TPR (%), marginal, by the normal law"] == pytest.approx(30.7, abs=0.1)
    # One threshold serves all non-members, who have one law: it is the conditional one.
    assert rows["TPR (%), marginal, exact"] == pytest.approx(rows["TPR (%), conditional"])


@pytest.mark.parametrize("case", theory.EXACT)
def test_exact_rates_of_two_kinds_by_simulation(case):
    others, members = (np.array(laws, dtype=float) for laws in theory.EXACT[case])
    rng = np.random.default_rng(0)
    kind = rng.integers(2, size=1_000_000)
    drawn, drawn_in = (
        laws[kind, 0] + laws[kind, 1] * rng.standard_normal(kind.size) for laws in (others, members)
    )
    marginal, each = theory.exact_tprs(others, members, 0.01)
    assert (drawn_in > np.quantile(drawn, 0.99)).mean() == pytest.approx(marginal, abs=0.004)
    own = norm.isf(0.01, *others[kind].T)
    assert (drawn > own).mean() == pytest.approx(0.01, abs=0.0005)
    for k in range(2):
        found = (drawn_in > own)[kind == k].mean()
        assert found == pytest.approx(each[k], abs=0.003)
    # Within the premises of the paper's proof, and its claim fails.
    assert each.max() < 0.5
    assert each.mean() < marginal - 0.03


def test_the_formula_s_inequality_holds_where_all_members_have_one_law(table):
    rows = table[table["quantity"].str.contains("members have one law")]
    assert (rows["value"] == 0).all()
    fails = table[table["quantity"].str.contains("1/2") & ~table["quantity"].str.contains("law")]
    assert fails["value"].max() > 5


def test_the_band_over_all_weights_is_widest_where_there_are_no_records(monkeypatch):
    monkeypatch.setattr(toy, "STEPS", 600)
    monkeypatch.setattr(toy, "TEST", 500)
    table = toy.figure_1(SETTINGS)
    width = table.assign(width=table["high"] - table["low"]).query("series != 'data'")
    middle = width[width["x"].abs() < 0.04].set_index("series")["width"]
    assert middle["Laplace, all weights"] > middle["Laplace, last layer"]
    assert middle["Laplace, all weights"] > 2 * middle["quantile regression"]


def test_the_toys_evidence_is_the_marginal_density_of_the_data():
    """Against the normal density of y itself, for a model that is linear."""
    rng = np.random.default_rng(0)
    design, y = rng.standard_normal((12, 3)), rng.standard_normal(12)
    noise, precision = 0.3, 2.0
    gram = design.T @ design
    mode = np.linalg.solve(gram / noise + precision * np.eye(3), design.T @ y / noise)
    evidence = toy.Evidence(
        np.linalg.eigvalsh(gram), ((y - design @ mode) ** 2).sum(), (mode**2).sum(), 12
    )
    covariance = noise * np.eye(12) + design @ design.T / precision
    _, log_det = np.linalg.slogdet(covariance)
    direct = (12 * np.log(2 * np.pi) + log_det + y @ np.linalg.solve(covariance, y)) / 2
    assert evidence.negative_log(np.log([noise, precision])) == pytest.approx(direct)
