from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from membership.studies.bayes_optimal import gaussian


def settings(**changes):
    sizes = {
        "seed": 0,
        "gaussian_n": 20,
        "gaussian_d": 50,
        "gaussian_repeats": 6,
        "gaussian_references": 4,
    }
    return SimpleNamespace(**(sizes | changes))


def test_figure_1_pairs_scores_with_densities():
    table = gaussian.figure_1(settings(gaussian_n=100, gaussian_d=2000))
    assert list(table.columns) == ["attack", "member", "series", "score", "density"]
    records = table[table.series == "record"]
    assert (records.groupby("attack").size() == 100).all()
    assert records.density.isna().all()
    for _, curve in table[table.series == "exact"].groupby(["attack", "member"]):
        assert np.trapezoid(curve.density, curve.score) == pytest.approx(1, abs=0.02)
    assert table.attrs["deviations"] == []
    members = records[records.attack == "MALT"]["member"].sum()
    assert f"{members} of 100 records are members" in table.attrs["note"]


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
    assert study(settings()).attrs["deviations"]
    assert study(settings()).attrs["deviations"] == ["n = 20, d = 50; the paper: 100, 2000"]
