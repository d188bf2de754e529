"""Models that differ in one record, against a plain loop and against the trainer of one model."""

import numpy as np
import pytest
import torch

from membership import data, training
from membership.book.studies.iha.experiment import one_logit
from membership.errors import InputError

CONFIG = training.TrainingConfig(
    epochs=7,
    batch_size=8,
    learning_rate=0.1,
    momentum=0.9,
    weight_decay=5e-3,
    schedule="cosine",
    loss="squared-error",
)


@pytest.fixture(scope="module")
def records():
    rng = np.random.default_rng(4)
    x = rng.normal(size=(21 + 3, 5))
    y = (x[:, 0] + rng.normal(size=24) > 0).astype(int)
    return x, y


def slow(x, y, order_seed, weight):
    """SGD with momentum, step by step and number by number."""
    velocity = np.zeros_like(weight)
    for epoch in range(CONFIG.epochs):
        order = training.batch_order(order_seed, epoch, np.arange(len(x)))
        for first in range(0, len(x), CONFIG.batch_size):
            gradient = CONFIG.weight_decay * weight
            batch = order[first : first + CONFIG.batch_size]
            for i in batch:
                record = np.append(x[i], 1.0)
                p = 1 / (1 + np.exp(-record @ weight))
                gradient = gradient + 2 * (p - y[i]) * p * (1 - p) * record / len(batch)
            velocity = CONFIG.momentum * velocity + gradient
            weight = weight - CONFIG.learning_rate_at(epoch) * velocity
    return weight


def start(seed):
    module = training.ensemble.initial_module(lambda: one_logit(5), seed)
    return torch.cat([p.detach().flatten() for p in module.parameters()]).double().numpy()


def trained(x, y, added, order_seed, starts, dtype=torch.float64):
    rows = [torch.tensor(part, dtype=dtype) for part in (x, y)]
    more = None if added is None else tuple(torch.tensor(p, dtype=dtype) for p in added)
    return training.train_neighbours(*rows, more, CONFIG, order_seed, starts)


def test_each_model_is_that_of_a_plain_loop_over_the_same_batches(records):
    x, y = records
    found = trained(x[:21], y[:21], (x[21:], y[21:]), 6, [1, 2, 3])
    for place, seed in enumerate([1, 2, 3]):
        rows = [*range(21), 21 + place]
        expected = slow(x[rows], y[rows], 6, start(seed))
        np.testing.assert_allclose(found[place], expected, rtol=1e-10, atol=1e-12)


def test_without_a_record_more_all_train_on_the_common_ones(records):
    x, y = records
    found = trained(x[:21], y[:21], None, 6, [5, 5])
    np.testing.assert_allclose(found[0], slow(x[:21], y[:21], 6, start(5)), rtol=1e-10)
    np.testing.assert_array_equal(found[0], found[1])


def test_a_model_is_the_one_that_the_trainer_of_single_models_finds(records, tmp_path):
    """In float32, its start and its order from one seed, the record added being the last."""
    x, y = (part[:22] for part in records)
    pool = data.Dataset(x.astype(np.float32), y, "toy", 2, "made here", "none")
    found = trained(x[:21], y[:21], (x[21:], y[21:]), 9, [9], torch.float32)
    model = training.train(
        lambda: one_logit(5),
        pool,
        np.ones((1, 22), bool),
        CONFIG,
        [9],
        device="cpu",
        cache_folder=tmp_path,
        progress=False,
    )
    expected = torch.cat([part.flatten() for part in model.parameters.values()])
    np.testing.assert_allclose(found[0], expected.numpy(), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("given", ["shape", "count", "loss"])
def test_what_does_not_fit_is_refused_in_one_line(records, given):
    x, y = (torch.tensor(part, dtype=torch.float32) for part in records)
    config = CONFIG
    if given == "loss":
        config = training.TrainingConfig(epochs=1, batch_size=2, learning_rate=0.1)
    added = (x[:2], y[:2]) if given == "count" else (x[:3], y[:3])
    rows = (x[:, 0], y) if given == "shape" else (x, y)
    with pytest.raises(InputError, match="give"):
        training.train_neighbours(*rows, added, config, 0, [1, 2, 3])


def test_batches_drawn_anew_take_some_records_twice_and_others_never(records):
    x, y = records
    rows = [torch.tensor(part, dtype=torch.float64) for part in (x, y)]
    order = training.leave_one_out._order("anew", 6, 0, len(x))
    assert len(np.unique(order)) < len(x) == len(order)
    dealt, anew = (
        training.train_neighbours(*rows, None, CONFIG, 6, [1], sampler)
        for sampler in training.leave_one_out.SAMPLERS
    )
    np.testing.assert_array_equal(dealt, training.train_neighbours(*rows, None, CONFIG, 6, [1]))
    assert not np.allclose(dealt, anew)


def test_batches_are_not_drawn_anew_with_a_record_of_ones_own(records):
    x, y = (torch.tensor(part, dtype=torch.float64) for part in records)
    with pytest.raises(InputError, match='sampler = "anew" draws from the common records alone'):
        training.train_neighbours(x, y, (x[:1], y[:1]), CONFIG, 6, [1], "anew")
    with pytest.raises(InputError, match="sampler"):
        training.train_neighbours(x, y, None, CONFIG, 6, [1], "sorted")
