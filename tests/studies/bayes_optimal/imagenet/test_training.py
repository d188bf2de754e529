"""Training from disk against a loop written out, and interrupted against uninterrupted."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch
from torch import nn

from membership import data
from membership.errors import RunError
from membership.studies.bayes_optimal.imagenet import training
from membership.studies.bayes_optimal.imagenet.images import AUGMENTATIONS, Crops
from membership.studies.bayes_optimal.imagenet.training import Job
from membership.training import TrainingConfig, batch_order

CONFIG = TrainingConfig(
    epochs=3,
    batch_size=5,
    learning_rate=0.02,
    momentum=0.9,
    weight_decay=1e-2,
    schedule="milestones",
    milestones=(2,),
)


def _network(dropout):
    return nn.Sequential(
        nn.Conv2d(3, 4, 3, stride=4),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.Flatten(),
        nn.Dropout(dropout),
        nn.Linear(4 * 8 * 8, 3),
    )


@pytest.fixture
def job(folder):
    return Job(
        factory=partial(_network, 0.5),
        folder=folder,
        member=data.disjoint_halves(len(folder), 0)[0],
        augmentation=AUGMENTATIONS[2],
        image_size=32,
        config=CONFIG,
        seed=3,
        device=torch.device("cpu"),
    )


def _state(module):
    return torch.cat([tensor.double().flatten() for tensor in module.state_dict().values()])


def _train(job):
    return training.train(job, workers=0, progress=False)


@pytest.mark.slow
def test_training_is_sgd_with_momentum_and_weight_decay_as_written_out(job):
    job = replace(job, factory=partial(_network, 0.0))
    torch.manual_seed(job.seed)
    module = _network(0.0).train()
    velocity = [torch.zeros_like(p) for p in module.parameters()]
    for epoch, rate in enumerate((0.02, 0.02, 0.002)):
        crops = Crops(job.folder, 32, job.augmentation, (3, epoch))
        order = batch_order(3, epoch, np.flatnonzero(job.member))
        for first in range(0, len(order), 5):
            x, y = zip(*[crops[int(i)] for i in order[first : first + 5]], strict=True)
            loss = nn.functional.cross_entropy(module(torch.stack(x)), torch.tensor(y))
            gradients = torch.autograd.grad(loss, list(module.parameters()))
            with torch.no_grad():
                for p, v, gradient in zip(module.parameters(), velocity, gradients, strict=True):
                    v.mul_(0.9).add_(gradient + 1e-2 * p)
                    p.sub_(rate * v)
    torch.testing.assert_close(_state(_train(job)), _state(module), rtol=1e-4, atol=1e-6)


@pytest.mark.slow
def test_training_learns_its_members(job):
    job = replace(job, config=replace(CONFIG, epochs=8, milestones=()), augmentation="None")
    loss, correct = training.losses(_train(job), job.folder, 32, 8, workers=0, progress=False)
    assert loss[job.member].mean() < 0.5 * np.log(3)
    assert correct[job.member].mean() > 0.9


def test_the_same_job_ends_the_same_and_another_seed_does_not(job, tmp_path, monkeypatch):
    first = _state(_train(job))
    monkeypatch.setenv("MEMBERSHIP_CACHE", str(tmp_path / "second"))
    assert torch.equal(_state(_train(job)), first)
    assert not torch.equal(_state(_train(replace(job, seed=4))), first)


def test_a_run_stopped_within_an_epoch_resumes_to_the_same_network(job, tmp_path, monkeypatch):
    expected = _state(_train(job))
    monkeypatch.setenv("MEMBERSHIP_CACHE", str(tmp_path / "second"))
    honest, steps = training.batches, []

    def stopped(*arguments):
        for batch in honest(*arguments):
            steps.append(len(steps))
            # Three steps an epoch: this is in the middle of the second.
            if len(steps) == 5:
                raise KeyboardInterrupt
            yield batch

    monkeypatch.setattr(training, "batches", stopped)
    with pytest.raises(KeyboardInterrupt):
        _train(job)
    monkeypatch.setattr(training, "batches", honest)
    epochs, run = [], training._epoch
    monkeypatch.setattr(training, "_epoch", lambda *a: (epochs.append(a[3]), run(*a)))
    assert torch.equal(_state(_train(job)), expected)
    assert epochs == [1, 2]


def test_a_finished_job_is_not_trained_again(job, monkeypatch):
    first = _state(_train(job))
    monkeypatch.setattr(training, "_epoch", None)
    assert torch.equal(_state(_train(job)), first)


def test_torch_draws_on_as_if_nothing_had_been_trained(job):
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    _train(job)
    assert torch.equal(torch.rand(3), expected)


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 4},
        {"augmentation": "None"},
        {"image_size": 33},
        {"config": replace(CONFIG, epochs=4)},
        {"factory": partial(_network, 0.4)},
        {"member": np.arange(27) < 13},
    ],
)
def test_the_key_follows_what_determines_the_network(job, change):
    assert replace(job, **change).key() != job.key()
    assert replace(job).key() == job.key()


def test_divergence_is_a_failed_run(job):
    job = replace(job, config=replace(CONFIG, learning_rate=1e30))
    with pytest.raises(RunError, match=r"training diverged in epoch 1/3: the loss is (nan|inf)"):
        _train(job)


def test_losses_against_a_slow_float64_reference(job):
    module = _train(job)
    loss, correct = training.losses(module, job.folder, 32, 4, workers=0, progress=False)
    assert (loss.dtype, correct.dtype) == (np.float64, np.float64)
    crops, exact = Crops(job.folder, 32), _network(0.5).double().eval()
    exact.load_state_dict(module.state_dict())
    for record in range(len(job.folder)):
        x, y = crops[record]
        logits = exact(x.double()[None])[0].detach().numpy()
        probability = np.exp(logits) / np.exp(logits).sum()
        assert loss[record] == pytest.approx(-np.log(probability[y]), abs=1e-5)
        assert correct[record] == (probability.argmax() == y)
