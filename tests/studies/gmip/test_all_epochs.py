"""Both kinds of attack on models of a whole training: who is trained on what, and what is asked."""

from dataclasses import replace
from functools import wraps

import numpy as np
import pytest
import torch

from membership import metrics
from membership.studies.gmip import all_epochs, experiment
from membership.studies.gmip.settings import Settings

SETTINGS = Settings.from_values({"profile": "tiny"})


@pytest.fixture(scope="module")
def task():
    whole = experiment.task("digits", SETTINGS)
    return replace(whole, recipe=replace(whole.recipe, epochs=2))


@pytest.fixture(scope="module")
def pool(task):
    return all_epochs.pool_of(task, SETTINGS.seed)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("MEMBERSHIP_CACHE", str(tmp_path))


def test_each_model_has_as_many_records_as_table_4_says(task, pool):
    asked, always, others = (set(part.tolist()) for part in pool)
    assert not asked & others
    assert always <= others
    assert asked | others == set(range(len(task.y)))
    assert pool.n_records == task.recipe.n_records
    models = all_epochs.models_of(pool, SETTINGS)
    assert (models.inside.sum(axis=1) == len(asked) // 2).all()
    assert len(models.inside) == models.targets + SETTINGS.n_reference
    first, second = models.inside[models.targets : models.targets + 2]
    assert (first ^ second).all()


def test_a_model_is_trained_on_its_half_alone(task, pool):
    """Labels of records outside a model's half change nothing, one inside does."""
    models = all_epochs.models_of(pool, SETTINGS)
    shadow = models.targets
    inside = models.inside[shadow]
    weight = all_epochs._model(task, pool, models, shadow)["weight"]

    def moved(rows):
        y = task.y.copy()
        y[rows] = (y[rows] + 1) % task.recipe.classes
        return all_epochs._model(replace(task, y=y), pool, models, shadow)["weight"]

    np.testing.assert_array_equal(moved(pool.asked[~inside]), weight)
    assert not np.array_equal(moved(pool.asked[inside][:20]), weight)


def test_training_is_that_of_the_cross_entropy(task, pool):
    """The same batches, their gradient by torch's own derivative."""
    models = all_epochs.models_of(pool, SETTINGS)
    shadow, r = models.targets + 1, task.recipe
    rng = np.random.default_rng([SETTINGS.seed, 20, 2, shadow])
    layer = torch.nn.Linear(r.width, r.classes).double()
    start = all_epochs.initial_weight(
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
    weight = all_epochs._model(task, pool, models, shadow)["weight"]
    assert weight[:, :-1] == pytest.approx(layer.weight.detach().numpy(), abs=1e-4)
    assert weight[:, -1] == pytest.approx(layer.bias.detach().numpy(), abs=1e-4)


def test_bmia_asks_the_one_of_a_pair_that_has_not_seen_the_record(task, pool, cache, monkeypatch):
    """The model that has seen a record predicts what would be noticed."""

    def predicted(task, pool, inside, weight):
        return np.where(inside, 1e6, 0.0), np.ones(len(inside))

    monkeypatch.setattr(all_epochs, "_predicted", predicted)
    scored, _ = all_epochs.played(task, SETTINGS)
    assert np.abs(scored.scores["BMIA"]).max() < 1e5


def test_a_run_that_was_stopped_goes_on_with_the_next_model(task, pool, cache, monkeypatch):
    once, trained, left = all_epochs._model, [], [3]

    @wraps(once)
    def model(task, pool, models, model):
        if left[0] == 0:
            raise KeyboardInterrupt
        left[0] -= 1
        trained.append(model)
        return once(task, pool, models, model)

    monkeypatch.setattr(all_epochs, "_model", model)
    with pytest.raises(KeyboardInterrupt):
        all_epochs.played(task, SETTINGS)
    everybody = SETTINGS.rival_targets + SETTINGS.n_reference
    left[0] = everybody
    scored, n_records = all_epochs.played(task, SETTINGS)
    assert trained == list(range(everybody))
    assert scored.member.shape == (SETTINGS.rival_targets, len(pool.asked))
    assert n_records == task.recipe.n_records
    for score in scored.scores.values():
        assert np.isfinite(score).all()
    glir = [metrics.auc(*of) for of in zip(scored.scores["GLiR"], scored.member, strict=True)]
    assert np.mean(glir) > 0.5
