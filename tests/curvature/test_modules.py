"""Curvature of the model that was given: modules as users have them, against plain autograd."""

import warnings
from types import MethodType

import numpy as np
import pytest
import torch
from torch import nn
from torch.autograd.function import once_differentiable
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.utils import parametrizations, parametrize, prune
from torch.utils.checkpoint import checkpoint

from membership import attacks, curvature
from membership.curvature.layered import linear_chain
from membership.curvature.objective import objective
from membership.errors import InputError

X, Y = torch.randn(12, 6, generator=torch.Generator().manual_seed(0)), torch.arange(12) % 3
TOKENS = torch.arange(48).reshape(12, 4) % 7


def cross_entropy(output, y):
    return nn.functional.cross_entropy(output, y, reduction="none")


def chain(between=nn.Tanh):
    return nn.Sequential(nn.Linear(6, 5), between(), nn.Linear(5, 3))


def changed(change):
    """A chain of linear layers to which something is done."""

    def make():
        model = chain()
        change(model)
        return model

    return make


class Of(nn.Module):
    """Parts by name, and how they are put together."""

    def __init__(self, forward, **parts):
        super().__init__()
        self.how = forward
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, x):
        return self.how(self, x)


class Doubled(nn.Sequential):
    def forward(self, x):
        return 2 * super().forward(x)


class Symmetric(nn.Module):
    def forward(self, weight):
        return weight.triu() + weight.triu(1).T


class Tied(nn.Module):
    """A leaf without parameters of its own that reads another's."""

    def __init__(self, of):
        super().__init__()
        self.of = (of,)

    def forward(self, x):
        return nn.functional.linear(x, self.of[0].weight.T)


def doubled_output(module, given, output):
    return 2 * output


def doubled_input(module, given):
    return (2 * given[0],)


def inner(model):
    model[1].register_forward_hook(doubled_output)


def own_forward(model):
    def forward(self, x):
        return 3 * nn.functional.linear(x, self.weight) + self.bias

    model[0].forward = MethodType(forward, model[0])


def shared():
    once = nn.Linear(6, 6)
    return nn.Sequential(once, nn.Tanh(), once, nn.Tanh(), nn.Linear(6, 3))


def tied():
    linear = nn.Linear(6, 5)
    return nn.Sequential(linear, nn.Tanh(), Tied(linear), nn.Linear(6, 3))


def recurrent(cell):
    def make():
        return Of(
            lambda m, x: m.last(m.cell(x.view(-1, 3, 2))[0][:, -1]),
            cell=cell(2, 3, batch_first=True),
            last=nn.Linear(3, 3),
        )

    return make


def attention():
    def forward(m, x):
        x = x.view(-1, 3, 2)
        return m.last(m.attention(x, x, x)[0].flatten(1))

    return Of(
        forward, attention=nn.MultiheadAttention(2, 1, batch_first=True), last=nn.Linear(6, 3)
    )


def transformer():
    layer = nn.TransformerEncoderLayer(2, 1, 3, dropout=0.1, batch_first=True).eval()
    return Of(lambda m, x: m.last(m.layer(x.view(-1, 3, 2)).flatten(1)), layer=layer, last=chain())


def block():
    """A residual block as torchvision writes it, in evaluation mode."""

    def forward(m, x):
        x = m.relu(m.norm(m.first(x.view(-1, 1, 2, 3))))
        out = m.other(m.second(x))
        out += x
        return m.last(m.relu(out).flatten(1))

    parts = {
        "first": nn.Conv2d(1, 2, 3, padding=1),
        "norm": nn.BatchNorm2d(2),
        "second": nn.Conv2d(2, 2, 3, padding=1),
        "other": nn.BatchNorm2d(2),
        "relu": nn.ReLU(inplace=True),
        "last": nn.Linear(12, 3),
    }
    return Of(forward, **parts).eval()


class Square(torch.autograd.Function):
    """A function of its own, twice differentiable."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.square()

    @staticmethod
    def backward(ctx, slope):
        return 2 * slope * ctx.saved_tensors[0]


class Once(Square):
    """One whose backward is no function of torch's, as in a kernel that was written by hand."""

    backward = staticmethod(once_differentiable(Square.backward))


def own_function(function):
    return lambda: Of(
        lambda m, x: m.last(function.apply(m.first(x))),
        first=nn.Linear(6, 5),
        last=nn.Linear(5, 3),
    )


def unused():
    """Parts that the loss does not depend on: nothing to be found there but zeros."""
    return Of(
        lambda m, x: m.last(m.cut(x).detach()),
        cut=nn.Linear(6, 6),
        last=nn.Linear(6, 3),
        spare=nn.Linear(2, 7),
    )


def closing(model):
    model.register_forward_hook(lambda part, given, output: output + model[2].bias)


def closing_forward(model):
    model.forward = lambda x: nn.functional.linear(x[:, :5], model[2].weight)


def aliased():
    """What an activation in place changes is read once more: without it the model is another."""
    return Of(lambda m, x: m.last(m.relu(x) + x), relu=nn.ReLU(inplace=True), last=nn.Linear(6, 3))


def embedded():
    return nn.Sequential(nn.Embedding(7, 2), nn.Flatten(), nn.Linear(8, 3))


def language():
    """Tied embeddings: the last layer's weights are the first's."""
    head = nn.Linear(2, 7, bias=False)
    model = Of(
        lambda m, x: m.head(torch.tanh(m.embedding(x).mean(1))),
        embedding=nn.Embedding(7, 2),
        head=head,
    )
    head.weight = model.embedding.weight
    return model


def constants():
    model = chain()
    model.scale = torch.tensor([1.0, 2.0, 0.5, 1.0, 1.0, 3.0])  # neither parameter nor buffer
    return Of(lambda m, x: m.net(x @ torch.diag(m.net.scale)), net=model)


MODULES = {
    "plain": chain,
    "hook on the container": changed(lambda m: m.register_forward_hook(doubled_output)),
    "pre-hook on the container": changed(lambda m: m.register_forward_pre_hook(doubled_input)),
    "hook on a layer": changed(lambda m: m[2].register_forward_hook(doubled_output)),
    "pre-hook on a layer": changed(lambda m: m[2].register_forward_pre_hook(doubled_input)),
    "hook on an activation": changed(inner),
    "a forward of its own": changed(own_forward),
    "subclass of Sequential": lambda: Doubled(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 3)),
    "subclass inside": lambda: nn.Sequential(Doubled(nn.Linear(6, 5)), nn.Tanh(), nn.Linear(5, 3)),
    "leaf that reads another's weights": tied,
    "used twice": shared,
    "in place": lambda: chain(lambda: nn.ReLU(inplace=True)),
    "in place, first": lambda: nn.Sequential(nn.ReLU(inplace=True), chain()),
    "in place, read again": aliased,
    "weight norm": lambda: nn.Sequential(
        parametrizations.weight_norm(nn.Linear(6, 5)), nn.Tanh(), nn.Linear(5, 3)
    ),
    "weight norm, old": lambda: nn.Sequential(
        nn.utils.weight_norm(nn.Linear(6, 5)), nn.Tanh(), nn.Linear(5, 3)
    ),
    "spectral norm": lambda: nn.Sequential(
        parametrizations.spectral_norm(nn.Linear(6, 5)), nn.Tanh(), nn.Linear(5, 3)
    ).eval(),
    "spectral norm, old": lambda: nn.Sequential(
        nn.utils.spectral_norm(nn.Linear(6, 5)), nn.Tanh(), nn.Linear(5, 3)
    ).eval(),
    "parametrised": changed(lambda m: m.insert(0, parametrised())),
    "pruned": changed(lambda m: prune.l1_unstructured(m[0], "weight", amount=0.4)),
    "LSTM": recurrent(nn.LSTM),
    "GRU": recurrent(nn.GRU),
    "RNN": recurrent(nn.RNN),
    "attention": attention,
    "residual block": block,
    "group norm": lambda: nn.Sequential(nn.Linear(6, 4), nn.GroupNorm(2, 4), nn.Linear(4, 3)),
    "constants": constants,
    "transformer": transformer,
    "function of its own": own_function(Square),
    "unused": unused,
    "tokens": embedded,
    "sparse tokens": lambda: nn.Sequential(
        nn.Embedding(7, 2, sparse=True), nn.Flatten(), nn.Linear(8, 3)
    ),
    "tied embeddings": language,
}


def parametrised():
    linear = nn.Linear(6, 6)
    parametrize.register_parametrization(linear, "weight", Symmetric())
    return linear


def made(name):
    torch.manual_seed(1)
    with warnings.catch_warnings():
        # torch says that the old norms are old.
        warnings.simplefilter("ignore", FutureWarning)
        return MODULES[name]()


def records(name):
    return TOKENS if name in ("tokens", "sparse tokens", "tied embeddings") else X


def by_autograd(name):
    """Gradients record by record and the Hessian entry by entry, by torch alone, in float64."""
    model, x = made(name).double(), records(name)
    if name == "constants":
        model.net.scale = model.net.scale.double()
    x = x.double() if x.is_floating_point() else x
    parameters = list(model.parameters())

    def flat(value, **how):
        parts = torch.autograd.grad(value, parameters, materialize_grads=True, **how)
        return torch.cat([part.reshape(-1) for part in parts])

    if name == "sparse tokens":
        model[0].sparse = False  # torch has no second derivatives of the sparse layout
    # Nor has it any of the fast ways of attention.
    with sdpa_kernel(SDPBackend.MATH):
        rows = [
            flat(cross_entropy(model(a[None].clone()), b[None])[0])
            for a, b in zip(x, Y, strict=True)
        ]
        gradient = flat(cross_entropy(model(x.clone()), Y).mean(), create_graph=True)
        hessian = torch.stack([flat(one, retain_graph=True) for one in gradient])
    return torch.stack(rows).numpy(), hessian.numpy()


@pytest.mark.parametrize("name", MODULES)
def test_gradients_and_hessian_are_those_of_the_model_that_was_given(name):
    gradients, hessian = by_autograd(name)
    model, x = made(name), records(name)
    before = x.clone()
    found = curvature.per_record_gradients(model, cross_entropy, x, Y)
    np.testing.assert_allclose(found, gradients, rtol=1e-9, atol=1e-12)
    found = curvature.hessian(model, cross_entropy, x, Y)
    np.testing.assert_allclose(found, hessian, rtol=1e-9, atol=1e-10)
    assert torch.equal(x, before)


@pytest.mark.parametrize("solver", ["exact", "cg"])
@pytest.mark.parametrize("name", ["pre-hook on the container", "pruned", "in place", "LSTM"])
def test_self_influence_has_gradients_and_hessian_of_one_model(name, solver):
    gradients, hessian = by_autograd(name)
    damping = 0.1 - min(0.0, np.linalg.eigvalsh(hessian)[0])
    expected = -np.einsum(
        "np,np->n",
        gradients,
        np.linalg.solve(hessian + damping * np.eye(len(hessian)), gradients.T).T,
    )
    given = (records(name), Y)
    found = attacks.sif(made(name), cross_entropy, given, given, damping, solver=solver)
    np.testing.assert_allclose(found, expected, rtol=1e-9 if solver == "exact" else 1e-4)


def test_only_torch_s_own_parts_with_nothing_put_on_them_take_the_short_way():
    short = {
        name
        for name in MODULES
        if linear_chain(
            goal := objective(made(name), cross_entropy, records(name), Y),
            goal.records(records(name), Y)[0],
        )
    }
    assert short == {"plain", "in place", "in place, first"}


OTHER = nn.Parameter(torch.ones(3))

REFUSED = {
    "dropout by function": (
        lambda: Of(lambda m, x: m.last(nn.functional.dropout(x, 0.5)), last=nn.Linear(6, 3)),
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
        lambda: Of(lambda m, x: m.last(x - x.mean(0)), last=nn.Linear(6, 3)),
        "when another record lies beside it",
    ),
    "weights of another": (
        lambda: Of(lambda m, x: m.last(x) * OTHER, last=nn.Linear(6, 3)),
        "reads trainable tensors",
    ),
    "a tuple": (
        lambda: Of(lambda m, x: (m.last(x), x), last=nn.Linear(6, 3)),
        "they fail on the first records",
    ),
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
    "a precision of its own": (
        lambda: Of(lambda m, x: m.last(x.float()), last=nn.Linear(6, 3)),
        r"without x\.float\(\)",
    ),
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
        (
            lambda: Of(lambda m, x: -torch.cdist(x, m.last.weight), last=nn.Linear(6, 3, False)),
            X,
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


def test_a_default_precision_of_double_does_no_harm():
    recipe = {"learning_rate": 0.1, "momentum": 0.9, "weight_decay": 5e-4, "damping": 2.0}
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(40, 6)).astype("f4"), rng.integers(0, 3, 40)
    torch.manual_seed(0)
    given = (chain(), cross_entropy, (x, y), (x, y), np.ones(40, bool))
    expected = attacks.iha(*given, **recipe, solver="cg").score
    torch.set_default_dtype(torch.float64)
    try:
        found = attacks.iha(*given, **recipe, solver="cg").score
    finally:
        torch.set_default_dtype(torch.float32)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
