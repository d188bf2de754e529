"""Batched training against a DataLoader, and its cache against kills and damage."""

import json
import os
import signal
import subprocess
import sys
import textwrap
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch
from torch import nn
from torch.func import functional_call, vmap
from torch.utils.data import DataLoader, TensorDataset

from membership import data, models
from membership.errors import InputError, RunError
from membership.training import TrainingConfig, batch_order, deadline, sgd, train
from membership.training.cache import Fits
from membership.training.ensemble import forward, initial_module, stack


def mlp(n_in=12, hidden=8, n_classes=3):
    return nn.Sequential(
        nn.Flatten(), nn.Linear(n_in, hidden), nn.Tanh(), nn.Linear(hidden, n_classes)
    )


def convolutional():
    return nn.Sequential(
        # A bias before a batch norm has gradient zero but for rounding, which Adam would blow up.
        nn.Conv2d(1, 4, 3, bias=False),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(16, 3),
    )


def blobs(n=60, shape=(12,), seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    x = rng.normal(size=(n, *shape)) + y.reshape(-1, *[1] * len(shape))
    return data.Dataset(
        x=x.astype(np.float32), y=y, name="blobs", n_classes=3, source="test", digest=""
    )


def one_by_one(factory, dataset, mask, config, seed):
    """The obvious way: a DataLoader, a module and torch's own optimiser."""
    model = initial_module(factory, seed).train()
    members = np.flatnonzero(mask)
    if config.optimiser == "adam":
        optimiser = torch.optim.Adam(model.parameters(), config.learning_rate)
    else:
        optimiser = torch.optim.SGD(
            model.parameters(),
            config.learning_rate,
            momentum=config.momentum,
            weight_decay=config.weight_decay,
        )
    records = TensorDataset(torch.tensor(dataset.x), torch.tensor(dataset.y))
    for epoch in range(config.epochs):
        for group in optimiser.param_groups:
            group["lr"] = config.learning_rate_at(epoch)
        order = batch_order(seed, epoch, members).tolist()
        for x, y in DataLoader(records, batch_size=config.batch_size, sampler=order):
            optimiser.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimiser.step()
    return model


CONFIGS = {
    "plain": TrainingConfig(epochs=3, batch_size=8, learning_rate=0.1),
    "momentum, decay, cosine": TrainingConfig(
        epochs=4,
        batch_size=7,
        learning_rate=0.05,
        momentum=0.9,
        weight_decay=5e-4,
        schedule="cosine",
    ),
    "milestones": TrainingConfig(
        epochs=4, batch_size=8, learning_rate=0.1, schedule="milestones", milestones=(1, 3)
    ),
    "adam": TrainingConfig(epochs=3, batch_size=8, learning_rate=0.01, optimiser="adam"),
}
ARCHITECTURES = {"mlp": (mlp, (12,)), "batch norm": (convolutional, (1, 4, 4))}


@pytest.mark.slow
@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS.keys())
@pytest.mark.parametrize("architecture", ARCHITECTURES.values(), ids=ARCHITECTURES.keys())
def test_an_ensemble_equals_models_trained_one_by_one(config, architecture, tmp_path):
    factory, shape = architecture
    dataset = blobs(shape=shape)
    membership = data.random_halves(3, len(dataset.y), seed=1)
    seeds = [5, 6, 7]
    ensemble = train(
        factory, dataset, membership, config, seeds, cache_folder=tmp_path, progress=False
    )
    for row, seed in enumerate(seeds):
        expected = one_by_one(factory, dataset, membership[row], config, seed).state_dict()
        found = ensemble.module(row).state_dict()
        for name, tensor in expected.items():
            torch.testing.assert_close(found[name], tensor, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("architecture", ARCHITECTURES.values(), ids=ARCHITECTURES.keys())
def test_bfloat16_rounds_products_and_nothing_else(architecture, tmp_path):
    factory, shape = architecture
    dataset = blobs(shape=shape)
    membership = data.random_halves(1, len(dataset.y), seed=1)
    config = replace(CONFIGS["plain"], precision="bfloat16")
    found = train(factory, dataset, membership, config, [5], cache_folder=tmp_path, progress=False)
    exact = one_by_one(factory, dataset, membership[0], config, 5).state_dict()
    moved = 0.0
    for name, tensor in found.module(0).state_dict().items():
        assert tensor.dtype == exact[name].dtype
        # Factors are kept to 8 bits, and errors of the steps add up.
        torch.testing.assert_close(tensor, exact[name], rtol=0.02, atol=0.02)
        moved = max(moved, float((tensor - exact[name]).abs().max()))
    assert moved > 1e-4


def test_the_squared_error_is_that_of_the_probability_of_class_1(tmp_path):
    dataset = data.keep_classes(blobs(), (0, 1))
    config = TrainingConfig(epochs=3, batch_size=8, learning_rate=0.5, loss="squared-error")
    membership = data.random_halves(2, len(dataset.y), seed=1)
    factory = partial(mlp, n_classes=1)
    ensemble = train(
        factory, dataset, membership, config, [3, 4], cache_folder=tmp_path, progress=False
    )
    model = initial_module(factory, 4)
    optimiser = torch.optim.SGD(model.parameters(), 0.5)
    for epoch in range(3):
        order = batch_order(4, epoch, np.flatnonzero(membership[1]))
        for rows in np.split(order, range(8, len(order), 8)):
            optimiser.zero_grad()
            probability = torch.sigmoid(model(torch.tensor(dataset.x[rows])))[:, 0]
            ((probability - torch.tensor(dataset.y[rows])) ** 2).mean().backward()
            optimiser.step()
    for name, tensor in ensemble.module(1).state_dict().items():
        torch.testing.assert_close(tensor, model.state_dict()[name], rtol=1e-5, atol=1e-5)


def test_models_with_unequal_numbers_of_members_equal_models_trained_one_by_one(tmp_path):
    dataset = blobs()
    membership = data.leave_one_out(len(dataset.y), [3, 10])
    config = CONFIGS["momentum, decay, cosine"]
    seeds = list(range(len(membership)))
    ensemble = train(mlp, dataset, membership, config, seeds, cache_folder=tmp_path, progress=False)
    for row in seeds:
        expected = one_by_one(mlp, dataset, membership[row], config, row).state_dict()
        for name, tensor in ensemble.module(row).state_dict().items():
            torch.testing.assert_close(tensor, expected[name], rtol=1e-5, atol=1e-5)


CHAINS = {
    "logistic": lambda: models.logistic_regression(12, 3),
    "one logit": lambda: nn.Sequential(nn.Flatten(), nn.Linear(12, 1)),
    "two hidden layers": lambda: models.mlp(12, (7, 5), 3, "tanh"),
    "a layer alone": lambda: nn.Linear(12, 2, bias=False),
    "one activation in two places": lambda: twice(nn.ReLU()),
    "one layer in two chains": lambda: in_two_chains(nn.Linear(12, 12)),
    "dropout": lambda: nn.Sequential(nn.Linear(12, 4), nn.Dropout(0.0), nn.Linear(4, 2)),
}


def twice(part):
    return nn.Sequential(nn.Linear(12, 12), part, nn.Linear(12, 12), part, nn.Linear(12, 2))


def in_two_chains(part):
    return nn.Sequential(nn.Sequential(part), nn.Sequential(part, nn.Tanh()))


@pytest.mark.parametrize("factory", CHAINS.values(), ids=CHAINS.keys())
def test_linear_layers_side_by_side_are_those_of_vmap_bit_for_bit(factory):
    modules = [initial_module(factory, seed) for seed in range(3)]
    parameters, buffers = stack(modules, torch.device("cpu"))
    x = torch.rand(3, 9, 12, generator=torch.Generator().manual_seed(0))

    def one(state, rows):
        return functional_call(modules[0], state, (rows,))

    def ours(state, rows):
        return forward(modules[0], state, buffers, rows)

    found = []
    for way in (ours, vmap(one, randomness="different")):
        answer = way(parameters, x)
        found.append([answer, *torch.autograd.grad(answer.square().sum(), parameters.values())])
    assert all(torch.equal(a, b) for a, b in zip(*found, strict=True))


def test_logits_are_those_of_each_model(tmp_path):
    dataset = blobs(shape=(1, 4, 4))
    membership = data.random_halves(3, len(dataset.y), seed=1)
    ensemble = train(
        convolutional,
        dataset,
        membership,
        CONFIGS["plain"],
        [0, 1, 2],
        cache_folder=tmp_path,
        progress=False,
    )
    logits = ensemble.logits(dataset.x, batch_size=13)
    assert logits.shape == (3, 60, 3)
    for row in range(3):
        with torch.no_grad():
            expected = ensemble.module(row)(torch.tensor(dataset.x))
        torch.testing.assert_close(logits[row], expected, rtol=1e-5, atol=1e-5)


def test_a_second_call_trains_nothing_and_an_added_model_trains_alone(tmp_path, monkeypatch):
    dataset = blobs()
    membership = data.random_halves(4, len(dataset.y), seed=1)
    arguments = {"cache_folder": tmp_path, "progress": False}
    first = train(mlp, dataset, membership[:3], CONFIGS["plain"], [0, 1, 2], **arguments)
    trained = []
    run = sgd._run
    monkeypatch.setattr(
        sgd, "_run", lambda fits, rows, *rest: trained.append(rows) or run(fits, rows, *rest)
    )
    second = train(mlp, dataset, membership, CONFIGS["plain"], [0, 1, 2, 3], **arguments)
    assert trained == [[3]]
    for name, tensor in first.parameters.items():
        assert torch.equal(second.parameters[name][:3], tensor)


@pytest.mark.parametrize(
    "change",
    ["seed", "record", "label", "member", "epochs", "architecture", "version"],
)
def test_whatever_determines_a_model_changes_its_key(change, tmp_path):
    dataset, config, seed, factory = blobs(), CONFIGS["plain"], 0, mlp
    mask = data.random_halves(1, len(dataset.y), seed=1)
    place = torch.device("cpu")
    before = Fits(factory, dataset, mask, config, (seed,), place).keys(1)
    if change == "seed":
        seed = 1
    elif change == "record":
        dataset = blobs(seed=1)
    elif change == "label":
        dataset = data.Dataset(dataset.x, np.roll(dataset.y, 1), "blobs", 3, "test", "")
    elif change == "member":
        mask = ~mask
    elif change == "epochs":
        config = TrainingConfig(epochs=4, batch_size=8, learning_rate=0.1)
    elif change == "architecture":
        factory = partial(mlp, hidden=9)
    version = 2 if change == "version" else 1
    assert before != Fits(factory, dataset, mask, config, (seed,), place).keys(version)


# Each run is a process of its own; all of them are born with what takes seconds to import.
RUNS = """
    import json, os, signal, sys, traceback
    import numpy as np
    import torch._dynamo
    sys.path.insert(0, {tests!r})
    import test_sgd as here
    from membership import data, training
    from membership.training import sgd
    sgd.SECONDS_BETWEEN_CHECKPOINTS = 0.0
    epoch, seen = sgd._epoch, []

    def run(cache, out, kill_at):
        def counted(*arguments):
            seen.append(1)
            if len(seen) == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)
            return epoch(*arguments)
        sgd._epoch = counted
        dataset = here.blobs()
        mask = data.random_halves(3, len(dataset.y), seed=1)
        ensemble = training.train(here.mlp, dataset, mask, here.LONG, [0, 1, 2],
                                  cache_folder=cache, progress=False)
        parameters = {{k: v.numpy() for k, v in ensemble.parameters.items()}}
        np.savez(out, epochs=len(seen), **parameters)

    def start(given):
        if child := os.fork():
            return child
        try:
            run(**given)
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)

    def end(child):
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    for runs in json.loads(sys.argv[1]):  # those of one list at once, and one list after another
        print(json.dumps([end(child) for child in list(map(start, runs))]))
"""
LONG = TrainingConfig(epochs=12, batch_size=8, learning_rate=0.05, momentum=0.9, schedule="cosine")


@pytest.fixture(scope="module")
def ended(tmp_path_factory):
    """What five runs end with, by name: each with a cache, and an epoch at which it is killed."""
    folder, code = tmp_path_factory.mktemp("runs"), textwrap.dedent(RUNS)
    caches = {"killed": "here", "resumed": "here", "whole": "other", "one": "both", "two": "both"}
    given = {
        name: {
            "cache": str(folder / cache),
            "out": str(folder / f"{name}.npz"),
            "kill_at": 8 if name == "killed" else 0,
        }
        for name, cache in caches.items()
    }
    order = [["killed"], ["resumed", "whole"], ["one", "two"]]
    script = code.format(tests=os.path.dirname(__file__))
    words = json.dumps([[given[name] for name in names] for names in order])
    done = subprocess.run([sys.executable, "-c", script, words], capture_output=True, text=True)
    codes = [json.loads(line) for line in done.stdout.splitlines()]
    assert (codes, done.stderr) == ([[-signal.SIGKILL], [0, 0], [0, 0]], "")
    assert not list(folder.rglob("*checkpoint.safetensors"))
    found = {name: np.load(folder / f"{name}.npz") for name in caches if name != "killed"}
    yield found
    for file in found.values():
        file.close()


@pytest.mark.slow
def test_a_killed_run_resumes_and_ends_bit_for_bit_the_same(ended):
    resumed, whole = ended["resumed"], ended["whole"]
    assert (resumed["epochs"], whole["epochs"]) == (5, 12)
    assert all(np.array_equal(resumed[name], whole[name]) for name in whole if name != "epochs")


@pytest.mark.slow
def test_two_runs_that_share_a_cache_train_each_model_once(ended):
    assert sorted(int(ended[name]["epochs"]) for name in ("one", "two")) == [0, 12]


def test_parameters_have_the_order_of_the_module_trained_or_from_the_cache(tmp_path):
    dataset, half = blobs(), np.random.default_rng(0).random((2, 60)) < 0.5
    config = TrainingConfig(epochs=1, batch_size=8, learning_rate=0.1)
    arguments = (mlp, dataset, half, config, [0, 1])
    trained, kept = (train(*arguments, cache_folder=tmp_path, progress=False) for _ in range(2))
    names = [name for name, _ in mlp().named_parameters()]
    assert list(trained.parameters) == list(kept.parameters) == names
    assert names != sorted(names)


def test_divergence_is_said_in_one_line(tmp_path):
    dataset = blobs()
    huge = TrainingConfig(epochs=9, batch_size=8, learning_rate=1e38)
    with pytest.raises(RunError, match=r"^training diverged in epoch \d+ \(model with seed 4\)"):
        train(
            partial(nn.Linear, 12, 3),
            dataset,
            np.ones((1, 60), bool),
            huge,
            [4],
            cache_folder=tmp_path,
            progress=False,
        )
    assert not list(tmp_path.rglob("*.safetensors"))


BAD = {
    "no member": ({"membership": np.zeros((1, 60), bool)}, "at least one member"),
    "integers": ({"membership": np.ones((1, 60))}, "expected booleans"),
    "too few columns": ({"membership": np.ones((1, 59), bool)}, r"\(models, 60\)"),
    "negative seed": ({"seeds": [-1]}, "not negative"),
    "two seeds": ({"seeds": [1, 2]}, "one a model"),
    "architecture": ({"factory": partial(mlp, n_in=13)}, "does not take records of shape"),
    "classes": ({"factory": partial(mlp, n_classes=4)}, r"expected \(1, 3\)"),
    "squared error of three classes": (
        {"config": TrainingConfig(epochs=1, batch_size=8, learning_rate=0.1, loss="squared-error")},
        "3 classes: it takes two",
    ),
    "device": ({"device": "gpu"}, "auto, cpu or cuda"),
}


@pytest.mark.parametrize(("change", "message"), BAD.values(), ids=BAD.keys())
def test_bad_input_is_named_before_any_training(change, message, tmp_path):
    arguments = {
        "factory": mlp,
        "dataset": blobs(),
        "membership": np.ones((1, 60), bool),
        "config": CONFIGS["plain"],
        "seeds": [0],
    }
    with pytest.raises(InputError, match=message):
        train(**{**arguments, **change}, cache_folder=tmp_path, progress=False)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_processes_end_with_the_same_parameters_as_a_loop(tmp_path):
    dataset = blobs(shape=(1, 8, 8))
    membership = data.random_halves(3, len(dataset.y), seed=1)
    factory = partial(models.small_cnn, (1, 8, 8), 3)
    arguments = (factory, dataset, membership, CONFIGS["plain"], [0, 1, 2])
    alone = train(*arguments, n_jobs=1, cache_folder=tmp_path / "a", progress=False)
    together = train(*arguments, n_jobs=2, cache_folder=tmp_path / "b", progress=False)
    for name, tensor in alone.parameters.items():
        assert torch.equal(tensor, together.parameters[name])


@pytest.mark.parametrize(
    ("factory", "shape", "alone"), [(mlp, (12,), 1), (convolutional, (1, 4, 4), 2)]
)
def test_training_stops_at_its_moment_and_goes_on_from_there(
    factory, shape, alone, tmp_path, monkeypatch
):
    dataset, mask = blobs(shape=shape), np.ones((2, 60), dtype=bool)
    config = TrainingConfig(epochs=3, batch_size=20, learning_rate=0.1, momentum=0.9)
    run = partial(train, factory, dataset, mask, config, [1, 2], device="cpu", progress=False)
    expected = run(cache_folder=tmp_path / "whole")
    folder = tmp_path / "stopped"
    answers = iter([False, False, True])  # at the start, after one epoch, after the second
    with monkeypatch.context() as patch:
        patch.setattr(deadline, "is_over", lambda: next(answers))
        with pytest.raises(deadline.Stopped, match="it goes on there") as stopped:
            run(cache_folder=folder)
    assert (stopped.value.done, stopped.value.total) == (4 // alone, 6 // alone)
    with deadline.until(0.0), pytest.raises(deadline.Stopped) as counted:
        run(cache_folder=folder)
    assert (counted.value.done, counted.value.total) == (4 // alone, 6)
    found = run(cache_folder=folder)
    for name, value in expected.parameters.items():
        assert torch.equal(found.parameters[name], value)
    with deadline.until(0.0):  # nothing is left to train
        assert len(run(cache_folder=folder)) == 2
