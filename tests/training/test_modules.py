"""Modules as people have them end as torch trains each of them alone, and are read so."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils import parametrizations, prune

from membership import data, signals
from membership.errors import InputError
from membership.training import TrainingConfig, train
from membership.training.cache import Fits
from tests.training.test_sgd import blobs, mlp, one_by_one

SGD = TrainingConfig(
    epochs=2, batch_size=8, learning_rate=0.05, momentum=0.9, weight_decay=0.01
)  # fmt: skip
ADAM = TrainingConfig(epochs=2, batch_size=8, learning_rate=0.01, optimiser="adam")
MASK = data.random_halves(3, 60, seed=1)


class Of(nn.Module):
    """Parts by name, and how they are put together."""

    def __init__(self, how, **parts):
        super().__init__()
        self.how, self.parts = how, nn.ModuleDict(parts)

    def forward(self, x):
        return self.how(self.parts, x)


def frozen():
    model = mlp()
    model[1].requires_grad_(False)
    return model


def adapted():
    base = nn.Linear(12, 3).requires_grad_(False)
    down, up = nn.Linear(12, 2, bias=False), nn.Linear(2, 3, bias=False)
    return Of(
        lambda of, x: of["base"](x) + 2 * of["up"](of["down"](x)), base=base, down=down, up=up
    )


def tied():
    model = nn.Sequential(nn.Linear(12, 12), nn.Tanh(), nn.Linear(12, 12), nn.Linear(12, 3))
    model[2].weight = model[0].weight
    return model


def recurrent(cell):
    return lambda: Of(
        lambda of, x: of["last"](of["cell"](x.view(len(x), 4, 3))[0][:, -1]),
        cell=cell(3, 5, batch_first=True),
        last=nn.Linear(5, 3),
    )


def cooled():
    model = mlp()
    model[3].register_forward_hook(lambda part, given, answer: answer / 4)
    return model


def pruned():
    model = mlp()
    prune.l1_unstructured(model[1], "weight", amount=0.4)
    return model


class Passing(nn.Module):
    """With a buffer that no state dict holds."""

    def __init__(self):
        super().__init__()
        self.last = nn.Linear(12, 3)
        self.register_buffer("scale", torch.linspace(0.5, 2, 12), persistent=False)

    def forward(self, x):
        return self.last(x * self.scale)


MODULES = {
    "frozen body": frozen,
    "adapter": adapted,
    "tied weights": tied,
    "spectral norm": lambda: nn.Sequential(
        parametrizations.spectral_norm(nn.Linear(12, 6)), nn.Tanh(), nn.Linear(6, 3)
    ),
    "weight norm": lambda: nn.Sequential(
        parametrizations.weight_norm(nn.Linear(12, 6)), nn.Tanh(), nn.Linear(6, 3)
    ),
    "a norm that averages all batches": lambda: nn.Sequential(
        nn.Linear(12, 6, bias=False), nn.BatchNorm1d(6, momentum=None), nn.Linear(6, 3)
    ),
    "GRU": recurrent(nn.GRU),
    "LSTM": recurrent(nn.LSTM),
    "temperature by a hook": cooled,
    "pruned": pruned,
    "a passing buffer": Passing,
}


@pytest.mark.filterwarnings("ignore:There is a performance drop")
@pytest.mark.parametrize(
    ("name", "config"), [*((name, SGD) for name in MODULES), ("frozen body", ADAM)]
)
def test_a_module_ends_as_torch_trains_it_and_is_read_so(name, config, tmp_path):
    make, dataset = MODULES[name], blobs()
    seeds = [5, 6, 7]
    found = train(make, dataset, MASK, config, seeds, cache_folder=tmp_path, progress=False)
    again = train(make, dataset, MASK, config, seeds, cache_folder=tmp_path, progress=False)
    answers = signals.scaled_logit(found, dataset.x, dataset.y)
    np.testing.assert_array_equal(signals.scaled_logit(again, dataset.x, dataset.y), answers)
    for row, seed in enumerate(seeds):
        wanted = one_by_one(make, dataset, MASK[row], config, seed)
        kept = dict(found.module(row).named_parameters())
        for part, value in wanted.named_parameters():
            torch.testing.assert_close(kept[part], value, rtol=1e-4, atol=1e-5)
        for one in (wanted, found.module(row)):
            alone = signals.scaled_logit(one, dataset.x, dataset.y)[0]
            np.testing.assert_allclose(answers[row], alone, rtol=1e-4, atol=1e-4)


def test_what_is_frozen_has_a_part_in_the_key():
    place = torch.device("cpu")
    each = [Fits(make, blobs(), MASK, SGD, (0, 1, 2), place).keys(1) for make in (mlp, frozen)]
    assert not set(each[0]) & set(each[1])


@pytest.mark.parametrize(
    ("make", "change", "message"),
    [
        (lambda: mlp().requires_grad_(False), {}, "all parameters of its model are frozen"),
        (
            lambda: nn.Sequential(nn.Linear(12, 6), nn.BatchNorm1d(6), nn.Linear(6, 3)),
            {"batch_size": 29},
            r"batch_size = 29: .* on 1 records, the last batch of an epoch .*another batch_size",
        ),
        (
            lambda: nn.Sequential(
                nn.Linear(12, 6), nn.BatchNorm1d(6, track_running_stats=False), nn.Linear(6, 3)
            ),
            {},
            r"does not take records of shape \(12,\)",
        ),
    ],
    ids=["nothing to train", "a batch of one", "no statistics"],
)
def test_a_module_that_cannot_be_trained_is_refused_before_any_work(
    make, change, message, tmp_path
):
    config = TrainingConfig(**{"epochs": 1, "batch_size": 8, "learning_rate": 0.1, **change})
    mask = np.zeros((1, 60), bool)
    mask[0, :30] = True
    with pytest.raises(InputError, match=message):
        train(make, blobs(), mask, config, [0], cache_folder=tmp_path, progress=False)
    assert not list(tmp_path.iterdir())
