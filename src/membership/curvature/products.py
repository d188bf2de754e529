"""Products of the Hessian, or Gauss-Newton matrix, with many vectors at once, without the matrix.

A network of linear layers with elementwise activations is differentiated here by hand, forward and
back, so that all vectors share one forward pass and each step is one large matrix product. Any
other model goes by automatic differentiation, vectorised over the vectors.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn
from torch.func import grad, jvp, vmap

from membership.curvature.gauss_newton import curved_answers, require_convex
from membership.curvature.hessians import (
    curvature_products,
    require_finite,
    require_second_derivatives,
)
from membership.curvature.layered import (
    LinearChain,
    by_forward_mode,
    forward_mode,
    linear_chain,
)
from membership.curvature.objective import Objective

Product = Callable[[torch.Tensor], torch.Tensor]
ELEMENTWISE = (
    nn.ReLU,
    nn.LeakyReLU,
    nn.ELU,
    nn.GELU,
    nn.SiLU,
    nn.Softplus,
    nn.Sigmoid,
    nn.Tanh,
    nn.Identity,
    nn.Dropout,
    nn.Flatten,
)
# Vectors at a time, and numbers that one step holds for them and a block of records (8 MB): small
# enough for the caches, large enough for the matrix products.
BLOCK_VECTORS = 32
BLOCK_NUMBERS = 1 << 20


@dataclass(frozen=True)
class _Layer:
    """A linear layer at the parameters where it is differentiated.

    `read` (records, inputs) and `delta` (records, outputs), the loss's derivative by the layer's
    result. `slope` and `bend` (records, outputs) are those of the activation after it; the bend is
    times the loss's derivative by the activation. The last layer has neither, and none has a bend
    in the Gauss-Newton matrix, in which the network is linear.
    """

    weight: torch.Tensor
    has_bias: bool
    read: torch.Tensor
    delta: torch.Tensor | None
    slope: torch.Tensor | None = None
    bend: torch.Tensor | None = None


def curvature_product(goal: Objective, x: torch.Tensor, y: torch.Tensor) -> Product:
    """The function from vectors (count, p) to their products with the mean loss's curvature."""
    if goal.matrix == "ggn":
        require_convex(goal, x, y)
    chain = linear_chain(goal, x[:2])
    if chain is not None:
        sections = _sections(chain)
        between = [part for section in sections[:-1] for part in section]
        if all(type(part) in ELEMENTWISE for part in between):
            product = by_forward_mode(lambda: _finite(_ChainProduct(goal, chain, x, y), goal, x, y))
            if product is not None:
                return product
    if goal.matrix == "hessian":
        require_second_derivatives(goal, x[:2], y[:2])
    return _finite(lambda vectors: curvature_products(goal, x, y, vectors), goal, x, y)


def _finite(product: Product, goal: Objective, x: torch.Tensor, y: torch.Tensor) -> Product:
    """A product that gives finite numbers, or an InputError that names the records."""
    every = torch.ones(1, goal.size, dtype=goal.vector().dtype, device=goal.device)
    require_finite(goal, x, y, product(every))
    return product


def _sections(chain: LinearChain) -> list[nn.Sequential]:
    """What stands after each linear layer."""
    sections: list[list[nn.Module]] = []
    for part in chain.modules:
        if isinstance(part, nn.Linear):
            sections.append([])
        elif sections:
            sections[-1].append(part)
    return [nn.Sequential(*section) for section in sections]


class _ChainProduct:
    """Products for a chain of linear layers with elementwise activations between them."""

    def __init__(self, goal: Objective, chain: LinearChain, x: torch.Tensor, y: torch.Tensor):
        forward_mode()
        self.goal, self.records, self.target = goal, len(x), y
        *between, self.tail = _sections(chain)
        with torch.no_grad():
            read, _ = chain.inputs_of_linear(x)
            linear = chain.linear
            result = [layer(value) for layer, value in zip(linear, read, strict=True)]
            self.output = result[-1]
            whole = goal.matrix == "hessian"
            delta = grad(self._losses)(self.output, y) if whole else None
            layers = [_Layer(linear[-1].weight, linear[-1].bias is not None, read[-1], delta)]
            for k in reversed(range(len(between))):
                slope, bend = _slope_and_bend(between[k], result[k])
                given = linear[k].weight, linear[k].bias is not None, read[k]
                if delta is None:
                    layers.append(_Layer(*given, None, slope))
                    continue
                above = delta @ linear[k + 1].weight
                delta = slope * above
                layers.append(_Layer(*given, delta, slope, bend * above))
        self.layers = layers[::-1]

    def _losses(self, output: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return self._losses_of(y)(self.tail(output))

    def _losses_of(self, y: torch.Tensor) -> Callable[[torch.Tensor], torch.Tensor]:
        return lambda answer: self.goal.loss(answer, y).sum()

    @torch.no_grad()
    def __call__(self, vectors: torch.Tensor) -> torch.Tensor:
        return torch.cat([self._products(some) for some in vectors.split(BLOCK_VECTORS)])

    def _products(self, vectors: torch.Tensor) -> torch.Tensor:
        count = len(vectors)
        steps = [
            _Step(layer, weight, bias)
            for layer, (weight, bias) in zip(self.layers, self._split(vectors), strict=True)
        ]
        widest = max(max(layer.weight.shape) for layer in self.layers[1:] or self.layers)
        size = max(16, BLOCK_NUMBERS // (count * widest))
        for first in range(0, self.records, size):
            self._add(slice(first, first + size), steps)
        parts = [part for step in steps for part in step.result()]
        return torch.cat(parts, dim=1).div_(self.records)

    def _split(self, vectors: torch.Tensor) -> list[tuple[torch.Tensor, torch.Tensor | None]]:
        """For each layer its weights' directions (count, out, in) and biases' (count, out)."""
        parts, at = [], 0
        for layer in self.layers:
            n_out, n_in = layer.weight.shape
            weight = vectors[:, at : at + n_out * n_in].reshape(-1, n_out, n_in)
            at += n_out * n_in
            bias = vectors[:, at : at + n_out] if layer.has_bias else None
            at += n_out if layer.has_bias else 0
            parts.append((weight, bias))
        return parts

    def _add(self, rows: slice, steps: list["_Step"]) -> None:
        """Add a block of records, forward and back through the layers."""
        moved_read: torch.Tensor | None = None
        for step in steps:
            moved_read = step.forward(rows, moved_read)
        y, output = self.target[rows], self.output[rows]

        def curved(tangent: torch.Tensor) -> torch.Tensor:
            if self.goal.matrix == "ggn":
                return curved_answers(self.tail, self._losses_of(y), output, tangent)
            return jvp(lambda z: grad(self._losses)(z, y), (output,), (tangent,))[1]

        moved = vmap(curved, 1, 1)(steps[-1].moved)
        for step, below in zip(reversed(steps[1:]), reversed(steps[:-1]), strict=True):
            # Only the first layer gives nothing back; only the last has no activation behind it.
            # pyrefly: ignore[bad-argument-type]
            moved = below.through_activation(rows, step.back(rows, moved))
        steps[0].back(rows, moved)


class _Step:
    """One layer in one product: how what it reads and gives moves with each direction.

    Arrays are (records, count, width), and the sums over records are kept in the two layouts in
    which they are matrix products.
    """

    def __init__(self, layer: _Layer, weight: torch.Tensor, bias: torch.Tensor | None):
        self.layer, self.bias = layer, bias
        self.count, self.n_out, self.n_in = weight.shape
        self.weight = weight.reshape(self.count * self.n_out, self.n_in)
        self.turned = weight.transpose(0, 1).reshape(self.n_out, self.count * self.n_in)
        self.by_delta = torch.zeros_like(self.weight)
        self.by_read = torch.zeros_like(self.turned)
        self.to_bias = weight.new_zeros(self.count, self.n_out)

    def forward(self, rows: slice, moved_read: torch.Tensor | None) -> torch.Tensor | None:
        """From how the input moves (None: not at all) to how the next layer's input does."""
        layer = self.layer
        read = layer.read[rows]
        self.moved = (read @ self.weight.T).view(len(read), self.count, self.n_out)
        if self.bias is not None:
            self.moved += self.bias
        self.moved_read = moved_read
        if moved_read is not None:
            self.moved.view(-1, self.n_out).addmm_(moved_read.view(-1, self.n_in), layer.weight.T)
        return None if layer.slope is None else self.moved * layer.slope[rows, None]

    def back(self, rows: slice, moved_delta: torch.Tensor) -> torch.Tensor | None:
        """From how the loss's derivative by the result moves to how that by the input does."""
        layer = self.layer
        size = len(moved_delta)
        flat = moved_delta.reshape(size, self.count * self.n_out)
        self.by_delta.addmm_(flat.T, layer.read[rows])
        self.to_bias += moved_delta.sum(0)
        if self.moved_read is None:
            return None
        if layer.delta is None:
            return (flat.reshape(-1, self.n_out) @ layer.weight).view(size, self.count, self.n_in)
        delta = layer.delta[rows]
        self.by_read.addmm_(delta.T, self.moved_read.view(size, self.count * self.n_in))
        above = delta @ self.turned
        above.view(-1, self.n_in).addmm_(flat.reshape(-1, self.n_out), layer.weight)
        return above.view(size, self.count, self.n_in)

    def through_activation(self, rows: slice, above: torch.Tensor) -> torch.Tensor:
        """From the derivative by the activation to that by what it reads."""
        slope, bend = self.layer.slope, self.layer.bend
        if slope is None:
            raise TypeError("the last layer has no activation behind it")
        if bend is None:
            return above.mul_(slope[rows, None])
        return above.mul_(slope[rows, None]).addcmul_(bend[rows, None], self.moved)

    def result(self) -> list[torch.Tensor]:
        """The layer's part of the products, weights and biases, (count, numbers) each."""
        by_delta = self.by_delta.view(self.count, self.n_out, self.n_in)
        by_read = self.by_read.view(self.n_out, self.count, self.n_in).transpose(0, 1)
        weight = (by_delta + by_read).flatten(1)
        return [weight, self.to_bias] if self.layer.has_bias else [weight]


def _slope_and_bend(activation: nn.Module, z: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """First and second derivative of an elementwise activation at z."""

    def slope(z):
        return grad(lambda z: activation(z).sum())(z)

    return slope(z), grad(lambda z: slope(z).sum())(z)
