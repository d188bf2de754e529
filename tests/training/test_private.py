import numpy as np
import pytest
import torch
from torch.func import functional_call, grad, vmap

from membership.errors import InputError
from membership.training.private import (
    PrivateConfig,
    draw_noise,
    private_mean,
    record_gradients,
    train_softmax_layers,
    with_constant,
)


def example(n=40, p=5, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, p)).astype(np.float32)
    y = rng.integers(classes, size=n)
    return x, y, rng.standard_normal((classes, p + 1))


def reference_gradients(x, y, weight):
    """torch.func, record by record, of nn.Linear under cross-entropy; in float64."""
    layer = torch.nn.Linear(x.shape[1], len(weight)).double()
    parameters = {
        "weight": torch.tensor(weight[:, :-1]),
        "bias": torch.tensor(weight[:, -1]),
    }

    def loss(parameters, x, y):
        return torch.nn.functional.cross_entropy(functional_call(layer, parameters, (x,)), y)

    each = vmap(grad(loss), in_dims=(None, 0, 0))(
        parameters, torch.tensor(x).double(), torch.tensor(y)
    )
    return torch.cat([each["weight"], each["bias"][..., None]], dim=-1)


def test_record_gradients_are_autograds():
    x, y, weight = example()
    expected = reference_gradients(x, y, weight).flatten(1).numpy()
    np.testing.assert_allclose(record_gradients(weight, x, y), expected, atol=1e-12)


@pytest.mark.parametrize("clip", [0.3, 2.0, np.inf])
def test_the_private_mean_clips_each_record(clip):
    x, y, weight = example()
    each = reference_gradients(x, y, weight)
    norm = each.flatten(1).norm(dim=1)
    assert (norm > 0.3).any()
    expected = (each * (clip / norm).clamp(max=1.0)[:, None, None]).mean(dim=0)
    stacked = torch.tensor(np.stack([weight, 2 * weight]), dtype=torch.float32)
    found = private_mean(stacked, with_constant(x), torch.tensor(y), clip)
    torch.testing.assert_close(found[0].double(), expected, rtol=1e-5, atol=1e-6)
    assert (found.flatten(1).norm(dim=1) <= clip * (1 + 1e-6)).all()


def test_independent_noise_is_independent_in_every_coordinate():
    draws, shape = 20_000, (2, 3, 4)
    generator = torch.Generator().manual_seed(0)
    drawn = torch.stack([draw_noise(shape, "independent", generator) for _ in range(draws)])
    correlation = np.corrcoef(drawn.flatten(1).numpy().T)
    # 276 pairs, each with a standard error of 0.007.
    assert np.abs(correlation - np.eye(24)).max() < 4 / np.sqrt(draws)
    assert drawn.std() == pytest.approx(1.0, abs=0.01)


def test_shared_noise_is_one_draw_for_all_classes():
    drawn = draw_noise((2, 3, 4), "shared", torch.Generator().manual_seed(0))
    assert drawn.shape == (2, 3, 4)
    assert (drawn == drawn[:, :1]).all()
    assert not (drawn[0] == drawn[1]).any()


def test_one_step_is_the_noisy_step():
    x, y, _ = example()
    common = dict(epochs=1, batch_size=len(x), learning_rate=0.5, clip=1.0, optimiser="sgd")
    quiet, loud = train_softmax_layers(x, y, 3, PrivateConfig(**common), [0.0, 0.7], seed=1)
    noise = (quiet - loud) / 0.5 / 0.7
    assert noise.std() == pytest.approx(1.0, abs=0.5)
    again = train_softmax_layers(x, y, 3, PrivateConfig(**common), [0.0, 1.4], seed=1)[1]
    np.testing.assert_allclose(quiet - again, 2 * (quiet - loud), rtol=1e-4, atol=1e-6)


def test_shared_noise_does_not_change_what_sgd_learns():
    x, y, _ = example(200)
    results = {}
    for kind in ("shared", "independent"):
        config = PrivateConfig(5, 20, 0.1, 100.0, optimiser="sgd", noise=kind)
        weight = train_softmax_layers(x, y, 3, config, [0.0, 3.0], seed=2)
        logits = np.einsum("rcp,np->rnc", weight, with_constant(x).numpy())
        results[kind] = np.asarray(torch.tensor(logits).softmax(-1))
    quiet, loud = results["shared"]
    np.testing.assert_allclose(quiet, loud, atol=1e-4)
    quiet, loud = results["independent"]
    assert np.abs(quiet - loud).max() > 0.3


def test_it_learns():
    rng = np.random.default_rng(3)
    y = rng.integers(2, size=400)
    x = rng.standard_normal((400, 4)) + 3 * y[:, None]
    config = PrivateConfig(20, 50, 0.05, 10.0)
    weight = train_softmax_layers(x, y, 2, config, [0.0], seed=0)[0]
    accuracy = ((with_constant(x).numpy() @ weight.T).argmax(1) == y).mean()
    assert accuracy > 0.95


def test_same_seed_same_weights():
    x, y, _ = example()
    config = PrivateConfig(2, 10, 0.1, 1.0)
    first, again, other = (
        train_softmax_layers(x, y, 3, config, [0.5], seed=seed) for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize(
    "changed",
    [
        {"epochs": 0},
        {"batch_size": 0},
        {"learning_rate": 0.0},
        {"clip": 0.0},
        {"optimiser": "lbfgs"},
        {"noise": "none"},
    ],
)
def test_bad_configurations_are_named(changed):
    good = dict(epochs=1, batch_size=5, learning_rate=0.1, clip=1.0)
    ((name, _),) = changed.items()
    with pytest.raises(InputError, match=f"{name} = "):
        PrivateConfig(**{**good, **changed})


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"noise": [-1.0]}, "noise is as low as"),
        ({"y": np.full(40, 3)}, "y has 40 labels"),
        ({"y": np.zeros(3, dtype=int)}, "y has 3 labels"),
        ({"features": np.full((40, 5), np.nan)}, "features holds 200"),
        ({"config": PrivateConfig(1, 41, 0.1, 1.0)}, "batch_size = 41"),
        ({"device": "tpu"}, "device = 'tpu'"),
    ],
)
def test_bad_input_is_named(changed, named):
    x, y, _ = example()
    good = dict(
        features=x, y=y, n_classes=3, config=PrivateConfig(1, 5, 0.1, 1.0), noise=[0.1], seed=0
    )
    with pytest.raises(InputError, match=named):
        train_softmax_layers(**{**good, **changed})
