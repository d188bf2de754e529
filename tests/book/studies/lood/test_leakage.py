"""Leakage of every record: what its estimates follow, and how the map shows it."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from membership import lood
from membership.book.exhibits.files import read_back
from membership.book.exhibits.panels import one_by_one
from membership.book.studies.lood import leakage, measures
from membership.book.studies.lood.experiment import every_record, kernel_of, load


def test_evidence_gives_every_records_leakage_again(records, settings, gathered):
    exact, found = every_record(records, settings), measures.contrast(gathered("process-records"))
    np.testing.assert_allclose(found.kl(), exact.kl, rtol=1e-12)
    np.testing.assert_allclose(found.kl_reverse(), exact.kl_reverse, rtol=1e-12)
    np.testing.assert_allclose(found.auc(), exact.auc, rtol=1e-12)
    np.testing.assert_allclose(found.mean_distance, exact.mean_distance, rtol=1e-12)


@pytest.mark.slow
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
