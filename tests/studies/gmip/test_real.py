"""The studies on real gradients, at the sizes of the tiny profile."""

import numpy as np
import pytest

from membership import data
from membership.errors import InputError
from membership.studies.gmip import (
    augmentation,
    controls,
    gradients,
    loss_attack,
    tasks,
    texts,
    utility,
)
from membership.studies.gmip.settings import Settings
from membership.training.private import record_gradients


@pytest.fixture(scope="module")
def settings():
    return Settings.from_values({"profile": "tiny", "audit_models": 3})


@pytest.fixture(scope="module")
def some(settings):
    return tasks.tasks(settings)


@pytest.fixture(scope="module")
def audits(some, settings):
    return gradients.audit(some, settings)


def test_a_task_has_disjoint_splits(settings):
    task = tasks.task("digits", settings)
    parts = gradients.split(task, settings, 0)
    members, others, background = (set(p.tolist()) for p in vars(parts).values())
    assert len(members) == len(others) == task.recipe.audit_batch
    assert not members & others
    assert not background & (members | others)
    assert max(others) < task.n_test <= min(members)
    np.testing.assert_allclose(task.features.mean(axis=0), 0, atol=1e-12)


def test_own_data_takes_the_same_way(settings, tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "own.npz"
    np.savez(path, x=rng.standard_normal((900, 6)).astype(np.float32), y=rng.integers(3, size=900))
    task = tasks.task(str(path), settings)
    assert task.features.shape == (900, task.recipe.width)
    assert task.dimension == 3 * (task.recipe.width + 1)
    np.savez(path, x=np.eye(20, dtype=np.float32), y=np.arange(20) % 10)
    with pytest.raises(InputError, match="dataset has 20 records"):
        tasks.task(str(path), settings)


def test_purchase_has_20_classes_and_128_features(settings, monkeypatch, tmp_path):
    monkeypatch.setenv("MEMBERSHIP_CACHE", str(tmp_path))
    rng = np.random.default_rng(0)
    x, y = rng.integers(2, size=(40_000, 9)), rng.integers(100, size=40_000)
    made = data.Dataset(x, y, "purchase_like", 100, "made up", data.record_digest(x, y))
    monkeypatch.setattr(data, "load", lambda name, root: made)
    task = tasks.task("purchase_like:40000", settings)
    assert (task.recipe.classes, task.recipe.width, task.dimension) == (20, 128, 2580)
    assert task.published == "Purchase"
    assert any("simulated" in text for text in task.deviations)
    small = data.Dataset(x[:9000], y[:9000], "purchase_like", 100, "made up", "0")
    monkeypatch.setattr(data, "load", lambda name, root: small)
    with pytest.raises(InputError, match="too few to estimate a covariance of rank 2451"):
        tasks.task("purchase_like:9000", settings)


def test_cifar_has_64_components_of_a_network_trained_on_other_images(
    settings, monkeypatch, tmp_path
):
    monkeypatch.setenv("MEMBERSHIP_CACHE", str(tmp_path))
    rng = np.random.default_rng(0)
    made = {}
    for name, n in (("cifar10", 1200), ("cifar100_20k", 64)):
        x, y = rng.random((n, 3, 32, 32), dtype=np.float32), np.arange(n) % 10
        made[name] = data.Dataset(x, y, name, 10, "made up", name)
    monkeypatch.setattr(data, "load", lambda name, root: made[name])
    task = tasks.task("cifar10", settings)
    assert (task.features.shape[1], task.dimension) == (64, 650)
    assert task.digests == {"cifar10": "cifar10", "cifar100_20k": "cifar100_20k"}
    assert task.recipe.audit_batch < 500
    assert any("audit batch" in text for text in task.deviations)


def test_the_trajectory_is_adam_on_the_whole_batch(settings):
    task = tasks.task("digits", settings)
    members = np.arange(400, 500)
    first, second = gradients.trajectory(task, members, 2, 0)
    step = record_gradients(first, task.features[members], task.y[members]).mean(axis=0)
    # Adam's first step has the size of the learning rate in every entry, against the gradient.
    expected = -task.recipe.learning_rate * np.sign(step)
    moved = (second - first).ravel()
    large = np.abs(step) > 1e-5
    np.testing.assert_allclose(moved[large], expected[large], rtol=1e-2)


def test_the_rank_is_that_of_one_class_less(audits):
    ((task, models),) = audits
    rank = (task.recipe.classes - 1) * (task.recipe.width + 1)
    assert {len(model.eigenvalues) for model in models} == {rank}
    table = gradients.rank_table(audits).set_index("metric")["value"]
    assert table["mu with the rank"] < table["mu with d"]
    assert table["AUC of GLiR, one step (%)"] > 60


def test_five_steps_say_hardly_more_than_one(audits, settings):
    table = gradients.figure_2(audits, settings)
    assert table["panel"].nunique() == 2
    areas = gradients.rank_table(audits).set_index("metric")["value"]
    gain = areas["AUC of GLiR, all steps (%)"] - areas["AUC of GLiR, one step (%)"]
    assert abs(gain) < 3


def test_real_gradients_are_no_chi_squared(audits):
    table = gradients.susceptibility(audits).set_index("quantile")
    assert table["value"][0.99] > 1.5 * table["chi2"][0.99]
    spectrum = gradients.spectrum(audits).set_index("metric")["value"]
    assert spectrum["mu by the eigenvalues"] < spectrum["mu by the paper's bound"]


def test_calibration_on_real_gradients_lists_both(audits):
    table = gradients.real_calibration(audits).set_index(["convention", "nominal"])["value"]
    assert table["paper", 5.0] < table["authors", 5.0]


def test_controls_that_join_two_views_keep_their_keys_apart(audits, settings):
    for table, keys in (
        (controls.control_3(audits, settings), ["data", "convention", "nominal", "metric"]),
        (controls.control_5(audits, settings), ["data", "quantity", "method"]),
        (controls.control_7(audits, settings), ["data", "quantity", "method"]),
    ):
        assert list(table.columns) == [*keys, "value", "low", "high"]
        assert not table.duplicated(keys).any()
        assert not table["value"].isna().any()
        assert "digits" in table.attrs["data"]
        assert table.attrs["deviations"]


def test_figure_6_compares_both_attacks(audits, settings):
    table = loss_attack.figure_6(audits, settings)
    assert set(table["series"]) == {"GLiR", "loss (LiRA)"}
    with pytest.raises(InputError, match="n_reference = 2"):
        loss_attack.figure_6(audits, Settings.from_values({"profile": "tiny", "n_reference": 2}))


def test_the_loss_attack_finds_planted_members():
    rng = np.random.default_rng(0)
    inside = data.random_halves(40, 60, 0)
    odds = rng.standard_normal((40, 60)) + 4 * inside
    score = loss_attack._likelihood_ratio(odds[0], odds[1:], inside[1:])
    assert score[inside[0]].min() > score[~inside[0]].max() - 8
    assert score[inside[0]].mean() > 4 > -4 > score[~inside[0]].mean()


def test_an_attacker_without_the_shifts_is_nearly_blind(settings):
    table = augmentation.augmentation(settings).set_index(["training", "queries"])["value"]
    assert table["clean", "clean"] > 65
    assert table["shifted", "shifted"] > 65
    assert table["shifted", "clean"] < 60


def test_figure_3_costs_accuracy(some, settings):
    table = utility.figure_3(some, settings)
    assert len(table) == 2 * 2 * settings.n_levels
    independent = table[(table["noise"] == "independent") & (table["notion"] == "GDP")]
    by_mu = independent.set_index("mu")["value"]
    assert by_mu.iloc[0] < by_mu.iloc[-1]


def test_shared_noise_costs_sgd_nothing(some, settings):
    table = utility.shared_noise(some, settings).set_index(["optimiser", "noise"])["value"]
    assert table["sgd", "shared"] == pytest.approx(table["sgd", "none"], abs=1.0)
    assert table["sgd", "independent"] < table["sgd", "none"] - 5


def test_every_table_in_words(some, settings):
    assert list(texts.table_1(settings).columns) == ["aspect", "f-DP", "f-MIP"]
    assert texts.table_2(settings)["Gradient LRT"].iloc[-1] == "no"
    for table in (texts.table_3(some, settings), texts.table_4(some, settings)):
        assert table["source"].value_counts().to_dict() == {"paper": 3, "this run": 1}


def test_one_model_has_no_interval(some):
    with pytest.raises(InputError, match="audit_models = 1"):
        gradients.audit(some, Settings.from_values({"profile": "tiny", "audit_models": 1}))
    with pytest.raises(InputError, match="utility_seeds = 1"):
        utility.figure_3(some, Settings.from_values({"profile": "tiny", "utility_seeds": 1}))
