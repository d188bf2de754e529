"""A backward pass that is no derivative is told by differences; an honest one never is."""

import numpy as np
import pytest
import torch
from torch import nn

from membership import attacks, curvature, models
from membership.curvature.differences import slopes_apart
from membership.errors import InputError
from tests.curvature.odd_modules import TOKENS, Of, X, Y, cross_entropy

RECIPE = {"learning_rate": 0.1, "momentum": 0.9, "weight_decay": 5e-4, "damping": 2.0}
NEAR = RECIPE | {"damping": 5.0}
CALLS = {
    "gradients": lambda model, x, y: curvature.per_record_gradients(model, cross_entropy, x, y),
    "hessian": lambda model, x, y: curvature.hessian(model, cross_entropy, x, y),
    "iha": lambda model, x, y: attacks.iha(
        model, cross_entropy, (x, y), (x[1:], y[1:]), [True] * (len(y) - 1), **RECIPE
    ),
    "iha by CG": lambda model, x, y: attacks.iha(
        model, cross_entropy, (x, y), (x[1:], y[1:]), [True] * (len(y) - 1), **RECIPE, solver="cg"
    ),
    "sif": lambda model, x, y: attacks.sif(model, cross_entropy, (x, y), (x, y), damping=2.0),
}


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, gradient):
        return -gradient


class StraightThrough(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return torch.round(x * 4) / 4

    @staticmethod
    def backward(ctx, gradient):
        return gradient


class TwiceWrong(torch.autograd.Function):
    """The gradient of x squared is right, that of the gradient is not."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return 2 * x.detach() * gradient


def net(between):
    torch.manual_seed(2)
    return Of(
        lambda m, x: m.last(between(torch.tanh(m.first(x)))),
        first=nn.Linear(6, 5),
        last=nn.Linear(5, 3),
    )


def hooked():
    model = net(lambda x: x)
    model.last.register_full_backward_hook(
        lambda part, given, out: tuple(None if one is None else 3 * one for one in given)
    )
    return model


WRONG = {
    "a backward hook": hooked,
    "reversed gradients": lambda: net(Reverse.apply),
    "straight through": lambda: net(StraightThrough.apply),
    "a detached part": lambda: net(lambda x: x * x.detach()),
}


@pytest.mark.parametrize("make", WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_gradient_that_is_no_derivative_is_refused(make, call):
    with pytest.raises(InputError, match="so its gradient is no derivative"):
        call(make(), X, Y)


def test_a_second_derivative_that_is_none_is_refused_and_the_first_is_taken():
    model = net(TwiceWrong.apply)
    assert np.isfinite(CALLS["gradients"](model, X, Y)).all()
    with pytest.raises(InputError, match="so there is no Hessian"):
        CALLS["hessian"](model, X, Y)


def test_tokens_scaled_by_frequency_have_the_gradient_of_the_loss():
    def tokens(**options):
        torch.manual_seed(3)
        return Of(
            lambda m, x: m.last(torch.tanh(m.embedding(x)).mean(1)),
            embedding=nn.Embedding(9, 4, **options),
            last=nn.Linear(4, 3),
        )

    for call in ("gradients", "hessian"):
        found, plain = (
            CALLS[call](tokens(scale_grad_by_freq=scaled), TOKENS % 9, Y)
            for scaled in (True, False)
        )
        np.testing.assert_array_equal(found, plain)


def test_rows_that_a_norm_limits_are_taken_as_it_leaves_them():
    def tokens(max_norm):
        torch.manual_seed(3)
        return nn.Sequential(nn.Embedding(9, 4, max_norm=max_norm), nn.Flatten(), nn.Linear(16, 3))

    limited, free = tokens(1.0), tokens(None)
    before = limited[0].weight.detach().clone()
    with torch.no_grad():
        size = free[0].weight.norm(dim=1, keepdim=True)
        # torch adds this to the norm.
        free[0].weight.copy_(torch.where(size > 1, free[0].weight / (size + 1e-7), free[0].weight))
    assert not torch.equal(free[0].weight, before)
    for call in ("gradients", "hessian"):
        found, wanted = (CALLS[call](model, TOKENS % 9, Y) for model in (limited, free))
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-7)
    assert torch.equal(limited[0].weight, before)


HONEST = {
    "tanh": lambda: models.mlp(6, (8,), 3),
    "ReLU without biases, at its kinks": lambda: nn.Sequential(
        nn.Linear(6, 40, bias=False), nn.ReLU(), nn.Linear(40, 3)
    ),
    "many kinks": lambda: nn.Sequential(
        nn.Linear(6, 60), nn.ReLU(), nn.Linear(60, 30), nn.LeakyReLU(0.01), nn.Linear(30, 3)
    ),
    "max pooling": lambda: nn.Sequential(nn.Linear(6, 24), nn.MaxPool1d(4), nn.Linear(6, 3)),
    "large weights": lambda: scaled(nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 3)), 50),
    "tiny weights": lambda: scaled(
        nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 3)), 1e-6
    ),
    "zero weights": lambda: scaled(nn.Linear(6, 3), 0.0),
    "hard limits": lambda: nn.Sequential(nn.Linear(6, 9), nn.Hardtanh(), nn.Linear(9, 3)),
    "half precision": lambda: nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 3)).half(),
}


def scaled(model, factor):
    with torch.no_grad():
        for value in model.parameters():
            value.mul_(factor)
    return model


@pytest.mark.parametrize("make", HONEST.values(), ids=HONEST)
@pytest.mark.parametrize("records", [X, 1e3 * X, 1e-3 * X, 0 * X])
def test_an_honest_model_is_taken(make, records):
    torch.manual_seed(11)
    model = make()
    assert np.isfinite(CALLS["gradients"](model, records, Y)).all()
    assert np.isfinite(CALLS["hessian"](model, records, Y)).all()


@pytest.mark.parametrize("call", [*CALLS][1:])
def test_a_record_without_a_second_derivative_is_named(call):
    torch.manual_seed(1)
    model = Of(
        lambda m, x: m.last(nn.functional.normalize(m.first(x), dim=1)),
        first=nn.Linear(6, 5, bias=False),
        last=nn.Linear(5, 3),
    )
    blank = X.clone()
    blank[0] = 0
    assert np.isfinite(CALLS["gradients"](model, blank, Y)).all()
    with pytest.raises(InputError, match="the Hessian is not finite at record 0"):
        CALLS[call](model, blank, Y)


def test_a_loss_that_is_detached_in_part_is_refused():
    def focal(output, y):
        loss = cross_entropy(output, y)
        return (1 - torch.exp(-loss)).detach() ** 2 * loss

    with pytest.raises(InputError, match="its gradient is no derivative"):
        curvature.per_record_gradients(models.mlp(6, (5,), 3), focal, X, Y)


def probe(m, x):
    with torch.no_grad():
        features = torch.tanh(m.first(x))
    return m.last(features)


def test_a_frozen_body_is_the_way_of_a_linear_probe():
    torch.manual_seed(1)
    model = Of(probe, first=nn.Linear(6, 5), last=nn.Linear(5, 3))
    with pytest.raises(InputError, match=r"its gradient is no derivative; .* requires_grad_"):
        CALLS["gradients"](model, X, Y)
    model.first.requires_grad_(False)
    features = torch.tanh(model.first(X)).detach()
    for curve in (curvature.per_record_gradients, curvature.hessian):
        expected = curve(model.last, cross_entropy, features, Y)
        np.testing.assert_allclose(curve(model, cross_entropy, X, Y), expected, atol=1e-6)


@pytest.mark.parametrize(
    ("function", "alike"),
    [
        (lambda v: v["w"].square(), True),
        (lambda v: v["w"].relu(), True),
        (lambda v: v["w"].float().square().double(), True),
        (lambda v: v["w"].bfloat16().square().double(), True),
        (lambda v: 1e8 + v["w"].square(), True),
        (lambda v: 1e-9 * v["w"].square(), True),
        (lambda v: nn.functional.softplus(40 - v["w"].abs()) - (40 - v["w"].abs()), True),
        (lambda v: v["w"].sort().values * torch.arange(50), True),
        (lambda v: v["w"].square().detach() + v["w"], False),
        (lambda v: v["w"] * v["w"].detach(), False),
        (lambda v: StraightThrough.apply(v["w"]), False),
        (lambda v: 1e8 + Reverse.apply(v["w"]), False),
        (lambda v: 1e-3 * Reverse.apply(v["w"]) + v["w"], False),
    ],
)
@pytest.mark.parametrize("scale", [0.0, 1e-3, 1.0, 1e3])
def test_slopes_are_compared_at_the_precision_of_the_function(function, alike, scale):
    w = scale * torch.randn(50, generator=torch.Generator().manual_seed(3)).double()
    if scale != 1.0 and not alike:
        return
    assert (slopes_apart(function, {"w": w}) is None) == alike


def distance(m, x):
    return m.last(torch.linalg.vector_norm(m.first(x), dim=1, keepdim=True))


BLANK = torch.cat([X[:3], torch.zeros(1, 6), X[4:8], torch.zeros(1, 6), X[9:]])
NO_SECOND = {
    "normalised": lambda: Of(
        lambda m, x: m.last(nn.functional.normalize(m.first(x), dim=1)),
        first=nn.Linear(6, 5, bias=False),
        last=nn.Linear(5, 3),
    ),
    "a norm": lambda: Of(distance, first=nn.Linear(6, 5, bias=False), last=nn.Linear(1, 3)),
    "a root": lambda: Of(
        lambda m, x: m.last(torch.sqrt(m.first(x).square().sum(1, keepdim=True))),
        first=nn.Linear(6, 5, bias=False),
        last=nn.Linear(1, 3),
    ),
}


@pytest.mark.parametrize("name", NO_SECOND)
def test_a_record_without_second_derivatives_is_named(name):
    torch.manual_seed(1)
    model = NO_SECOND[name]()
    given, query = (BLANK, Y), (X + 1, Y)
    for run in (
        lambda: curvature.hessian(model, cross_entropy, *given),
        lambda: curvature.spectrum(model, cross_entropy, *given),
        lambda: attacks.sif(model, cross_entropy, given, query, 5.0),
        lambda: attacks.sif(model, cross_entropy, given, query, 5.0, solver="cg"),
        lambda: attacks.iha(model, cross_entropy, given, query, [False] * 12, **NEAR),
        lambda: attacks.iha(model, cross_entropy, given, query, [False] * 12, **NEAR, solver="cg"),
    ):
        with pytest.raises(InputError, match=r"not finite at record 3 \(the first of 2 such\)"):
            run()
    assert np.isfinite(curvature.hessian(model, cross_entropy, X, Y)).all()
