"""Modules as users have them, by what is particular about each."""

import warnings
from types import MethodType

import torch
from torch import nn
from torch.autograd.function import once_differentiable
from torch.nn.utils import parametrizations, parametrize, prune

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


def first(wrapped):
    """A chain whose first layer is wrapped."""
    return lambda: nn.Sequential(wrapped(nn.Linear(6, 5)), nn.Tanh(), nn.Linear(5, 3))


def with_last(forward):
    """A last layer, and what is put to it or made of what it gives."""
    return lambda: Of(forward, last=nn.Linear(6, 3))


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
    """A part that the loss does not depend on: nothing to be found there but zeros."""
    return Of(lambda m, x: m.last(x), last=nn.Linear(6, 3), spare=nn.Linear(2, 7))


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


def padded():
    """Padding whose row has come from elsewhere, and is no zero."""
    words = nn.Embedding.from_pretrained(torch.randn(7, 2), freeze=False, padding_idx=0)
    return nn.Sequential(words, nn.Flatten(), nn.Linear(8, 3))


def put_back(take_out):
    """A weight that was taken out and put back comes after the bias in the model's order."""

    def make():
        model = chain()
        take_out(model[0])
        assert [name for name, _ in model[0].named_parameters()] == ["bias", "weight"]
        return model

    return make


def unpruned(layer):
    prune.l1_unstructured(layer, "weight", amount=0.4)
    prune.remove(layer, "weight")


def unnormed(layer):
    parametrizations.weight_norm(layer)
    parametrize.remove_parametrizations(layer, "weight")


class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = chain()
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

    def forward(self, x):
        self.calls += 1
        return self.net(x)


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
    "weight norm": first(parametrizations.weight_norm),
    "weight norm, old": first(nn.utils.weight_norm),
    "spectral norm": lambda: first(parametrizations.spectral_norm)().eval(),
    "spectral norm, old": lambda: first(nn.utils.spectral_norm)().eval(),
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
    "padded tokens": padded,
    "mask made permanent": put_back(unpruned),
    "weight norm taken off": put_back(unnormed),
    "a count of calls": Counting,
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
    tokens = ("tokens", "sparse tokens", "tied embeddings", "padded tokens")
    return TOKENS if name in tokens else X
