"""The studies on real gradients, at the sizes of the tiny profile."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import multivariate_normal

from membership import attacks, data, evidence, metrics, privacy
from membership.attacks.glir import glir, glir_log_ratio
from membership.curvature import gradient_moments
from membership.errors import InputError
from membership.studies.gmip import evidence as gathering
from membership.studies.gmip import (
    experiment,
    law_of_k,
    loss_attack,
    moments,
    names,
    setups,
    training_promise,
    utility,
)
from membership.studies.gmip.audit import figure_2, glir_scores, members, ranks, released_scores
from membership.studies.gmip.settings import Recipe, Settings
from membership.training.private import record_gradients


@pytest.fixture(scope="module")
def settings():
    return Settings.from_values({"profile": "tiny", "audit_models": 3})


@pytest.fixture(scope="module")
def gathered(settings, tmp_path_factory):
    """Every evidence of a run, as a file gives it back, gathered when a test asks for it."""
    folder, functions = tmp_path_factory.mktemp("evidence"), gathering.sources(settings)

    class Gathered(dict):
        def __missing__(self, name):
            path = evidence.save(folder / f"{name}.evidence", functions[name]())
            return self.setdefault(name, evidence.load(path))

    return Gathered()


@pytest.fixture(scope="module")
def audits(gathered):
    return [gathered["steps-digits"]]


@pytest.fixture(scope="module")
def trained(gathered):
    return [gathered["measured-digits"]]


def test_files_are_named_after_their_data_sets(tmp_path):
    path = str(tmp_path / "My Data.npz")
    values = {"dataset": "purchase_like:40000", "also_datasets": ["digits", path, "digits"]}
    words = Settings.from_values(values).words
    assert list(words.values()) == ["purchase-like-40000", "digits", "my-data"]
    twice = Settings.from_values({"dataset": "a/x.npz", "also_datasets": ["b/x.npz"]})
    assert list(twice.words.values()) == ["x", "x-2"]


@pytest.mark.slow
def test_scores_from_evidence_are_those_of_the_gradients(settings, gathered, audits):
    task, audit = experiment.task("digits", settings), audits[0]
    for model in range(2):
        s = experiment.split(task, settings, model)
        for step, weight in enumerate(experiment.trajectory(task, s.members, 2, model)):
            x = record_gradients(weight, task.features[s.queries], task.y[s.queries])
            back = record_gradients(weight, task.features[s.background], task.y[s.background])
            moments = gradient_moments(back)
            mean, n = x[: len(s.members)].mean(axis=0), len(s.members)
            expected = glir(mean, x, *moments, n)
            np.testing.assert_allclose(
                glir_scores(audit)[model, step], expected, rtol=1e-3, atol=1e-3
            )
            if step == 0:
                expected = glir(mean, x, *moments, n, convention="authors")
                found = released_scores(audit)[model]
                np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)


def test_the_registered_attacks_read_the_same_evidence(audits):
    own = glir_scores(audits[0])[1]
    one = attacks.registry()["glir"].on(audits[0], target=1)
    many = attacks.registry()["glir-steps"].on(audits[0], target=1)
    np.testing.assert_array_equal(one, own[0])
    np.testing.assert_allclose(many, own.sum(axis=0), rtol=1e-12)


def test_a_task_has_disjoint_splits(settings):
    task = experiment.task("digits", settings)
    parts = experiment.split(task, settings, 0)
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
    task = experiment.task(str(path), settings)
    assert task.features.shape == (900, task.recipe.width)
    assert task.dimension == 3 * (task.recipe.width + 1)
    np.savez(path, x=np.eye(20, dtype=np.float32), y=np.arange(20) % 10)
    with pytest.raises(InputError, match="dataset has 20 records"):
        experiment.task(str(path), settings)


@pytest.mark.slow
def test_purchase_has_20_classes_and_128_features(settings, monkeypatch, tmp_path):
    monkeypatch.setenv("MEMBERSHIP_CACHE", str(tmp_path))
    rng = np.random.default_rng(0)
    x, y = rng.integers(2, size=(40_000, 9)), rng.integers(100, size=40_000)
    made = data.Dataset(x, y, "purchase_like", 100, "made up", data.record_digest(x, y))
    monkeypatch.setattr(data, "load", lambda name, root: made)
    task = experiment.task("purchase_like:40000", settings)
    assert (task.recipe.classes, task.recipe.width, task.dimension) == (20, 128, 2580)
    assert task.published == "Purchase"
    assert any("simulated" in text for text in task.deviations)
    small = data.Dataset(x[:9000], y[:9000], "purchase_like", 100, "made up", "0")
    monkeypatch.setattr(data, "load", lambda name, root: small)
    with pytest.raises(InputError, match="too few to estimate a covariance of rank 2451"):
        experiment.task("purchase_like:9000", settings)


@pytest.mark.slow
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
    task = experiment.task("cifar10", settings)
    assert (task.features.shape[1], task.dimension) == (64, 650)
    assert task.digests == {"cifar10": "cifar10", "cifar100_20k": "cifar100_20k"}
    assert task.recipe.audit_batch < 500
    assert any("audit batch" in text for text in task.deviations)


def test_the_trajectory_is_adam_on_the_whole_batch(settings):
    task = experiment.task("digits", settings)
    members = np.arange(400, 500)
    first, second = experiment.trajectory(task, members, 2, 0)
    step = record_gradients(first, task.features[members], task.y[members]).mean(axis=0)
    # Adam's first step has the size of the learning rate in every entry, against the gradient.
    expected = -task.recipe.learning_rate * np.sign(step)
    moved = (second - first).ravel()
    large = np.abs(step) > 1e-5
    np.testing.assert_allclose(moved[large], expected[large], rtol=1e-2)


def test_the_rank_is_that_of_one_class_less(audits):
    recipe = Recipe(**audits[0].attrs["recipe"])
    assert set(ranks(audits[0]).ravel()) == {recipe.rank} == {audits[0].attrs["rank"]}
    table = moments.control_2(audits).set_index("quantity")["value"]
    assert table["mu with the rank"] < table["mu with d"]
    assert table["AUC of GLiR, one step (%)"] > 60
    assert table["mu by the eigenvalues"] < table["mu by the paper's bound"]


@pytest.mark.slow
def test_five_steps_say_hardly_more_than_one(audits, gathered):
    table = figure_2(audits, gathered["simulated-panels"])
    assert table["panel"].nunique() == 5
    areas = moments.control_2(audits).set_index("quantity")["value"]
    gain = areas["AUC of GLiR, all steps (%)"] - areas["AUC of GLiR, one step (%)"]
    assert abs(gain) < 3


def test_real_gradients_are_no_chi_squared(audits):
    table = pd.DataFrame(law_of_k.quantiles(audits))
    upper = table[table["quantity"] == names.k_at(0.99)].set_index("method")["value"]
    assert upper["measured"] > 1.5 * upper["chi-squared law"]
    assert (table["low"] >= 0).all()


def test_k_is_scaled_to_its_mean(audits):
    shares = law_of_k.k_over_rank(audits[0])
    np.testing.assert_allclose(shares.mean(axis=1), 1.0)
    raw = audits[0]["susceptibility"].values[:, 0, ~members(audits[0])]
    np.testing.assert_allclose(shares[1] * raw[1].mean(), raw[1], rtol=1e-5)


def test_levels_grow_with_k_and_are_those_of_the_accountant(audits):
    table = law_of_k.levels(audits).set_index(["record", "quantity"])["value"]
    level = {record: table[record, law_of_k.ONE_STEP] for record in law_of_k.RECORDS}
    assert level["1% quantile"] < level["median"] < level["99% quantile"] < level["largest K"]
    n, rank = audits[0].attrs["batch_size"], int(ranks(audits[0])[0, 0])
    shares = np.quantile(law_of_k.k_over_rank(audits[0]), 0.5, axis=1)
    expected = np.mean([privacy.mip_mu_step(rank, n, k * rank) for k in shares])
    assert level["median"] == pytest.approx(expected)
    # Digits are none of the paper's data sets: no training of Table 4 to speak of.
    assert not any("training" in quantity for _, quantity in table.index)


def test_the_log_ratio_is_that_of_the_two_normal_laws():
    rng = np.random.default_rng(0)
    d, n = 7, 30
    x, m = rng.standard_normal((5, d)), rng.standard_normal(d) / np.sqrt(n)
    distance, k = np.square(x - m).sum(axis=1), np.square(x).sum(axis=1)
    inside = multivariate_normal(np.zeros(d), (n - 1) / n**2 * np.eye(d))
    outside = multivariate_normal(np.zeros(d), np.eye(d) / n)
    expected = [inside.logpdf(m - one / n) - outside.logpdf(m) for one in x]
    np.testing.assert_allclose(glir_log_ratio(distance, k, n, d), expected, rtol=1e-9)


def test_differences_of_attacks_are_paired(audits):
    table = law_of_k.likelihood_ratio(audits)
    area = table[table["quantity"] == "AUC (%)"].set_index(["asked", "attack"])
    for asked in ("all records", law_of_k.TOP):
        ours, theirs, less = (
            area.loc[(asked, attack)]
            for attack in ("likelihood ratio", "GLiR", "likelihood ratio less GLiR")
        )
        assert less["value"] == pytest.approx(ours["value"] - theirs["value"])
        assert less["standard_error"] < np.hypot(ours["standard_error"], theirs["standard_error"])


def test_where_the_largest_k_are_all_on_one_side_they_are_left_out(audits):
    one_sided = audits[0].copy(deep=True)
    one_sided["susceptibility"] += 1e6 * members(one_sided)
    table = law_of_k.likelihood_ratio([one_sided])
    assert set(table["asked"]) == {"all records"}


def test_the_parts_of_the_gap_add_up(audits, settings):
    table = moments.decomposition(audits, settings)
    found = moments.control_2(audits).set_index("quantity")["value"]
    for steps, quantity in (("one step", "one step"), ("5 steps", "all steps")):
        value = table[table["steps"] == steps]["value"].to_numpy()
        assert value[:-1].sum() == pytest.approx(value[-1])
        assert value[-1] == pytest.approx(found[f"AUC of GLiR, {quantity} (%)"])
    part = table.set_index(["steps", "part"])["value"]
    assert part["one step", names.RANK] < 0 > part["one step", names.SPREAD]
    assert part["one step", names.BACKGROUND] < 0


def test_the_simulated_covariance_is_a_sample_covariance():
    rng = np.random.default_rng(1)
    roots = [moments._sample_root(rng, 3, 8) for _ in range(4000)]
    drawn = np.array([root @ root.T for root in roots])
    records = rng.standard_normal((4000, 8, 3))
    known = np.array([np.cov(one, rowvar=False) for one in records])
    np.testing.assert_allclose(drawn.mean(axis=0), np.eye(3), atol=0.04)
    np.testing.assert_allclose(drawn.var(axis=0), known.var(axis=0), atol=0.06)


def test_a_start_of_their_own_costs_the_loss_attack(gathered):
    one = gathered["starts-digits"]
    table = loss_attack.by_start([one]).set_index(["quantity", "start"])["value"]
    assert table["AUC (%)", "shared"] > table["AUC (%)", "own"]
    less = table["AUC (%)", "shared less own"]
    assert less == pytest.approx(table["AUC (%)", "shared"] - table["AUC (%)", "own"])
    shared = loss_attack.outcomes(gathered["outputs-digits-few"])
    np.testing.assert_allclose(one["auc"].sel(start="shared"), shared["auc"])


def test_a_smaller_norm_takes_less_noise_for_the_same_level(gathered, settings):
    one = gathered["clipped-digits"]
    recipe = Recipe(**one.attrs["recipe"])
    assert one.attrs["clip"] < recipe.clip
    assert (one["tau"].sel(norm=utility.MEDIAN) < one["tau"].sel(norm=utility.OWN)).all()
    sigma = one["tau"].sel(norm=utility.MEDIAN).values * recipe.batch_size / one.attrs["clip"]
    for mu, multiplier in zip(one["level"].values, sigma, strict=True):
        assert utility.shown_level("either", 2 / multiplier, recipe) == pytest.approx(mu, rel=1e-3)
    table = utility.by_clipping([one])
    assert set(table["series"].str.split(",").str[0]) == {"GDP", "GMIP"}
    free = table[table["series"].str.startswith("GMIP") & (table["mu"] >= one.attrs["free"])]
    assert (free["tau"] == 0).all()
    costs = utility.clipping_costs([one]).set_index("quantity")["value"]
    assert costs["mu without noise, numerically"] == pytest.approx(one.attrs["free"])


def test_who_plays_is_apart(settings):
    who = training_promise.cast(experiment.task("digits", settings), 0, settings.seed)
    parts = [set(part.tolist()) for part in who]
    assert not parts[0] & parts[1]
    assert not parts[2] & (parts[0] | parts[1])


def test_the_attack_on_all_steps_adds_up_the_mixtures(settings):
    task = experiment.task("digits", settings)
    short = replace(task, recipe=replace(task.recipe, epochs=1))
    played = training_promise.attacked(short, 0, "fresh", settings.seed)
    member = played["member"]
    assert metrics.auc(played["score"], member) > 0.5
    # The score can fall no lower than "out" at every step.
    r = short.recipe
    least = r.steps * np.log1p(-r.batch_size / r.n_records)
    assert played["score"].min() >= least - 1e-9
    again = training_promise.attacked(short, 0, "fresh", settings.seed)
    np.testing.assert_array_equal(played["score"], again["score"])


@pytest.mark.slow
def test_the_largest_k_of_both_sides_are_asked(gathered):
    k, member = np.arange(200.0), np.arange(200) < 100
    kept = training_promise._largest(k, member, 0.05)
    assert np.flatnonzero(kept).tolist() == [*range(95, 100), *range(195, 200)]
    table = training_promise.attack_table([gathered["composed-digits"]])
    known = {"Equation 10", "numerical, K = d", *training_promise.OTHERS, training_promise.PAIRED}
    assert set(table["others"]) == known
    value = table[table["asked"] == "all"].set_index(["quantity", "others"])["value"]
    for quantity in dict.fromkeys(value.index.get_level_values(0)):
        less = value[quantity, "fresh"] - value[quantity, "fixed"]
        assert value[quantity, training_promise.PAIRED] == pytest.approx(less)
    assert not table["value"].isna().any()


def test_calibration_on_real_gradients_lists_both(audits):
    rows = pd.DataFrame(moments.real_calibration(audits))
    table = rows.set_index(["convention", "nominal"])["value"]
    assert table["paper", 5.0] < table["authors", 5.0]


@pytest.mark.slow
def test_controls_that_join_two_views_keep_their_keys_apart(audits, settings):
    for table, keys in (
        (moments.control_2(audits), ["dataset", "quantity"]),
        (moments.control_3(audits, settings), ["data", "convention", "nominal", "metric"]),
        (law_of_k.control_6(audits, settings), ["data", "quantity", "method"]),
    ):
        numbers = ["value", "low", "high", "standard_error", "degrees_of_freedom", "n_repeats"]
        assert list(table.columns) == [*keys, *numbers]
        assert not table.duplicated(keys).any()
        assert not table[numbers].isna().any().any()
        assert "digits" in table.attrs["data"]
        assert "not run: Adult, CIFAR-10, Purchase" in table.attrs["deviations"]
        assert table.attrs["sizes"]["Audited models"] == "3 (paper: 5)"


def test_figure_6_compares_both_attacks(audits, gathered):
    outputs = [gathered["outputs-digits-few"], gathered["outputs-digits-many"]]
    table = loss_attack.figure_6(audits, outputs)
    assert set(table["series"]) == {"GLiR", "loss (LiRA)"}
    assert table["panel"].unique().tolist() == ["digits: 5 steps", "digits: 260 steps"]
    one = outputs[0]
    assert one.attrs["targets"] == [0, 1, 2]
    assert one.attrs["references"] == list(range(3, 11))


def test_a_target_is_no_shadow_model(gathered):
    one = gathered["outputs-digits-few"].copy(deep=True)
    before, member = loss_attack.loss_scores(one)
    one["log_odds"][1] += 5  # another target
    after, _ = loss_attack.loss_scores(one)
    np.testing.assert_array_equal(before[0], after[0])
    assert not np.array_equal(before[1], after[1])
    assert member.sum() == len(member) // 2


def test_the_loss_attack_finds_planted_members():
    rng = np.random.default_rng(0)
    inside = data.random_halves(40, 60, 0)
    odds = rng.standard_normal((40, 60)) + 4 * inside
    score = loss_attack.likelihood_ratio(odds[0], odds[1:], inside[1:])
    assert score[inside[0]].min() > score[~inside[0]].max() - 8
    assert score[inside[0]].mean() > 4 > -4 > score[~inside[0]].mean()


def test_figure_3_costs_accuracy(trained, settings):
    table = utility.figure_3(trained)
    assert len(table) == 2 * 2 * settings.n_levels
    independent = table[(table["noise"] == "independent") & (table["notion"] == "GDP")]
    by_mu = independent.set_index("mu")["value"]
    assert by_mu.iloc[0] < by_mu.iloc[-1]
    # One noise level has one accuracy, whichever notion asked for it.
    own = table[table["noise"] == "independent"]
    assert (own.groupby("tau")["value"].nunique() == 1).all()


def test_shared_noise_costs_sgd_nothing(trained):
    table = utility.shared_noise(trained).set_index(["optimiser", "noise"])["value"]
    assert table["sgd", "shared"] == pytest.approx(table["sgd", "none"], abs=1.0)
    assert table["sgd", "independent"] < table["sgd", "none"] - 5


def test_every_table_in_words(audits, trained, settings):
    assert list(setups.in_words("tab-1").columns) == ["aspect", "f-DP", "f-MIP"]
    assert setups.in_words("tab-2")["Gradient LRT"].iloc[-1] == "no"
    for table in (setups.table_3(audits), setups.table_4(trained)):
        assert table["source"].value_counts().to_dict() == {"paper": 3, "this run": 1}
