r"""Kronecker-factored Gauss-Newton matrices: K-FAC, and EK-FAC with its eigenvalues corrected.

A layer :math:`z = W a` has the gradient :math:`\sum_t g_t a_t^\top` of a record, summed over the
places t at which it reads (pixels, words, or one). Its block of the matrix is stood for by
:math:`G \otimes A`, the mean of :math:`a a^\top` over records and places, and that of the sums of
:math:`g g^\top` over places (Martens and Grosse 2015; with weights that are shared, the *expand*
of Eschenhagen et al. 2023). EK-FAC (George et al. 2018) keeps the eigenvectors and puts the mean
square of the gradients along them in the place of the eigenvalues.

Layers that are linear or convolutions have such blocks, bias included. What is left, such as the
scales of a norm, has a dense block a tensor, or its diagonal where that is large.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial

import torch
from torch import nn

from membership import memory, networks
from membership.arrays import FloatArray
from membership.curvature.checks import to_train
from membership.curvature.gauss_newton import roots, rows_of, weighted_answers
from membership.curvature.gradients import gradient_blocks
from membership.curvature.objective import Objective
from membership.errors import InputError
from membership.progress import told

# Up to so many numbers a tensor without a Kronecker block has a dense one.
DENSE = 1024
# Numbers of what the layers read that are held at a time, and of products of a record's places.
READ_NUMBERS = 1 << 24
# How far a layer's places may be from its gradient before it is taken for no such layer.
SAME = 1e-6


@dataclass(frozen=True)
class Block:
    """Parameters that share a block, its eigenvectors in columns, and its eigenvalues.

    `left` (out, out) and `right` (in, in) turn the parameters as one matrix (out, in), each None
    where it turns nothing; `values` (out, in).
    """

    names: tuple[str, ...]
    left: torch.Tensor | None
    right: torch.Tensor | None
    values: torch.Tensor

    def rotate(self, parts: dict[str, torch.Tensor]) -> torch.Tensor:
        """Values (count, numbers) of the parameters, in the eigenbasis (count, out * in)."""
        rows = len(self.values)
        own = torch.cat([parts[n].reshape(len(parts[n]), rows, -1) for n in self.names], dim=2)
        own = turned(own, self.right)
        return (own if self.left is None else self.left.T @ own).flatten(1)


def turned(vectors: torch.Tensor, basis: torch.Tensor | None) -> torch.Tensor:
    """Vectors (..., numbers) in a basis, where there is one."""
    return vectors if basis is None else vectors @ basis


@dataclass(frozen=True)
class Kronecker:
    """The eigenbasis of all blocks; takes the place of a `Spectrum`."""

    blocks: list[Block]
    sizes: dict[str, int]

    @property
    def values(self) -> FloatArray:
        """The eigenvalues, in the order of the basis, which is no ascending one."""
        return torch.cat([block.values.flatten() for block in self.blocks]).cpu().numpy()

    def rotate(self, vectors: torch.Tensor) -> torch.Tensor:
        """Vectors (..., p) in the eigenbasis."""
        rows = vectors.reshape(-1, vectors.shape[-1])
        parts = dict(zip(self.sizes, rows.split(list(self.sizes.values()), 1), strict=True))
        turned = torch.cat([block.rotate(parts) for block in self.blocks], dim=1)
        return turned.reshape(vectors.shape)

    def check(self, goal: Objective) -> None:
        """Raise an InputError where it is not of these parameters."""
        if self.sizes != {name: value.numel() for name, value in goal.parameters.items()}:
            raise InputError("factors: they are of other parameters than those that are asked of")


@dataclass
class _Layer:
    """A layer with a Kronecker block, and what it read and gave in the last pass, call by call."""

    names: tuple[str, ...]
    module: nn.Linear | nn.Conv1d | nn.Conv2d
    read: list[torch.Tensor] = field(default_factory=list)
    given: list[torch.Tensor] = field(default_factory=list)

    @property
    def shape(self) -> tuple[int, int]:
        """Of the block's matrix: outputs, and inputs with one for the bias."""
        weight = self.module.weight
        return len(weight), weight[0].numel() + len(self.names) - 1

    def inputs(self) -> torch.Tensor:
        """What it read at each place, (records, places, inputs)."""
        read = torch.cat(self.read, dim=1)
        return nn.functional.pad(read, (0, 1), value=1.0) if len(self.names) > 1 else read

    def gradients(self, each: list[torch.Tensor], records: int) -> torch.Tensor:
        """Gradients by what it gave, call by call, as (records, places, outputs)."""
        if not isinstance(self.module, nn.Linear):
            each = [part.flatten(2).transpose(1, 2) for part in each]
        return torch.cat([part.reshape(records, -1, self.shape[0]) for part in each], dim=1)

    def places(self, read: torch.Tensor, records: int) -> torch.Tensor:
        """What it reads at each place in one call, (records, places, inputs)."""
        layer = self.module
        if isinstance(layer, nn.Linear):
            # A copy: what follows may work in place.
            return read.reshape(records, -1, layer.in_features).clone()
        sizes, steps, stride = layer.kernel_size, layer.dilation, layer.stride
        wide = [s * (k - 1) for s, k in zip(steps, sizes, strict=True)]
        beside = [(number, number) for number in layer.padding if layer.padding != "valid"]
        if layer.padding == "same":
            beside = [(w // 2, w - w // 2) for w in wide]
        pads = [int(number) for both in reversed(beside) for number in both]
        if any(pads):
            mode = "constant" if layer.padding_mode == "zeros" else layer.padding_mode
            read = nn.functional.pad(read, pads, mode=mode)
        if isinstance(layer, nn.Conv1d):
            read, sizes, steps, stride = read[:, :, None], (1, *sizes), (1, *steps), (1, *stride)
        return nn.functional.unfold(read, sizes, steps, 0, stride).transpose(1, 2)


def kronecker(goal: Objective, x: torch.Tensor, y: torch.Tensor, corrected: bool) -> Kronecker:
    """Decompose the factors of a checked objective's matrix; `corrected` is EK-FAC.

    Raises
    ------
    InputError
        As `ggn`, or the factors do not fit in memory.
    """
    layers = _layers(goal, x[:2])
    memory.require(
        24.0 * sum(a * a + b * b + a * b for a, b in (layer.shape for layer in layers)),
        f"the Kronecker factors for {goal.size:,} parameters",
        "use solver='cg', or ask for some parameters by parameters=",
        goal.device,
    )
    blocks = []
    if layers:
        size = READ_NUMBERS // sum(layer.inputs()[0].numel() for layer in layers)
        blocks = _factored(goal, layers, told(goal.blocks(x, y, size), len(x), "K-FAC"))
        if corrected:
            again = told(goal.blocks(x, y, size), len(x), "EK-FAC")
            blocks = _corrected(goal, layers, blocks, again)
    shared = {name for layer in layers for name in layer.names}
    rest = {name: value for name, value in goal.parameters.items() if name not in shared}
    blocks += _others(replace(goal, parameters=rest), x, y) if rest else []
    return Kronecker(blocks, {name: value.numel() for name, value in goal.parameters.items()})


def _layers(goal: Objective, x: torch.Tensor) -> list[_Layer]:
    """The layers whose gradients are made of what they read and are given back, tried on records.

    Not so of one whose weight another part reads as well, or whose first axis is no record's.
    """
    layers = []
    for module, part in goal.module.named_modules():
        every = (f"{module}.{name}".lstrip(".") for name in ("weight", "bias"))
        names = tuple(name for name in every if name in goal.parameters)
        plain = isinstance(part, nn.Linear | nn.Conv1d | nn.Conv2d)
        if plain and getattr(part, "groups", 1) == 1 and names and names[0].endswith("weight"):
            layers.append(_Layer(names, part))
    with torch.no_grad():
        width = goal.answers(goal.parameters, x[:1]).numel()
    weights = torch.linspace(1, 2, width, dtype=torch.float64, device=x.device).expand(len(x), -1)
    rows = torch.cat([rows for rows, _ in gradient_blocks(weighted_answers(goal), x, weights)])
    sizes = [value.numel() for value in goal.parameters.values()]
    parts = dict(zip(goal.parameters, rows.split(sizes, 1), strict=True))
    return [layer for layer in layers if _made_of_places(goal, layer, x, weights, parts)]


def _made_of_places(goal: Objective, layer: _Layer, x, weights, parts) -> bool:
    try:
        answer = _watched(goal, [layer], x)
        (gradient,) = _gradients([layer], answer, weights)
        made = (gradient.transpose(1, 2) @ layer.inputs()).flatten(1)
        whole = Block(layer.names, None, None, torch.empty(layer.shape)).rotate(parts)
    except networks.FAILURES:
        return False
    return torch.allclose(made, whole, rtol=SAME, atol=SAME * float(whole.abs().max()))


def _watched(goal: Objective, layers: list[_Layer], x: torch.Tensor) -> torch.Tensor:
    """The answers (records, answers), with their graph; the layers keep what they read and gave."""

    def keeper(layer: _Layer) -> Callable[..., torch.Tensor]:
        def keep(module: nn.Module, args: tuple, output: torch.Tensor) -> torch.Tensor:
            layer.read.append(layer.places(args[0].detach(), len(x)))
            layer.given.append(output)
            return output.clone()  # what follows may work in place

        return keep

    hooks = []
    for layer in layers:
        layer.read, layer.given = [], []
        hooks.append(layer.module.register_forward_hook(keeper(layer)))
    try:
        return goal.answers(to_train(goal), x)
    finally:
        for hook in hooks:
            hook.remove()


def _gradients(layers: list[_Layer], answer: torch.Tensor, weights: torch.Tensor) -> list:
    """Gradients (records, places, outputs) of the weighted answers by what each layer gave."""
    given = [value for layer in layers for value in layer.given]
    found = iter(
        torch.autograd.grad(
            answer, given, weights.view_as(answer), retain_graph=True, materialize_grads=True
        )
    )
    return [layer.gradients([next(found) for _ in layer.given], len(answer)) for layer in layers]


def _factored(goal: Objective, layers: list[_Layer], records: Iterable) -> list[Block]:
    """K-FAC: the factors of each layer, decomposed."""
    sizes = [layer.shape for layer in layers]
    zeros = partial(torch.zeros, dtype=torch.float64, device=goal.device)
    left, right = [zeros(a, a) for a, _ in sizes], [zeros(b, b) for _, b in sizes]
    places, n = [0] * len(layers), 0
    for x, y in records:
        answer, n = _watched(goal, layers, x), n + len(x)
        for weights in roots(goal, answer, y).unbind(2):
            for total, gradient in zip(left, _gradients(layers, answer, weights), strict=True):
                flat = gradient.flatten(0, 1)
                total.addmm_(flat.T, flat)
        for k, layer in enumerate(layers):
            read = layer.inputs().flatten(0, 1)
            right[k].addmm_(read.T, read)
            places[k] += len(read)
    blocks = []
    for layer, given, read, count in zip(layers, left, right, places, strict=True):
        (out, left_basis), (into, right_basis) = (
            torch.linalg.eigh(matrix) for matrix in (given.div_(n), read.div_(count))
        )
        values = torch.outer(out.clamp_min_(0.0), into.clamp_min_(0.0))
        blocks.append(Block(layer.names, left_basis, right_basis, values))
    return blocks


def _corrected(
    goal: Objective, layers: list[_Layer], blocks: list[Block], records: Iterable
) -> list[Block]:
    """EK-FAC: mean squares of the gradients along the eigenvectors."""
    totals, n = [torch.zeros_like(block.values) for block in blocks], 0
    for x, y in records:
        answer, n = _watched(goal, layers, x), n + len(x)
        reads = [turned(layer.inputs(), b.right) for layer, b in zip(layers, blocks, strict=True)]
        for weights in roots(goal, answer, y).unbind(2):
            gradients = _gradients(layers, answer, weights)
            for total, block, gradient, read in zip(totals, blocks, gradients, reads, strict=True):
                _add_squares(total, turned(gradient, block.left), read)
    return [replace(block, values=total / n) for block, total in zip(blocks, totals, strict=True)]


def _add_squares(total: torch.Tensor, gradient: torch.Tensor, read: torch.Tensor) -> None:
    """Add each record's squared gradient, the sum over its places."""
    if read.shape[1] == 1:
        total.addmm_(gradient[:, 0].square().T, read[:, 0].square())
        return
    size = max(1, READ_NUMBERS // total.numel())
    for some, other in zip(gradient.split(size), read.split(size), strict=True):
        total += (some.transpose(1, 2) @ other).square_().sum(0)


def _others(goal: Objective, x: torch.Tensor, y: torch.Tensor) -> list[Block]:
    """Blocks of single tensors: dense ones, or the diagonal of a large one."""
    sizes = {name: value.numel() for name, value in goal.parameters.items()}
    zeros = partial(torch.zeros, dtype=torch.float64, device=goal.device)
    totals = [zeros(size, size) if size <= DENSE else zeros(size) for size in sizes.values()]
    for rows in rows_of(goal, x, y):
        for total, part in zip(totals, rows.split(list(sizes.values()), 1), strict=True):
            if total.ndim == 2:
                total.addmm_(part.T, part)
            else:
                total += part.square().sum(0)
    blocks = []
    for name, total in zip(sizes, totals, strict=True):
        values, basis = torch.linalg.eigh(total) if total.ndim == 2 else (total, None)
        blocks.append(Block((name,), None, basis, values.clamp_min(0.0)[None] / len(x)))
    return blocks
