"""Fewer at a time where a device holds no more, and the same models and answers."""

import warnings
from functools import partial

import numpy as np
import pytest
import torch

from membership import memory, models
from membership.training import TrainingConfig, ensemble, sgd, train
from tests.training.test_sgd import blobs, convolutional, mlp

# Any that is no CPU: none is asked for more than its kind.
OTHER = torch.device("meta")
CONFIG = TrainingConfig(epochs=2, batch_size=8, learning_rate=0.1, momentum=0.9)


def trained(count=6):
    mask = np.random.default_rng(0).random((count, 60)) < 0.5
    mask[:, :30], mask[:, 30:] = mask[:, :30], ~mask[:, :30]
    return train(mlp, blobs(), mask, CONFIG, range(count), progress=False)


def test_a_cpu_is_left_as_it_is():
    cpu = torch.device("cpu")
    assert ensemble.models_at_once(mlp(), torch.zeros(1, 12), 10**9, cpu, 64) == 64


@pytest.mark.parametrize(
    ("factory", "cpu", "gpu"),
    [(mlp, 64, 64), (partial(models.small_cnn, (1, 8, 8), 3), 1, 64), (convolutional, 1, 1)],
)
def test_convolutions_run_apart_on_a_cpu_and_with_normalised_batches_everywhere(factory, cpu, gpu):
    module = factory()
    assert ensemble.batch_of_models(module, torch.device("cpu")) == cpu
    assert ensemble.batch_of_models(module, torch.device("cuda")) == gpu


@pytest.mark.parametrize(("free", "expected"), [(1, 1), (1e5, 14), (1e12, 64)])
def test_models_share_half_of_the_free_memory(free, expected, monkeypatch):
    monkeypatch.setattr(memory, "available", lambda device: free)
    own = 4 * (12 * 8 + 8 + 8 * 3 + 3)
    # Flattened record, hidden layer before and after tanh, logits, and the record itself.
    each = 4 * own + 2 * 4 * 4 * (12 + 8 + 8 + 3 + 12)
    assert expected == max(1, min(64, int(free / 2 / each)))
    assert ensemble.models_at_once(mlp(), torch.zeros(1, 12), 4, OTHER, 64) == expected


def test_the_model_is_left_in_its_mode_and_its_statistics_alone():
    module = convolutional().train()
    before = {name: value.clone() for name, value in module.state_dict().items()}
    ensemble.models_at_once(module, torch.randn(1, 1, 4, 4), 2, OTHER, 64)
    assert module.training
    assert all(torch.equal(value, before[name]) for name, value in module.state_dict().items())


@pytest.mark.parametrize("most", [1, 2, 3, 7])
def test_work_is_halved_until_it_fits_and_each_halving_is_said(most):
    asked = []

    def work(some):
        asked.append(len(some))
        if len(some) > most:
            raise torch.OutOfMemoryError("too much")
        return list(some)

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = ensemble.in_halves(work, range(7), "models")
    failed = [count for count in asked if count > most]
    expected = [f"{count} models at a time are more" for count in failed]
    assert [str(one.message)[: len(e)] for one, e in zip(said, expected, strict=True)] == expected
    assert [one for part in found for one in part] == list(range(7))
    assert max(map(len, found)) <= most


def test_one_that_does_not_fit_is_refused_in_a_line():
    def work(_some):
        raise torch.OutOfMemoryError("too much")

    with (
        pytest.warns(UserWarning, match="2 models"),
        pytest.raises(ensemble.TooLarge, match="too small for one of the models; use device cpu"),
    ):
        ensemble.in_halves(work, range(2), "models")


@pytest.mark.filterwarnings("ignore:.*at a time are more")
def test_under_a_limit_the_same_models_are_trained_and_the_same_answers_given(
    monkeypatch, tmp_path
):
    monkeypatch.setenv("MEMBERSHIP_CACHE", str(tmp_path))

    expected = trained()
    answers, halves = expected.logits(blobs().x), ensemble.in_halves

    def limited(work, items, what):
        def tight(some):
            if len(some) > {"models": 3, "records": 25}[what]:
                raise torch.OutOfMemoryError("too much")
            return work(some)

        return halves(tight, items, what)

    for room in (sgd, ensemble):
        monkeypatch.setattr(room, "in_halves", limited)
    monkeypatch.setenv("MEMBERSHIP_CACHE", str(tmp_path / "another"))
    found = trained()
    torch.testing.assert_close(found.logits(blobs().x), answers, rtol=1e-5, atol=1e-6)
    for name, value in expected.parameters.items():
        torch.testing.assert_close(found.parameters[name], value, rtol=1e-5, atol=1e-6)
