"""Gradient and loss attacks on the same models: who is trained on what, counts, and promises."""

from dataclasses import replace
from functools import wraps

import numpy as np
import pytest
import torch
from scipy import stats

from membership import metrics, privacy
from membership.book.exhibits import declared
from membership.book.studies.gmip import evidence as gathering
from membership.book.studies.gmip import experiment, rival_table, rivals
from membership.book.studies.gmip.settings import Settings


@pytest.fixture
def scored():
    rng = np.random.default_rng(0)
    member = rng.random((4, 300)) < 0.5
    better = rng.standard_normal(member.shape) + 1.5 * member
    return rivals.Scored({"better": better, "guess": rng.standard_normal(member.shape)}, member)


def test_pairs_of_shadow_models_share_no_member():
    halves = rivals.paired_halves(6, 40, [0, 1])
    assert (halves[::2] ^ halves[1::2]).all()
    assert (halves.sum(axis=1) == 20).all()
    assert (halves.sum(axis=0) == 3).all()


def test_counts_give_the_area_and_the_rates_of_all_scores(scored):
    counts = rivals.counted(scored, 5)
    whole = np.ones((1, 4, 5))
    for i, score in enumerate(scored.scores.values()):
        sides = (counts[side][i].astype(float) for side in ("hits", "alarms"))
        found = rival_table.outcomes(*sides, whole)[0]
        flat = score.ravel(), scored.member.ravel()
        assert found[0] == pytest.approx(metrics.auc(*flat), abs=2e-3)
        for rate, value in zip(rival_table.RATES[1:], found[2:], strict=True):
            assert value == pytest.approx(metrics.tpr_at_fpr(*flat, rate), abs=0.02)


def test_counts_are_those_of_each_target_and_block(scored):
    counts = rivals.counted(scored, 5)
    everybody = [counts[side][:, :, :, -1].sum(axis=(1, 2)) for side in ("hits", "alarms")]
    np.testing.assert_array_equal(everybody[0], scored.member.sum())
    np.testing.assert_array_equal(everybody[1], (~scored.member).sum())
    block = slice(60, 120)
    score, member = scored.scores["better"][2, block], scored.member[2, block]
    above = score > scored.scores["better"][~scored.member].max()
    assert counts["hits"][0, 2, 1, 0] == (above & member).sum()
    assert counts["alarms"][0, :, :, 0].sum() == 0


def test_a_target_that_counts_twice_is_there_twice(scored):
    counts = rivals.counted(scored, 1)
    sides = [counts[side][0].astype(float) for side in ("hits", "alarms")]
    twice = [np.concatenate([side, side[1:2]]) for side in sides]
    weight = np.array([1.0, 2.0, 1.0, 1.0])[None, :, None]
    np.testing.assert_allclose(
        rival_table.outcomes(*sides, weight), rival_table.outcomes(*twice, np.ones((1, 5, 1)))
    )


def test_resampling_targets_has_the_error_of_their_mean():
    """Of targets with thresholds in common an AUC is nearly a mean over targets."""
    rng = np.random.default_rng(3)
    member = np.tile(np.arange(2000) < 1000, (12, 1))
    shift = rng.uniform(0.2, 1.8, (12, 1))
    scored = rivals.Scored({"one": rng.standard_normal(member.shape) + shift * member}, member)
    counts = rivals.counted(scored, 1)
    sides = [counts[side][0].astype(float) for side in ("hits", "alarms")]
    found = 100 * rival_table.outcomes(*sides, rival_table._weights(12, 1))
    areas = [100 * metrics.auc(score, member[0]) for score in scored.scores["one"]]
    expected = metrics.summary(areas)
    row = rival_table._interval(found[:, 0], 12)
    assert row["value"] == pytest.approx(expected["value"], abs=0.5)
    assert row["standard_error"] == pytest.approx(expected["standard_error"], rel=0.15)


@pytest.fixture(scope="module")
def lengths(gathered):
    """After one step, after a few, and after all epochs."""
    return [gathered[f"rivals-digits-{length}"] for length in ("one", "few", "all")]


@pytest.mark.slow
def test_the_promise_of_one_step_is_the_theorem(lengths):
    one, few, whole = lengths
    table = rival_table.table([one, few], [whole])
    r = one.attrs["recipe"]
    d = r["classes"] * (r["width"] + 1)
    row = table[(table["attack"] == "promised, K = d") & (table["steps"] == "one step")].iloc[2]
    promised = privacy.mip_tpr(0.01, d, r["audit_batch"], d)
    assert row["value"] == pytest.approx(100 * float(promised))


@pytest.mark.slow
def test_the_promise_of_all_epochs_is_equation_10(lengths):
    """The level of a step, (e^(mu^2) Phi(3 mu / 2) + 3 Phi(-mu / 2) - 2) a step, composed."""
    whole = lengths[2]
    table = rival_table.table([], [whole])
    at = table[table["attack"] == "promised, Equation 10"].set_index("quantity")["value"]
    r = whole.attrs["recipe"]
    d, n = r["classes"] * (r["width"] + 1), r["batch_size"]
    mu = privacy.mip_mu_step(d, n, d)
    steps = r["n_records"] // n * r["epochs"]
    assert whole.attrs["steps"] == steps
    inner = np.exp(mu**2) * stats.norm.cdf(1.5 * mu) + 3 * stats.norm.cdf(-mu / 2) - 2
    level = np.sqrt(2 * steps * inner) * n / whole.attrs["trained_on"]
    for rate, name in zip(rival_table.RATES, rival_table.QUANTITIES, strict=True):
        expected = stats.norm.cdf(stats.norm.ppf(rate) + level)
        assert at[name] == pytest.approx(100 * expected)


@pytest.mark.slow
def test_gradients_tell_more_than_losses_after_one_step(lengths):
    table = rival_table.table([lengths[0]], [])
    at = table[(table["steps"] == "one step") & (table["quantity"] == "AUC (%)")]
    area = at.set_index("attack")["value"]
    assert area["GLiR"] > 60
    assert area["GLiR"] > area["LOSS"]


def test_the_control_reads_the_first_data_set_alone():
    settings = Settings.from_values({"profile": "paper"})
    (one,) = (one for one in declared("gmip") if one.id == "gmip-ctl-20")
    lengths = ("one", "few", "all")
    assert list(one.evidence(settings)) == [f"rivals-adult-{length}" for length in lengths]


def test_a_covariance_that_is_large_is_not_taken_at_all_steps():
    large = Settings.from_values({"profile": "quick", "dataset": "purchase_like:40000"})
    assert not large.first_small_word
    assert not [name for name in gathering.sources(large) if name.endswith("-all")]


SETTINGS = Settings.from_values({"profile": "tiny"})


@pytest.fixture(scope="module")
def task():
    whole = experiment.task("digits", SETTINGS)
    return replace(whole, recipe=replace(whole.recipe, epochs=2))


@pytest.fixture(scope="module")
def pool(task):
    return rivals.pool_of(task, SETTINGS.seed)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("MEMBERSHIP_CACHE", str(tmp_path))


def test_each_model_has_as_many_records_as_table_4_says(task, pool):
    asked, always, others = (set(part.tolist()) for part in pool)
    assert not asked & others
    assert always <= others
    assert asked | others == set(range(len(task.y)))
    assert pool.n_records == task.recipe.n_records
    models = rivals.models_of(pool, SETTINGS)
    assert (models.inside.sum(axis=1) == len(asked) // 2).all()
    assert len(models.inside) == models.targets + SETTINGS.n_reference
    first, second = models.inside[models.targets : models.targets + 2]
    assert (first ^ second).all()


def test_a_model_is_trained_on_its_half_alone(task, pool):
    """Labels of records outside a model's half change nothing, one inside does."""
    models = rivals.models_of(pool, SETTINGS)
    shadow = models.targets
    inside = models.inside[shadow]
    weight = rivals._model(task, pool, models, shadow)["weight"]

    def moved(rows):
        y = task.y.copy()
        y[rows] = (y[rows] + 1) % task.recipe.classes
        return rivals._model(replace(task, y=y), pool, models, shadow)["weight"]

    np.testing.assert_array_equal(moved(pool.asked[~inside]), weight)
    assert not np.array_equal(moved(pool.asked[inside][:20]), weight)


def test_training_is_that_of_the_cross_entropy(task, pool):
    """The same batches, their gradient by torch's own derivative."""
    models = rivals.models_of(pool, SETTINGS)
    shadow, r = models.targets + 1, task.recipe
    rng = np.random.default_rng([SETTINGS.seed, 20, 2, shadow])
    layer = torch.nn.Linear(r.width, r.classes).double()
    start = rivals.initial_weight(
        r.classes, r.width + 1, torch.Generator().manual_seed(SETTINGS.seed)
    )
    with torch.no_grad():
        layer.weight.copy_(start[:, :-1])
        layer.bias.copy_(start[:, -1])
    optimiser = torch.optim.Adam(layer.parameters(), lr=r.learning_rate)
    rows = np.concatenate([pool.always, pool.asked[models.inside[shadow]]])
    for _ in range(r.steps):
        batch = rng.choice(rows, r.batch_size, replace=False)
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(
            layer(torch.tensor(task.features[batch])), torch.tensor(task.y[batch])
        ).backward()
        optimiser.step()
    weight = rivals._model(task, pool, models, shadow)["weight"]
    assert weight[:, :-1] == pytest.approx(layer.weight.detach().numpy(), abs=1e-4)
    assert weight[:, -1] == pytest.approx(layer.bias.detach().numpy(), abs=1e-4)


def test_bmia_asks_the_one_of_a_pair_that_has_not_seen_the_record(task, pool, cache, monkeypatch):
    """The model that has seen a record predicts what would be noticed."""

    def predicted(task, pool, inside, weight):
        return np.where(inside, 1e6, 0.0), np.ones(len(inside))

    monkeypatch.setattr(rivals, "_predicted", predicted)
    scored, _ = rivals.played(task, SETTINGS)
    assert np.abs(scored.scores["BMIA"]).max() < 1e5


def test_a_run_that_was_stopped_goes_on_with_the_next_model(task, pool, cache, monkeypatch):
    once, trained, left = rivals._model, [], [3]

    @wraps(once)
    def model(task, pool, models, model):
        if left[0] == 0:
            raise KeyboardInterrupt
        left[0] -= 1
        trained.append(model)
        return once(task, pool, models, model)

    monkeypatch.setattr(rivals, "_model", model)
    with pytest.raises(KeyboardInterrupt):
        rivals.played(task, SETTINGS)
    everybody = SETTINGS.rival_targets + SETTINGS.n_reference
    left[0] = everybody
    scored, n_records = rivals.played(task, SETTINGS)
    assert trained == list(range(everybody))
    assert scored.member.shape == (SETTINGS.rival_targets, len(pool.asked))
    assert n_records == task.recipe.n_records
    for score in scored.scores.values():
        assert np.isfinite(score).all()
    glir = [metrics.auc(*of) for of in zip(scored.scores["GLiR"], scored.member, strict=True)]
    assert np.mean(glir) > 0.5
