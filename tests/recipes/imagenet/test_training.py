"""Crops against pixels taken by hand, and training against what is written out."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn

from membership import data
from membership.errors import InputError, RunError
from membership.training import TrainingConfig, batch_order
from recipes.imagenet import training
from recipes.imagenet.training import AUGMENTATIONS, Crops, Job

CPU = torch.device("cpu")
NONE, SMALL, LARGE = AUGMENTATIONS


@pytest.mark.parametrize(
    ("size", "shorter", "expected"),
    [((500, 375), 256, (341, 256)), ((30, 60), 256, (256, 512)), ((77, 77), 37, (37, 37))],
)
def test_resizing_sets_the_shorter_side_and_keeps_the_proportions(size, shorter, expected):
    assert training.resized(Image.new("RGB", size), shorter).size == expected


def _corners(size, crop, augmentation, draws=4000):
    rng = np.random.default_rng(0)
    return np.array([training.corner(size, crop, augmentation, rng) for _ in range(draws)])


def test_without_augmentation_the_crop_is_central():
    assert np.unique(_corners((341, 256), 224, NONE, 10), axis=0).tolist() == [[58, 16]]


def test_small_crops_move_by_up_to_five_pixels_each_way():
    corners = _corners((341, 256), 224, SMALL)
    assert np.unique(corners[:, 0]).tolist() == list(range(58 - 5, 58 + 6))
    assert np.unique(corners[:, 1]).tolist() == list(range(16 - 5, 16 + 6))


@pytest.mark.parametrize("crop", [32, 33, 45, 64, 96, 160, 224, 448])
def test_small_crops_are_never_cut_off_and_move_less_than_large_ones(crop):
    shorter = round(crop * 256 / 224)
    size = training.resized(Image.new("RGB", (400, 300)), shorter).size
    small, large = (_corners(size, crop, name) for name in (SMALL, LARGE))
    middle = _corners(size, crop, NONE, 1)[0]
    reach = max(1, round(5 * crop / 224))
    for axis in (0, 1):
        places, counts = np.unique(small[:, axis] - middle[axis], return_counts=True)
        assert places.tolist() == list(range(-reach, reach + 1))
        # Equally likely, the ends as well: five standard deviations of a binomial count.
        expected = len(small) / len(places)
        assert np.abs(counts - expected).max() < 5 * np.sqrt(expected)
        assert small[:, axis].min() >= 0
        assert small[:, axis].max() <= size[axis] - crop
        assert small[:, axis].std() < large[:, axis].std()


def test_large_crops_lie_anywhere_with_equal_probability():
    corners = _corners((41, 35), 32, LARGE)
    for axis, places in ((0, 10), (1, 4)):
        counts = np.bincount(corners[:, axis], minlength=places)
        expected = len(corners) / places
        assert len(counts) == places
        # Five standard deviations of a binomial count.
        assert np.abs(counts - expected).max() < 5 * np.sqrt(expected)


def _by_hand(folder, record, left=None, top=None, size=32):
    """The crop in float64, central unless its corner is given."""
    image = folder.open(record)
    shorter = round(size * 256 / 224)
    scale = shorter / min(image.size)
    image = image.resize((round(image.width * scale), round(image.height * scale)), 2)
    left = (image.width - size) // 2 if left is None else left
    top = (image.height - size) // 2 if top is None else top
    pixels = np.asarray(image, dtype=np.float64)[top : top + size, left : left + size] / 255
    pixels = (pixels - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]
    return pixels.transpose(2, 0, 1)


def test_the_central_crop_against_pixels_by_hand(folder):
    crops = Crops(folder, 32)
    for record in range(len(folder)):
        x, y = crops[record]
        assert (x.shape, x.dtype) == ((3, 32, 32), torch.float32)
        assert y == folder.y[record]
        np.testing.assert_allclose(x.numpy(), _by_hand(folder, record), atol=1e-6)


def test_an_augmented_crop_is_some_crop_or_its_mirror_image(folder):
    image = training.resized(folder.open(4), 37)
    candidates = {}
    for left in range(image.width - 31):
        for top in range(image.height - 31):
            pixels = _by_hand(folder, 4, left, top)
            candidates[left, top, False] = pixels
            candidates[left, top, True] = pixels[:, :, ::-1]
    seen = set()
    for seed in range(60):
        x = Crops(folder, 32, LARGE, (seed,))[4][0].numpy()
        seen |= {key for key, pixels in candidates.items() if np.abs(x - pixels).max() < 1e-5}
    assert {mirrored for _, _, mirrored in seen} == {False, True}
    assert len(seen) > 20


@pytest.mark.parametrize("augmentation", [SMALL, LARGE])
def test_half_of_the_images_are_mirrored(imagenet, folder, augmentation):
    ramp = np.repeat(np.linspace(0, 255, 50).astype(np.uint8)[None], 50, axis=0)
    Image.fromarray(ramp).save(imagenet / "train" / str(folder.files[3]))
    draws = 200
    crops = [Crops(folder, 32, augmentation, (seed,))[3][0] for seed in range(draws)]
    mirrored = sum(bool(x[0, 0, 0] > x[0, 0, -1]) for x in crops)
    # Five standard deviations of a binomial count.
    assert abs(mirrored - draws / 2) < 5 * np.sqrt(draws) / 2


@pytest.mark.parametrize("augmentation", AUGMENTATIONS)
def test_draws_depend_on_seed_and_record_alone(folder, augmentation):
    def one(seed, record):
        return Crops(folder, 32, augmentation, seed)[record][0]

    assert torch.equal(one((0, 1), 5), one((0, 1), 5))
    same = all(torch.equal(one((0, 1), record), one((0, 2), record)) for record in range(6))
    assert same == (augmentation == NONE)


def test_workers_do_not_change_the_batches(folder):
    order = np.random.default_rng(0).permutation(len(folder))[:11]
    crops = Crops(folder, 32, LARGE, (7,))
    alone, shared = (list(training.batches(crops, order, 4, n, CPU)) for n in (0, 2))
    assert [len(y) for _, y in alone] == [4, 4, 3]
    assert torch.cat([y for _, y in alone]).tolist() == folder.y[order].tolist()
    for (x, y), (x_shared, y_shared) in zip(alone, shared, strict=True):
        assert torch.equal(x, x_shared)
        assert torch.equal(y, y_shared)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [0, 2])
def test_a_damaged_image_is_one_line_that_names_it(folder, damaged, workers):
    with pytest.raises(InputError) as caught:
        list(training.batches(Crops(folder, 32), np.arange(len(folder)), 4, workers, CPU))
    message = str(caught.value)
    assert message.startswith(f"{damaged}: unreadable image")
    assert "\n" not in message


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


def test_the_same_job_ends_the_same_without_training_twice_and_another_seed_does_not(
    job, tmp_path, monkeypatch
):
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    first = _state(_train(job))
    # As if nothing had been trained.
    assert torch.equal(torch.rand(3), expected)
    with monkeypatch.context() as patched:
        patched.setattr(training, "_epoch", None)
        assert torch.equal(_state(_train(job)), first)
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
