r"""The curvature of a network of linear layers by closed form, as a few large products.

Write :math:`z_l = W_l a_l + b_l` for what linear layer l makes of its input, and shift every
:math:`z_l` by an :math:`s_l` of its own. A record's loss is then a function of the short vector s
of all shifts, whatever stands between the layers. With its gradient :math:`\delta = \nabla_s \ell`,
its Hessian :math:`D = \nabla_s^2 \ell` and the Jacobian J of the later inputs :math:`a_m(s)`, the
chain rule gives for :math:`l \le m`

.. math:: \frac{\partial^2 \ell}{\partial W_l[i,j]\, \partial W_m[p,q]}
   = a_l[j]\, \Bigl( D[l i, m p]\, a_m[q] + \delta_m[p]\, J[m q, l i] \Bigr).

The bracket is how the gradients of one record move with the shift of unit (l, i). So the rows of
unit (l, i), over all records, are one product of the layer's inputs with the brackets. Where a unit
is dead for a record, as half of them are behind a ReLU, its brackets are 0 and are left out. In the
Gauss-Newton matrix the network is linear: D is that of the answers alone, and J is left out.
"""

import copy
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

import torch
from torch import nn
from torch.autograd import forward_ad
from torch.func import grad, jacfwd, vmap

from membership import networks
from membership.curvature.objective import WORDS, Objective
from membership.progress import told


@cache
def forward_mode() -> None:
    """Have torch load its rules of forward differentiation, which warn of torch's own compiler."""
    with warnings.catch_warnings(), forward_ad.dual_level():
        warnings.simplefilter("ignore")
        forward_ad.make_dual(torch.zeros(1), torch.zeros(1))


Result = TypeVar("Result")


def by_forward_mode(closed_form: Callable[[], Result]) -> Result | None:
    """What a closed form gives; None where torch cannot differentiate the loss forwards.

    Huber's loss, for one: torch raises that its rule is not implemented, and says so in words.
    """
    try:
        return closed_form()
    except NotImplementedError as error:
        if "forward AD" in str(error) or "forward mode AD" in str(error):
            return None
        raise


# Numbers that the brackets of one unit, or all small Hessians D, may hold: 256 MB in float64.
BRACKET_NUMBERS = 1 << 25
# Records whose small Hessians D are computed at a time; D has (all units)^2 numbers a record.
SHIFT_NUMBERS = 1 << 22


@dataclass(frozen=True)
class LinearChain:
    """Modules that run one after the other; all parameters are those of the linear ones."""

    modules: list[nn.Module]

    @property
    def linear(self) -> list[nn.Linear]:
        """The linear layers, first to last."""
        return [part for part in self.modules if isinstance(part, nn.Linear)]

    def inputs_of_linear(
        self, x: torch.Tensor, shifts=None
    ) -> tuple[list[torch.Tensor], torch.Tensor]:
        """What each linear layer reads, and the output, each linear layer's result shifted."""
        read = []
        for part in self.modules:
            if isinstance(part, nn.Linear):
                read.append(x)
                x = nn.functional.linear(x, part.weight, part.bias)
                x = x if shifts is None else x + shifts[len(read) - 1]
            else:
                x = part(x)
        return read, x


def linear_chain(goal: Objective, x: torch.Tensor) -> LinearChain | None:
    """The model as a chain of linear layers on flat inputs, or None where it is not one."""
    leaves = _leaves(goal.module)
    if leaves is None:
        return None
    chain = LinearChain([_apart(leaf) for leaf in leaves])
    # The order matters: rows of the Hessian are written where the model's parameters lie, which
    # are weight and bias, unless a weight was taken out and put back, as by prune.remove.
    each = [value for layer in chain.linear for value in (layer.weight, layer.bias)]
    owned = [value for value in each if value is not None]
    every = list(goal.module.parameters())
    if [id(v) for v in owned] != [id(v) for v in every] or len(every) != len(goal.parameters):
        return None
    with torch.no_grad():
        read, answer = chain.inputs_of_linear(x)
        # What is put on all modules of the process at once shows in the answer alone.
        same = torch.equal(answer, goal.module(x.clone()))
    return chain if same and all(value.ndim == 2 for value in read) else None


def _leaves(module: nn.Module) -> list[nn.Module] | None:
    """The layers in their order; None where calling each in turn may be another model.

    Only torch's own containers and layers, with nothing put on them: whatever a subclass, a hook
    or a parametrisation does is lost where the parts are called one by one.
    """
    if not networks.untouched(module):
        return None
    if type(module) is nn.Sequential:
        parts = [_leaves(child) for child in module]
        return None if None in parts else [leaf for part in parts for leaf in part or []]
    plain = type(module).__module__.startswith("torch.nn.modules.")
    leaf = plain and not any(True for _ in module.children())
    return [module] if leaf else None


def _apart(leaf: nn.Module) -> nn.Module:
    """A layer that leaves its input as it was, for what it reads is used again."""
    if not getattr(leaf, "inplace", False):
        return leaf
    leaf = copy.copy(leaf)
    leaf.inplace = False  # pyrefly: ignore[bad-argument-type] - a flag, in a copied module
    return leaf


def layered_hessian(
    goal: Objective, chain: LinearChain, x: torch.Tensor, y: torch.Tensor
) -> torch.Tensor:
    """The Hessian (p, p) of the mean loss over the records."""
    matrix = torch.zeros(goal.size, goal.size, dtype=torch.float64, device=goal.device)
    units = sum(layer.out_features for layer in chain.linear)
    size = max(1, BRACKET_NUMBERS // max(goal.size, units**2))
    with torch.no_grad():
        for some_x, some_y in told(goal.blocks(x, y, size), len(x), WORDS[goal.matrix]):
            _add_records(matrix, goal, chain, some_x, some_y)
        _mirror(matrix)
    return matrix.div_(len(x))


def _add_records(matrix, goal, chain: LinearChain, x: torch.Tensor, y: torch.Tensor) -> None:
    """Add the upper triangle of the records' Hessians, unit by unit."""
    read, _ = chain.inputs_of_linear(x)
    delta, second, jacobian = _shift_derivatives(goal, chain, read[0], y)
    # One (records, numbers) matrix, filled anew for each unit, holds its brackets.
    store = torch.empty(len(x), matrix.shape[1], dtype=torch.float64, device=x.device)
    row, unit = 0, 0
    for index, layer in enumerate(chain.linear):
        n_out, n_in = layer.weight.shape
        bias_row = row + n_out * n_in
        for i in range(n_out):
            alive = _alive(second[:, unit + i], [part[:, :, unit + i] for part in jacobian[1:]])
            near = second[alive, unit + i]
            inputs = [part[alive] for part in read]
            moves = [None, *(part[alive, :, unit + i] for part in jacobian[1:])]
            first = row + i * n_in
            brackets = store[: len(delta[alive]), first:]
            _fill_brackets(brackets, chain, index, i, unit, near, delta[alive], inputs, moves)
            matrix[first : first + n_in, first:].addmm_(inputs[index].T, brackets)
            if layer.bias is not None:
                matrix[bias_row + i, bias_row:] += brackets[:, bias_row - first :].sum(0)
        row = bias_row + (0 if layer.bias is None else n_out)
        unit += n_out


def _alive(second: torch.Tensor, jacobian: list[torch.Tensor]) -> Any:
    """The records for which a unit's shift moves anything; all of them without a copy."""
    moves = torch.stack([part.ne(0).any(1) for part in (second, *jacobian)]).any(0)
    return slice(None) if moves.all() else moves.nonzero().flatten()


def _fill_brackets(brackets, chain, index, i, shift, second, delta, read, jacobian) -> None:
    """Brackets (records, ...) of unit i of a layer: its own layer from row i on, all later ones."""
    column = 0
    for later, layer in enumerate(chain.linear[index:], start=index):
        n_out, n_in = layer.weight.shape
        start = i if later == index else 0
        units = slice(shift + start, shift + n_out)
        width = (n_out - start) * n_in
        block = brackets[:, column : column + width].view(len(delta), n_out - start, n_in)
        torch.mul(second[:, units, None], read[later][:, None, :], out=block)
        if later > index and jacobian[1:]:
            block.addcmul_(delta[:, units, None], jacobian[later][:, None])
        column += width
        if layer.bias is not None:
            own = slice(shift, shift + n_out)
            brackets[:, column : column + n_out] = second[:, own]
            column += n_out
        shift += n_out


def _shift_derivatives(
    goal: Objective, chain: LinearChain, first: torch.Tensor, y: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, list[Any]]:
    """Derivatives of each record's loss by the shifts of all units.

    Returns the gradient (records, units), the Hessian (records, units, units) and for each layer
    the Jacobian (records, inputs, units) of what it reads. Of the Gauss-Newton matrix the second is
    the one by the shifts, and it has no share of the last.
    """
    forward_mode()
    widths = [layer.out_features for layer in chain.linear]
    at = next(k for k, part in enumerate(chain.modules) if isinstance(part, nn.Linear))
    rest = LinearChain(chain.modules[at + 1 :])
    start = chain.modules[at](first)

    def loss_and_inputs(shifts, z, y):
        parts = shifts.split(widths)
        read, output = rest.inputs_of_linear((z + parts[0]).unsqueeze(0), parts[1:])
        return goal.loss(output, y.unsqueeze(0)).squeeze(0), [value.squeeze(0) for value in read]

    def gradient_and_inputs(shifts, z, y):
        delta, read = grad(loss_and_inputs, has_aux=True)(shifts, z, y)
        return (delta, read), delta

    def answer(shifts, z):
        return rest.inputs_of_linear((z + shifts[: widths[0]])[None], shifts.split(widths)[1:])[1][
            0
        ]

    def gauss_newton(shifts, z, y):
        answered, moved = answer(shifts, z), jacfwd(answer)(shifts, z)
        loss = jacfwd(grad(lambda a: goal.loss(a[None], y[None]).squeeze(0)))(answered)
        moved = moved.reshape(-1, len(shifts))
        second = moved.T @ loss.reshape(len(moved), len(moved)) @ moved
        return (second, []), torch.zeros_like(shifts)

    whole = jacfwd(gradient_and_inputs, has_aux=True)
    every = vmap(gauss_newton if goal.matrix == "ggn" else whole, in_dims=(None, 0, 0))
    zero = torch.zeros(sum(widths), dtype=torch.float64, device=first.device)
    size = max(1, SHIFT_NUMBERS // sum(widths) ** 2)
    parts = [
        every(zero, z, some_y) for z, some_y in zip(start.split(size), y.split(size), strict=True)
    ]
    delta = torch.cat([delta for _, delta in parts])
    second = torch.cat([second for (second, _), _ in parts])
    jacobian = [torch.cat(blocks) for blocks in zip(*(read for (_, read), _ in parts), strict=True)]
    return delta, second, [None, *jacobian]


def _mirror(matrix: torch.Tensor, size: int = 512) -> None:
    """Copy the upper triangle onto the lower one, in place."""
    for first in range(0, len(matrix), size):
        last = first + size
        block = matrix[first:last, first:last]
        block.copy_(block.triu() + block.triu(1).T)
        matrix[last:, first:last] = matrix[first:last, last:].T
