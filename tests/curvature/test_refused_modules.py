"""What is no function of the parameters and one record is refused, and why it is none is said."""

import warnings

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils import parametrizations
from torch.utils.checkpoint import checkpoint

from membership import attacks, curvature
from membership.errors import InputError
from tests.curvature.odd_modules import (
    TOKENS,
    Of,
    Once,
    X,
    Y,
    chain,
    changed,
    cross_entropy,
    language,
    own_function,
    with_last,
)


def closing(model):
    model.register_forward_hook(lambda part, given, output: output + model[2].bias)


def closing_forward(model):
    model.forward = lambda x: nn.functional.linear(x[:, :5], model[2].weight)


class Private(nn.Module):
    """As Opacus wraps a module that it trains."""

    def __init__(self):
        super().__init__()
        self._module = chain()

    def forward(self, x):
        return self._module(x)

    def to_standard_module(self):
        return self._module


def tied_padding():
    model = language()
    model.embedding.padding_idx = 0
    return Of(lambda m, x: m.net(x.long().abs() % 7), net=model)


OTHER = nn.Parameter(torch.ones(3))

REFUSED = {
    "dropout by function": (
        with_last(lambda m, x: m.last(nn.functional.dropout(x, 0.5))),
        "it draws random numbers",
    ),
    "attention that drops": (
        lambda: Of(
            lambda m, x: m.last(m.attention(*3 * (x.view(-1, 3, 2),))[0].flatten(1)),
            attention=nn.MultiheadAttention(2, 1, 0.5, batch_first=True),
            last=nn.Linear(6, 3),
        ),
        "it draws random numbers",
    ),
    "LSTM that drops": (
        lambda: Of(
            lambda m, x: m.last(m.cell(x.view(-1, 3, 2))[0][:, -1]),
            cell=nn.LSTM(2, 3, 2, batch_first=True, dropout=0.5),
            last=nn.Linear(3, 3),
        ),
        "it draws random numbers",
    ),
    "dropout": (
        lambda: nn.Sequential(nn.Linear(6, 3), nn.Dropout()),
        "1 is Dropout in training mode",
    ),
    "batch norm": (
        lambda: nn.Sequential(nn.Linear(6, 3), nn.BatchNorm1d(3)),
        "1 is BatchNorm1d in training mode",
    ),
    "batch norm without statistics": (
        lambda: nn.Sequential(nn.Linear(6, 3), nn.BatchNorm1d(3, track_running_stats=False)).eval(),
        "1 is BatchNorm1d without running statistics",
    ),
    "spectral norm that goes on": (
        lambda: nn.Sequential(parametrizations.spectral_norm(nn.Linear(6, 3))),
        "changes when a record is put to it",
    ),
    "a batch's mean": (
        with_last(lambda m, x: m.last(x - x.mean(0))),
        "when another record lies beside it",
    ),
    "weights of another": (with_last(lambda m, x: m.last(x) * OTHER), "reads trainable tensors"),
    "a tuple": (with_last(lambda m, x: (m.last(x), x)), "it fails on what the model answers"),
    "padding that the head reads": (tied_padding, "no derivative.*padding_idx"),
    "hooks that read parameters": (Private, r"give model\.to_standard_module\(\)"),
    "no shape yet": (lambda: nn.LazyLinear(3), "weight has no shape yet"),
    "complex": (lambda: nn.Linear(6, 3).to(torch.cfloat), "complex"),
    "scripted": (lambda: torch.jit.script(chain()), "give the module that was scripted or traced"),
    "traced inside": (
        lambda: nn.Sequential(torch.jit.trace(nn.Linear(6, 5), X), nn.Linear(5, 3)),
        "0 is TopLevelTracedModule, whose parameters cannot be replaced",
    ),
    "frozen script": (
        lambda: torch.jit.freeze(torch.jit.script(chain().eval())),
        "give the module that was scripted",
    ),
    "data parallel": (lambda: nn.DataParallel(chain()), r"DataParallel, .* give model\.module"),
    "data parallel inside": (
        lambda: nn.Sequential(nn.DataParallel(nn.Linear(6, 3))),
        r"give model\.0\.module",
    ),
    "checkpoint": (
        lambda: Of(
            lambda m, x: m.last(checkpoint(m.first, x, use_reentrant=False)),
            first=nn.Sequential(nn.Linear(6, 5), nn.Tanh()),
            last=nn.Linear(5, 3),
        ),
        "cannot take their derivatives .*without checkpoints",
    ),
    "old checkpoint": (
        lambda: Of(
            lambda m, x: checkpoint(m.last, m.first(x), use_reentrant=True),
            first=nn.Sequential(nn.Linear(6, 5), nn.Tanh()),
            last=nn.Linear(5, 3),
        ),
        "cannot take their derivatives .*without checkpoints",
    ),
    "hook that holds the model": (changed(closing), "does not reach them through self"),
    "the same in float64": (lambda: changed(closing)().double(), "not reach them through self"),
    "forward that holds the model": (changed(closing_forward), "otherwise than through self"),
    "that too in float64": (
        lambda: changed(closing_forward)().double(),
        "does not reach them through self",
    ),
    "a precision of its own": (with_last(lambda m, x: m.last(x.float())), r"without x\.float\(\)"),
}


@pytest.mark.filterwarnings("ignore:None of the inputs have requires_grad")
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_function_of_the_parameters_and_one_record_is_refused(name, no_accelerator):
    make, message = REFUSED[name]
    torch.manual_seed(0)
    with warnings.catch_warnings():
        # To torch, lazy modules are new and scripts are old.
        warnings.simplefilter("ignore")
        model = make()
    for run in (curvature.hessian, curvature.per_record_gradients):
        with pytest.raises(InputError, match=message) as error:
            run(model, cross_entropy, X, Y)
        assert "\n" not in str(error.value)


@pytest.mark.filterwarnings("ignore:There is a performance drop")
@pytest.mark.parametrize(
    ("make", "x", "message"),
    [
        (own_function(Once), X, "once_differentiable, so there is no Hessian"),
        (
            lambda: nn.Sequential(nn.EmbeddingBag(7, 2), nn.Linear(2, 3)),
            TOKENS,
            "cannot take their derivatives .*not implemented",
        ),
    ],
)
def test_a_model_without_second_derivatives_has_gradients_and_no_hessian(make, x, message):
    recipe = {"learning_rate": 0.1, "momentum": 0.9, "weight_decay": 5e-4, "damping": 2.0}
    assert np.isfinite(curvature.per_record_gradients(make(), cross_entropy, x, Y)).all()
    given = (make(), cross_entropy, (x, Y), (x, Y))
    for run in (
        lambda: curvature.hessian(make(), cross_entropy, x, Y),
        lambda: attacks.sif(*given, 2.0, solver="cg"),
        lambda: attacks.iha(*given, [True] * 12, **recipe),
        lambda: attacks.iha(*given, [True] * 12, **recipe, solver="cg"),
    ):
        with pytest.raises(InputError, match=message):
            run()


def test_distances_have_the_hessian_of_their_formula_or_none_that_torch_has():
    """Newer releases have second derivatives of them."""

    def model(distances):
        torch.manual_seed(0)
        last = nn.Linear(6, 3, bias=False).double()
        return Of(lambda m, x: -distances(x, m.last.weight), last=last)

    def by_hand(x, weight):
        return (x[:, None] - weight).square().sum(dim=2).sqrt()

    given = cross_entropy, X.double(), Y
    gradients = curvature.per_record_gradients(model(torch.cdist), *given)
    expected = curvature.per_record_gradients(model(by_hand), *given)
    np.testing.assert_allclose(gradients, expected, rtol=1e-9, atol=1e-12)
    expected = curvature.hessian(model(by_hand), *given)
    try:
        found, told = curvature.hessian(model(torch.cdist), *given), ""
    except InputError as error:
        found, told = expected, str(error)
    assert not told or "cannot take their derivatives" in told
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_a_loss_that_reads_the_model_is_refused():
    model = chain()

    def penalised(output, y):
        return cross_entropy(output, y) + model[0].weight.square().sum()

    with pytest.raises(InputError, match=r"model or loss: .* reads trainable tensors"):
        curvature.hessian(model, penalised, X, Y)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"train": torch.utils.data.DataLoader([])}, "train is a DataLoader; give the pair"),
        ({"query": (X, Y, Y)}, "query is a tuple; give the pair"),
        ({"query": (X, Y + 7)}, "they fail on query: Target 7 is out of bounds"),
        ({"query": (X * torch.nan, Y)}, "not finite"),
        ({"query": (["a"] * 12, Y)}, "x must be an array of real numbers, not of words"),
    ],
)
def test_records_that_will_not_do_are_refused_before_the_work(change, message):
    given = {"train": (X, Y), "query": (X, Y), **change}
    how = {"learning_rate": 0.1, "momentum": 0.9, "weight_decay": 5e-4}
    for run in (
        lambda: attacks.iha(chain(), cross_entropy, *given.values(), [True] * 12, **how),
        lambda: attacks.sif(chain(), cross_entropy, *given.values()),
        lambda: attacks.residual(chain(), cross_entropy, *given.values(), [True] * 12, 0.1),
    ):
        with pytest.raises(InputError, match=message):
            run()
