import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from membership import lood, nngp
from membership.exhibits.files import read_back
from membership.exhibits.records import one_by_one
from membership.studies.lood import (
    activations,
    edge,
    influenced,
    leakage,
    measures,
    one_inverse,
    sentences,
    statements,
)
from membership.studies.lood.experiment import at_edge, every_record, kernel_of, load


def test_the_closed_form_is_the_definition(gathered):
    table = one_inverse.one_by_one(gathered("measured-identity"))
    assert table["kernel"].nunique() == 3
    assert table["value"].max() < 1e-9


def test_evidence_gives_every_records_leakage_again(records, settings, gathered):
    exact, found = every_record(records, settings), measures.contrast(gathered("process-records"))
    np.testing.assert_allclose(found.kl(), exact.kl, rtol=1e-12)
    np.testing.assert_allclose(found.kl_reverse(), exact.kl_reverse, rtol=1e-12)
    np.testing.assert_allclose(found.auc(), exact.auc, rtol=1e-12)
    np.testing.assert_allclose(found.mean_distance, exact.mean_distance, rtol=1e-12)


def test_the_statements_hold(gathered, settings):
    slopes, records = gathered("measured-slopes"), gathered("process-records")
    table = statements.statements(slopes, records, [gathered("process-constant")], settings)
    table = table.set_index(["statement", "case", "quantity"])["value"]
    slopes = table["Theorem 4.1"]
    for (_, quantity), value in slopes.items():
        assert (value < 1e-5) == ("KL" in quantity), quantity
    assert (table["Appendix C.2"] >= 1).all()
    for place in influenced.PLACES:
        part = table["Proposition 5.1"][f"S {place}"]
        assert part["formula"] == pytest.approx(part["differences"], rel=1e-5)
    bounds = table["Proposition 6.1"].unstack("quantity")
    assert (bounds["largest variance"] <= bounds["its bound"]).all()
    assert (bounds["largest KL"] <= bounds["bound of the KL"]).all()


def test_the_released_deviations_are_not_on_the_edge_of_chaos_but_for_relu():
    table = statements.decay().set_index(["case", "metric"])["value"]
    relu = [table[f"ReLU, L = {depth}"]["(1 - c) L^2"] for depth in (10, 20, 40)]
    assert relu == sorted(relu)
    assert relu[-1] < 4.5 * np.pi**2
    assert table["GeLU, sqrt(2), no bias, L = 40"]["variance"] < 1e-8
    assert table["GeLU, 1.9822, no bias, L = 40"]["variance"] > 1e11


@pytest.mark.parametrize("place", list(influenced.PLACES.values()))
def test_kl_peaks_at_the_record_and_the_mean_distance_elsewhere(place, settings):
    found = influenced.comparison(place, settings)
    values = found.measure(influenced.GRID[:, None])
    assert influenced.GRID[np.argmax(values)] == pytest.approx(place, abs=0.006)
    assert found.measure(influenced.GRID[:, None], "mean").max() > found.measure(
        np.array([place]), "mean"
    )


def test_algorithm_1_finds_the_top_of_the_slope(settings, gathered):
    table = influenced.figure_11(gathered("measured-worst"), settings)
    slope = table[table["panel"] == influenced.PLACE]
    point = slope[slope["series"] == "Algorithm 1"].iloc[0]
    curve = slope[slope["series"] == "gradient at S"]
    assert point["value"] >= curve["value"].max() * (1 - 1e-6)


def test_the_released_slips_change_what_they_should(gathered):
    table = statements.released_code(gathered("process-slips"))
    table = table.set_index(["slip", "metric"])["value"]
    assert table[statements.LEFT_IN, "largest t, as released (at most 1/2)"] <= 0.5
    left_in = table[statements.LEFT_IN]
    assert left_in["median KL, as released"] < left_in["median KL, record left out"]
    assert 20 < table[statements.LABEL, "labels that change (%)"] < 80


def test_fixed_points_are_those_of_the_library_and_keep_the_variance():
    for q in (0.5, 4.0):
        w_std, b_std = nngp.edge_of_chaos("gelu", q)
        found = edge.point("GeLU", q)
        assert (found.w_std, found.b_variance) == pytest.approx((w_std, b_std**2), abs=1e-9)
        kernel = nngp.fully_connected(1, "gelu", w_std, b_std)
        squares = [(q + e - b_std**2) / w_std**2 for e in (-1e-4, 1e-4)]
        low, high = (kernel(np.full((1, 1), np.sqrt(one)))[0, 0] for one in squares)
        assert found.chi_var == pytest.approx((high - low) / 2e-4, rel=1e-5)
    assert edge.point("GeLU", 0.5).chi_var > 1
    assert edge.point("GeLU", 4.0).chi_var < 1


def test_correlations_follow_the_kernel_of_the_library():
    q, c = 2.0, edge.START
    w_std, b_std = nngp.edge_of_chaos("gelu", q)
    pair = np.sqrt((q - b_std**2) / w_std**2 * 2) * np.eye(2)
    share = (q * c - b_std**2) / (q - b_std**2)
    pair[1] = share * pair[0] + np.sqrt(1 - share**2) * pair[1]
    for depth in (2, 10):
        matrix = nngp.fully_connected(depth, "gelu", w_std, b_std)(pair)
        apart = 1 - matrix[0, 1] / matrix[0, 0]
        # The claim on these rates asks for an error below 1%.
        assert edge.point("GeLU", q).apart[depth] == pytest.approx(apart, rel=1e-3)
    assert edge.relu().apart[1000] * 1e6 == pytest.approx(4.5 * np.pi**2, rel=0.05)


def test_training_sets_share_no_record_and_say_the_same(records, settings, gathered):
    parts = [load(settings, part=part).dataset.x.reshape(60, -1) for part in range(3)]
    assert len(np.unique(np.concatenate(parts), axis=0)) == 180
    table = leakage.over_sets(gathered("process-sets"))
    assert not table.duplicated(["inputs", "training_set", "kernel", "metric"]).any()
    table = table.set_index(["inputs", "training_set", "kernel"]).sort_index()
    first = table.loc[("raw", 1, "ReLU, depth 2")]
    exact = every_record(records, settings)
    expected = spearmanr(exact.kl, exact.auc).statistic
    assert first.set_index("metric")["value"][leakage.OF_KL] == pytest.approx(expected)


def test_a_lead_is_that_of_the_ranks():
    rng = np.random.default_rng(0)
    truth = rng.normal(size=300)
    near, far = truth + 0.1 * rng.normal(size=300), truth + rng.normal(size=300)
    found = leakage.lead(near, far, truth)
    assert 0 < found["low"] < found["value"] < found["high"] < 0.5
    assert leakage.lead(far, near, truth)["value"] == pytest.approx(-found["value"])


@pytest.mark.parametrize("n", [3, 4, 10])
def test_the_lead_of_a_few_records_has_an_interval(n):
    one, two, three = np.random.default_rng(n).normal(size=(3, n))
    found = leakage.lead(one, two, three)
    assert found["low"] <= found["value"] <= found["high"]


@pytest.mark.slow
def test_shares_by_fixed_point_count_records(gathered):
    found = gathered("process-edge")
    table = activations.by_point([found])
    assert not table.duplicated(["dataset", "inputs", "activation", "q", "metric"]).any()
    row = table[(table["inputs"] == "raw") & (table["q"] == 4)].set_index("metric")
    part = found["more"].sel(inputs="raw", q=4, depth=2, ratio=0.1)
    assert row.loc["depth 2, noise 0.1 q (%)", "value"] == pytest.approx(100 * part.values.mean())
    assert row.loc["depth 2, noise 0.1 q (%)", "n"] == part.size


def test_an_activation_on_the_sphere_has_the_kernel_of_the_library(records):
    x, q = records.inputs("unit sphere"), 4.0
    w_std, b_std = nngp.edge_of_chaos("gelu", q)
    kernels = edge.on_sphere("GeLU", q, x @ x.T / x.shape[1], (1, 10))
    for depth, found in zip((1, 10), kernels, strict=True):
        expected = nngp.fully_connected(depth, "gelu", w_std, b_std)(at_edge(x, w_std, b_std, q))
        np.testing.assert_allclose(found, expected, atol=1e-3 * q)
        np.testing.assert_allclose(np.diag(found), q)


@pytest.mark.parametrize("name", list(edge.SMOOTH))
def test_gradients_keep_their_size_at_every_fixed_point(name):
    assert [edge.point(name, q).chi for q in edge.QS] == pytest.approx([1] * 7, rel=1e-3)


def test_the_influence_function_is_the_derivative_of_a_records_weight(records, settings, gathered):
    found = leakage.of_the_process(gathered("process-records"))["influence function"]
    matrix, y, row = kernel_of(settings)(records.inputs()), records.targets, 3

    def answer(weight):
        noise = np.full(len(y), settings.noise)
        noise[row] /= weight
        return matrix[row] @ np.linalg.solve(matrix + np.diag(noise), y)

    slope = (answer(1 + 1e-4) - answer(1 - 1e-4)) / 2e-4
    assert found[row] == pytest.approx(slope @ slope / 2, rel=1e-5)


def test_noise_is_held_against_records_of_like_mean_distance():
    distance = np.geomspace(1e-3, 1e3, 400)
    shift, excess = np.full((400, 1), 0.2), np.full((400, 1), 0.3)
    own = lood.Contrast(excess, shift, distance, 2)
    more = lood.Contrast(excess[:9] * 4, shift[:9], distance[:9], 2)
    found = leakage._at_like_distance(own, more)
    assert found["value"] == pytest.approx(more.auc()[0] - own.auc()[0])
    assert found["n"] == 9


def test_the_map_holds_every_record_once(records, gathered):
    table = leakage.leakage_map(gathered("process-records"))
    assert sorted(table["record"]) == list(range(len(records)))
    for _, rows in table.groupby("class"):
        assert rows["kl"].is_monotonic_decreasing
        assert (rows["pixels"] != "").sum() == 20


def test_a_reader_sees_each_record_of_the_map_with_its_rank_among_all(records, gathered):
    table = read_back(leakage.leakage_map(gathered("process-records")))
    found = one_by_one(leakage.one_by_one(table))
    first = found["records"][0]
    assert {one["of"] for one in found["records"]} == {len(records)}
    assert len(found["records"]) == 40
    row = table.iloc[0]
    assert first["label"] == f"{row['label']}, record {row['record']}"
    for name, rank in zip(("kl", "mean_distance", "auc", "kl_rbf"), first["ranks"], strict=True):
        assert rank == 1 + (table[name] > row[name]).sum()


def test_noise_pictures_leak_more_than_records(gathered):
    table = leakage.figure_6(gathered("process-records"))
    kl = table[table["panel"] == "KL"].groupby("series")["y"].median()
    assert kl["NNGP, uniform noise"] > kl["NNGP, records"]


def test_a_timing_is_marked_and_compared_with_the_readme(gathered):
    table = one_inverse.table(gathered("measured-times"), [])
    assert table.attrs["timing"]
    assert (table["value"] > 0).all()
    judged = one_inverse.comparison(table).set_index("quantity")
    assert judged.loc[one_inverse.RATIO, "published"] == 105
    assert judged.loc[one_inverse.RATIO, "verdict"] == "not comparable"


def test_the_size_of_the_readme_is_told_where_it_was_run(gathered):
    times = gathered("measured-times")
    assert "GiB" not in sentences.speed(one_inverse.table(times, []))
    few = times["seconds"].to_series()
    seconds = pd.concat([few, pd.Series({"kernel of many": 57.0, "all of many": 45.5})])
    seconds.index.name = "task"
    many = seconds.rename("seconds").to_xarray().to_dataset()
    many.attrs = {**times.attrs, "records_at_most": 10_000, "peak_gib": 2.1}
    told = sentences.speed(one_inverse.table(many, []))
    assert told.endswith("All of 10,000 records take 102 s and 2.1 GiB.")
