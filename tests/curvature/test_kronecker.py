"""Kronecker-factored matrices: where they are the Gauss-Newton matrix, and another library's."""

import numpy as np
import pytest
import torch
from torch import nn

from membership import curvature
from membership.curvature import kronecker as room
from membership.curvature.kronecker import kronecker
from membership.curvature.objective import objective
from membership.errors import InputError


def cross_entropy(output, y):
    return nn.functional.cross_entropy(output, y, reduction="none")


def squared(output, y):
    return ((output - y) ** 2).flatten(1).sum(1) / 2


def decomposed(model, loss, x, y, corrected, parameters=None):
    goal = objective(model, loss, x, y, parameters, "ggn")
    return kronecker(goal, *goal.records(x, y), corrected)


def dense(factors):
    rows = factors.rotate(torch.eye(sum(factors.sizes.values()), dtype=torch.float64)).numpy()
    np.testing.assert_allclose(rows @ rows.T, np.eye(len(rows)), atol=1e-12)
    return rows @ np.diag(factors.values) @ rows.T


def block_diagonal(matrix, sizes):
    kept, at = np.zeros_like(matrix), 0
    for size in sizes:
        kept[at : at + size, at : at + size] = matrix[at : at + size, at : at + size]
        at += size
    return kept


def deep_linear():
    return nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 5, bias=False), nn.Linear(5, 2))


def one_record():
    return nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 2))


# Where the outputs' gradients do not depend on the inputs, or there is one record, each layer's
# block is the Kronecker product of its factors.
EXACT = {
    "linear layer, squared error": (lambda: nn.Linear(4, 2), squared, 30, (10,)),
    "linear layer, one record": (lambda: nn.Linear(4, 2), cross_entropy, 1, (10,)),
    "deep linear, squared error": (deep_linear, squared, 30, (15, 15, 12)),
    "network, one record": (one_record, cross_entropy, 1, (15, 8)),
}


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("corrected", [False, True])
def test_it_is_the_blocks_of_the_matrix_where_theory_says_so(name, corrected):
    torch.manual_seed(0)
    make, loss, n, sizes = EXACT[name]
    model, x = make(), torch.randn(n, 4)
    y = torch.randn(n, 2) if loss is squared else torch.randint(0, 2, (n,))
    expected = block_diagonal(curvature.ggn(model, loss, x, y), sizes)
    found = dense(decomposed(model, loss, x, y, corrected))
    np.testing.assert_allclose(found, expected, atol=1e-12)


class Odd(nn.Module):
    """A weight read twice, one read elsewhere too, a norm and a layer by groups."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(2, 4, 3, padding=1, stride=2), nn.BatchNorm2d(4), nn.ReLU(inplace=True)
        )
        self.apart = nn.Conv2d(4, 4, 2, groups=2)
        self.twice, self.tied = nn.Linear(4, 4), nn.Linear(4, 4)
        self.head = nn.Linear(4, 3)

    def forward(self, x):
        x = self.body(x)
        x = self.apart(x).mean((2, 3))
        x = self.twice(torch.tanh(self.twice(x)))
        return self.head(self.tied(x) + x @ self.tied.weight)


@pytest.fixture
def odd():
    torch.manual_seed(1)
    return Odd().eval(), cross_entropy, torch.randn(12, 2, 6, 6), torch.randint(0, 3, (12,))


def test_what_is_no_plain_layer_has_a_dense_block_or_its_diagonal(odd, monkeypatch):
    model, loss, x, y = odd
    matrix = curvature.ggn(model, loss, x, y)
    found = decomposed(model, loss, x, y, True)
    shared = [set(block.names) for block in found.blocks if block.left is not None]
    assert shared == [
        {"body.0.weight", "body.0.bias"},
        {"twice.weight", "twice.bias"},
        {"head.weight", "head.bias"},
    ]
    at = dict(zip(found.sizes, np.cumsum([0, *found.sizes.values()]), strict=False))
    rest = [block.names[0] for block in found.blocks[3:]]
    assert {"body.1.weight", "apart.weight", "tied.weight", "tied.bias"} <= set(rest)
    ours = dense(found)
    for name in rest:
        own = slice(at[name], at[name] + found.sizes[name])
        np.testing.assert_allclose(ours[own, own], matrix[own, own], atol=1e-12)
    monkeypatch.setattr(room, "DENSE", 0)
    alone = dense(decomposed(model, loss, x, y, True))
    for name in rest:
        own = slice(at[name], at[name] + found.sizes[name])
        expected = np.diag(np.diag(matrix[own, own]))
        np.testing.assert_allclose(alone[own, own], expected, atol=1e-12)
    # The whole has the same trace: along eigenvectors EK-FAC has the exact squares.
    assert np.trace(ours) == pytest.approx(np.trace(matrix), rel=1e-10)
    assert np.trace(alone) == pytest.approx(np.trace(matrix), rel=1e-10)


def test_blocks_of_records_do_not_show(odd, monkeypatch):
    whole = [dense(decomposed(*odd, corrected)) for corrected in (False, True)]
    monkeypatch.setattr(room, "READ_NUMBERS", 1)
    for corrected, expected in enumerate(whole):
        np.testing.assert_allclose(dense(decomposed(*odd, bool(corrected))), expected, atol=1e-12)


def test_some_parameters_have_the_blocks_of_the_whole(odd):
    whole = {block.names: block.values for block in decomposed(*odd, False).blocks}
    some = decomposed(*odd, False, parameters=["head", "body.1"])
    assert list(some.sizes) == ["body.1.weight", "body.1.bias", "head.weight", "head.bias"]
    for block in some.blocks:
        np.testing.assert_allclose(block.values, whole[block.names], atol=1e-12)
    with pytest.raises(InputError, match="other parameters"):
        some.check(objective(*odd, matrix="ggn"))


def convolutional(inplace):
    return nn.Sequential(
        nn.Conv2d(1, 3, 3, padding=1, stride=2),
        nn.ReLU(inplace),
        nn.Conv2d(3, 4, 3, padding="same", bias=False),
        nn.Tanh(),
        nn.Flatten(),
        nn.Linear(36, 5),
        nn.ReLU(inplace),
        nn.Linear(5, 4),
    ).double()


@pytest.mark.parametrize("inplace", [False, True])
@pytest.mark.parametrize("corrected", [False, True])
def test_curvlinops_has_the_same_factors(corrected, inplace):
    curvlinops = pytest.importorskip("curvlinops")
    torch.manual_seed(2)
    model, x = convolutional(False), torch.randn(20, 1, 6, 6, dtype=torch.float64)
    y = torch.randint(0, 4, (20,))
    kind = curvlinops.EKFACLinearOperator if corrected else curvlinops.KFACLinearOperator
    given = model, nn.CrossEntropyLoss(), list(model.parameters()), [(x, y)]
    how = {"fisher_type": "type-2", "kfac_approx": "expand", "separate_weight_and_bias": False}
    columns = torch.eye(sum(p.numel() for p in model.parameters()), dtype=torch.float64)
    expected = (kind(*given, **how) @ columns).detach().numpy()
    ours = convolutional(inplace)
    ours.load_state_dict(model.state_dict())
    np.testing.assert_allclose(
        dense(decomposed(ours, cross_entropy, x, y, corrected)), expected, atol=1e-12
    )


PLACES = {
    "one axis": (lambda: nn.Conv1d(2, 3, 3, padding=1, dilation=2), (2, 9)),
    "reflected, other strides": (
        lambda: nn.Conv2d(2, 3, (3, 2), padding=(1, 0), stride=(2, 1), padding_mode="reflect"),
        (2, 7, 5),
    ),
    "same, an even kernel": (lambda: nn.Conv1d(2, 3, 4, padding="same", dilation=2), (2, 9)),
    "same, one more on the right": (lambda: nn.Conv2d(2, 3, (4, 2), padding="same"), (2, 6, 5)),
    "no padding by name": (lambda: nn.Conv2d(2, 3, 2, padding="valid"), (2, 4, 4)),
    "words": (lambda: nn.Linear(4, 3), (5, 4)),
}


@pytest.mark.filterwarnings("ignore:Using padding='same'")
@pytest.mark.parametrize("name", PLACES)
def test_every_layer_reads_at_its_places(name):
    """With one record and the squared error of all places, EK-FAC's trace is the matrix's."""
    torch.manual_seed(3)
    make, shape = PLACES[name]
    model, x = make(), torch.randn(4, *shape)
    y = torch.randn_like(model(x))
    found = decomposed(model, squared, x, y.detach(), False)
    assert [block.left is not None for block in found.blocks] == [True]
    # The outputs' curvature is the identity at each place, so the factors are the whole.
    np.testing.assert_allclose(
        dense(found), curvature.ggn(model, squared, x, y.detach()), atol=1e-10
    )
