import os
import subprocess
import sys

import numpy as np
import pytest
import torch
from torch import nn

from membership import curvature, models
from membership.curvature import hessians, layered, products
from membership.curvature.objective import objective
from membership.errors import InputError


def cross_entropy(output, y):
    return nn.functional.cross_entropy(output, y, reduction="none")


def test_it_is_the_hessian_of_the_mean_loss(problem, reference):
    ours = curvature.hessian(*problem)
    assert ours.dtype == np.float64
    np.testing.assert_allclose(ours, reference, atol=1e-10)
    np.testing.assert_allclose(ours, ours.T, atol=1e-15)
    with_decay = curvature.hessian(*problem, weight_decay=0.3)
    np.testing.assert_allclose(with_decay, reference + 0.3 * np.eye(len(ours)), atol=1e-10)


def test_chains_of_linear_layers_take_the_short_way():
    x, y = torch.randn(4, 6), torch.zeros(4).long()

    def chain(model):
        goal = objective(model, cross_entropy, x, y)
        return layered.linear_chain(goal, goal.records(x, y)[0])

    assert len(chain(models.mlp(6, (5, 4), 3)).linear) == 3
    twice = nn.Linear(6, 6)
    assert chain(nn.Sequential(twice, nn.Tanh(), twice)) is None
    assert chain(nn.Sequential(nn.Linear(6, 4), nn.PReLU())) is None
    assert chain(nn.Sequential(nn.Linear(6, 4), nn.LayerNorm(4))) is None
    assert chain(nn.Sequential(nn.Unflatten(1, (2, 3)), nn.Linear(3, 2), nn.Flatten())) is None


def test_products_are_products_with_it(problem, reference, monkeypatch):
    goal = objective(*problem)
    x, y = goal.records(*problem[2:])
    vectors = torch.randn(7, goal.size, dtype=torch.float64)
    expected = vectors.numpy() @ reference
    product = products.curvature_product(goal, x, y)
    np.testing.assert_allclose(product(vectors).numpy(), expected, atol=1e-10)
    by_autograd = hessians.curvature_products(goal, x, y, vectors)
    np.testing.assert_allclose(by_autograd.numpy(), expected, atol=1e-10)
    # Blocks of records and of vectors do not show.
    monkeypatch.setattr(products, "BLOCK_NUMBERS", 1)
    monkeypatch.setattr(products, "BLOCK_VECTORS", 3)
    np.testing.assert_allclose(product(vectors).numpy(), expected, atol=1e-10)


def test_blocks_of_records_do_not_show(problem, reference, monkeypatch):
    monkeypatch.setattr(layered, "BRACKET_NUMBERS", 1)
    monkeypatch.setattr(layered, "SHIFT_NUMBERS", 1)
    np.testing.assert_allclose(curvature.hessian(*problem), reference, atol=1e-10)
    monkeypatch.setattr(hessians, "BLOCK_NUMBERS", 300)
    goal = objective(*problem)
    generic = hessians.hessian_by_products(goal, *goal.records(*problem[2:]))
    np.testing.assert_allclose(generic.numpy(), reference, atol=1e-10)


def test_dead_units_are_left_out_and_do_not_show():
    torch.manual_seed(3)
    model = models.mlp(5, (6, 4), 3).double()
    first, second = [part for part in model.modules() if isinstance(part, nn.Linear)][:2]
    with torch.no_grad():
        first.bias[:2] = -100.0  # dead for every record
        first.bias[2:] = 0.0  # dead for some
        second.bias[0] = -100.0
    x, y = torch.randn(40, 5, dtype=torch.float64), torch.randint(0, 3, (40,))
    goal = objective(model, cross_entropy, x, y)
    expected = hessians.hessian_by_products(goal, x, y)
    found = curvature.hessian(model, cross_entropy, x, y)
    np.testing.assert_allclose(found, expected.numpy(), atol=1e-12)
    assert not found[0].any()


@pytest.mark.parametrize(
    ("operator", "ours"),
    [("HessianLinearOperator", curvature.hessian), ("GGNLinearOperator", curvature.ggn)],
)
def test_curvlinops_has_the_same_operator(operator, ours):
    curvlinops = pytest.importorskip("curvlinops")
    torch.manual_seed(1)
    model = models.mlp(6, (5,), 3).double()
    x, y = torch.randn(30, 6, dtype=torch.float64), torch.randint(0, 3, (30,))
    theirs = getattr(curvlinops, operator)(
        model, nn.CrossEntropyLoss(), list(model.parameters()), [(x, y)]
    )
    columns = torch.eye(sum(p.numel() for p in model.parameters()), dtype=torch.float64)
    expected = (theirs @ columns).detach().numpy()
    np.testing.assert_allclose(ours(model, cross_entropy, x, y), expected, atol=1e-10)


def test_a_loss_without_forward_mode_goes_another_way():
    """Huber's loss: torch differentiates it backwards alone."""
    torch.manual_seed(4)
    model = models.mlp(4, (5,), 2).double()
    x, y = torch.randn(12, 4, dtype=torch.float64), 3 * torch.randn(12, 2, dtype=torch.float64)

    def huber(output, y):
        return nn.functional.huber_loss(output, y, reduction="none").sum(dim=1)

    def written_out(output, y):
        off = (output - y).abs()
        return torch.where(off < 1, off**2 / 2, off - 0.5).sum(dim=1)

    found = curvature.hessian(model, huber, x, y)
    np.testing.assert_allclose(found, curvature.hessian(model, written_out, x, y), atol=1e-12)
    columns = torch.eye(len(found), dtype=torch.float64)
    goal = objective(model, huber, x, y)
    product = products.curvature_product(goal, *goal.records(x, y))
    np.testing.assert_allclose(product(columns), found, atol=1e-12)


def test_another_thing_that_is_not_implemented_is_no_reason_to(monkeypatch):
    def unfinished(*_):
        raise NotImplementedError("this part")

    torch.manual_seed(4)
    model, x, y = models.mlp(4, (5,), 2), torch.randn(12, 4), torch.randint(0, 2, (12,))
    goal = objective(model, cross_entropy, x, y)
    monkeypatch.setattr(hessians, "layered_hessian", unfinished)
    with pytest.raises(NotImplementedError, match="this part"):
        curvature.hessian(model, cross_entropy, x, y)
    monkeypatch.setattr(products, "_ChainProduct", unfinished)
    with pytest.raises(NotImplementedError, match="this part"):
        products.curvature_product(goal, *goal.records(x, y))


def test_float32_models_are_differentiated_in_float64():
    torch.manual_seed(2)
    model, x, y = models.mlp(6, (5,), 3), torch.randn(30, 6), torch.randint(0, 3, (30,))
    single = curvature.hessian(model, cross_entropy, x, y)
    assert next(model.parameters()).dtype == torch.float32
    np.testing.assert_array_equal(curvature.hessian(model.double(), cross_entropy, x, y), single)


def test_too_little_memory_is_said_before_the_work(monkeypatch):
    monkeypatch.setattr("membership.memory.available", lambda device: 1e9)
    model = models.mlp(600, (32,), 100)
    x, y = torch.randn(4, 600), torch.arange(4)
    with pytest.raises(InputError, match=r"22,532 parameters needs about 4\.\d gigab.*solver='cg'"):
        curvature.hessian(model, cross_entropy, x, y)
    with pytest.raises(InputError, match=r"needs about 16\.2 gigabytes.*1\.0 are free.*'cg'"):
        curvature.spectrum(model, cross_entropy, x, y)


def test_a_negative_weight_decay_is_refused():
    model, x, y = models.mlp(6, (5,), 3), torch.randn(4, 6), torch.zeros(4).long()
    with pytest.raises(InputError, match="weight_decay = -1"):
        curvature.hessian(model, cross_entropy, x, y, weight_decay=-1)


FIRST_HESSIAN = """
import torch
from torch import nn
from membership import attacks, curvature
model = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 2))
given = model, nn.CrossEntropyLoss(reduction="none")
x, y = torch.eye(2), torch.arange(2)
{}
"""


@pytest.mark.parametrize(
    "call",
    ["curvature.hessian(*given, x, y)", "attacks.sif(*given, (x, y), (x, y), 2.0, solver='cg')"],
)
def test_the_first_hessian_of_a_process_brings_no_warning_of_torch_s(call):
    # Not every torch removes its temporary folder by hand.
    strict = ["-W", "error", "-W", "ignore::ResourceWarning"]
    how = [sys.executable, *strict, "-c", FIRST_HESSIAN.format(call)]
    # A machine with much to do takes more than a second for it.
    quiet = {**os.environ, "TQDM_DISABLE": "1"}
    ran = subprocess.run(how, capture_output=True, text=True, check=False, env=quiet)
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.parametrize("on", [nn.Linear, nn.Tanh, nn.Sequential])
def test_what_is_put_on_all_modules_of_the_process_counts(on):
    def halved(module, given, output):
        return output / 2 if type(module) is on else output

    torch.manual_seed(4)
    model = nn.Sequential(nn.Linear(6, 4), nn.Tanh(), nn.Linear(4, 3))
    x, y = torch.randn(10, 6), torch.arange(10) % 3
    hook = nn.modules.module.register_module_forward_hook(halved)
    try:
        found = curvature.hessian(model, cross_entropy, x, y)
        goal = objective(model, cross_entropy, x, y)
        expected = hessians.hessian_by_products(goal, *goal.records(x, y))
    finally:
        hook.remove()
    np.testing.assert_allclose(found, expected.numpy(), atol=1e-12)
    assert np.abs(found - curvature.hessian(model, cross_entropy, x, y)).max() > 1e-3
