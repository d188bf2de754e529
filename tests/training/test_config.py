"""Settings that are refused, rates by epoch; flips and crops against one image at a time."""

import numpy as np
import pytest
import torch

from membership import data
from membership.errors import InputError
from membership.training import TrainingConfig, train
from membership.training.config import REACH, drawn, moved
from tests.training.test_sgd import blobs, convolutional, mlp

GOOD = {"epochs": 10, "batch_size": 4, "learning_rate": 0.3}


def torch_schedule(name, optimiser):
    schedulers = torch.optim.lr_scheduler
    if name == "cosine":
        return schedulers.CosineAnnealingLR(optimiser, T_max=10)
    return schedulers.MultiStepLR(optimiser, milestones=[3, 7], gamma=0.2)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cosine", "milestones"])
def test_schedules_are_those_of_torch(name):
    config = TrainingConfig(**GOOD, schedule=name, milestones=(3, 7), gamma=0.2)
    optimiser = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.3)
    scheduler = torch_schedule(name, optimiser)
    for epoch in range(10):
        assert config.learning_rate_at(epoch) == pytest.approx(optimiser.param_groups[0]["lr"])
        optimiser.step()
        scheduler.step()


def test_a_constant_rate_stays():
    assert {TrainingConfig(**GOOD).learning_rate_at(epoch) for epoch in range(10)} == {0.3}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("epochs", 0),
        ("batch_size", 0),
        ("learning_rate", 0.0),
        ("learning_rate", float("nan")),
        ("momentum", 1.0),
        ("weight_decay", -1e-4),
        ("gamma", 0.0),
        ("schedule", "linear"),
        ("optimiser", "lbfgs"),
        ("loss", "hinge"),
    ],
)
def test_a_value_out_of_range_is_named(name, value):
    with pytest.raises(InputError, match=rf"{name} = .*(must be|expected)"):
        TrainingConfig(**{**GOOD, name: value})


def one_image(image, down, across, mirrored, reach):
    """Slowly: pad, cut, mirror."""
    channels, height, width = image.shape
    padded = np.zeros((channels, height + 2 * reach, width + 2 * reach), image.dtype)
    padded[:, reach : reach + height, reach : reach + width] = image
    cut = padded[:, down : down + height, across : across + width]
    return cut[:, :, ::-1] if mirrored else cut


@pytest.mark.parametrize("reach", REACH.values())
def test_windows_are_those_of_one_image_at_a_time(reach):
    images = np.random.default_rng(0).normal(size=(50, 3, 6, 9)).astype(np.float32)
    moves = drawn(3, 7, 50, reach)
    found = moved(torch.tensor(images), torch.tensor(moves), reach)
    for image, move, changed in zip(images, moves, found, strict=True):
        np.testing.assert_array_equal(changed.numpy(), one_image(image, *move, reach))


@pytest.mark.parametrize("reach", REACH.values())
def test_the_middle_window_is_the_image(reach):
    images = torch.randn(4, 1, 5, 5)
    still = torch.tensor([[reach, reach, 0]]).expand(4, 3)
    torch.testing.assert_close(moved(images, still, reach), images, rtol=0, atol=0)


@pytest.mark.parametrize("reach", REACH.values())
def test_moves_depend_on_seed_and_epoch_and_are_uniform(reach):
    moves = drawn(1, 2, 90_000, reach)
    np.testing.assert_array_equal(moves, drawn(1, 2, 90_000, reach))
    assert not np.array_equal(moves[:100], drawn(1, 3, 100, reach))
    assert not np.array_equal(moves[:100], drawn(2, 2, 100, reach))
    for column, values in ((0, 2 * reach + 1), (1, 2 * reach + 1), (2, 2)):
        counts = np.bincount(moves[:, column], minlength=values)
        assert len(counts) == values
        # Five standard errors of a count.
        assert np.abs(counts - 90_000 / values).max() < 5 * np.sqrt(90_000 / values)


@pytest.mark.parametrize("augmentation", REACH)
def test_training_sees_moved_images_and_each_model_its_own(augmentation, tmp_path):
    dataset = blobs(shape=(1, 4, 4))
    mask = data.random_halves(2, len(dataset.y), seed=1)
    config = TrainingConfig(epochs=3, batch_size=8, learning_rate=0.1, augmentation=augmentation)
    arguments = {"cache_folder": tmp_path, "progress": False}
    both = train(convolutional, dataset, mask, config, [0, 1], **arguments)
    single = train(convolutional, dataset, mask[1:], config, [1], progress=False)
    plain = TrainingConfig(epochs=3, batch_size=8, learning_rate=0.1)
    still = train(convolutional, dataset, mask[1:], plain, [1], **arguments)
    for name, tensor in single.parameters.items():
        torch.testing.assert_close(both.parameters[name][1], tensor[0], rtol=1e-5, atol=1e-5)
    assert any(not torch.equal(still.parameters[k], v) for k, v in single.parameters.items())


def test_records_that_are_no_images_are_refused():
    dataset = blobs()
    config = TrainingConfig(epochs=1, batch_size=8, learning_rate=0.1, augmentation="flip-and-crop")
    mask = data.random_halves(1, len(dataset.y), seed=1)
    with pytest.raises(InputError, match="augmentation = 'flip-and-crop': records of shape"):
        train(mlp, dataset, mask, config, [0], progress=False)
