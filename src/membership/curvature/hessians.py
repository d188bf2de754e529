r"""The exact Hessian of the mean loss, and products with it.

That of a network of linear layers is a few large matrix products.
Write :math:`z_l = W_l a_l + b_l` for what linear layer l makes of its input, and shift every
:math:`z_l` by an :math:`s_l` of its own. A record's loss is then a function of the short vector s
of all shifts, whatever stands between the layers. With its gradient :math:`\delta = \nabla_s \ell`,
its Hessian :math:`D = \nabla_s^2 \ell` and the Jacobian J of the later inputs :math:`a_m(s)`, the
chain rule gives for :math:`l \le m`

.. math:: \frac{\partial^2 \ell}{\partial W_l[i,j]\, \partial W_m[p,q]}
   = a_l[j]\, \Bigl( D[l i, m p]\, a_m[q] + \delta_m[p]\, J[m q, l i] \Bigr).

The bracket is how the gradients of one record move with the shift of unit (l, i). So the rows of
unit (l, i), over all records, are one product of the layer's inputs with the brackets. Where a unit
is dead for a record, as half of them are behind a ReLU, its brackets are 0 and are left out.
"""

import copy
import warnings
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.autograd import forward_ad
from torch.func import grad, jacfwd, vmap

from membership import memory, networks
from membership.arrays import from_zero
from membership.curvature.checks import derivable, named, to_train
from membership.curvature.copies import padding_rows
from membership.curvature.differences import slopes_apart
from membership.curvature.gauss_newton import ggn_by_rows, ggn_products, require_convex
from membership.curvature.gradients import BLOCK_NUMBERS, record_blocks
from membership.curvature.objective import Loss, Objective, backward, objective
from membership.curvature.suitable import Parameters
from membership.errors import InputError

WORDS = {"hessian": "Hessian", "ggn": "Gauss-Newton matrix"}
SMALLER = (
    "use solver='cg', which needs none of it, solver='ekfac' with matrix='ggn', or ask for some "
    "parameters by parameters="
)


def hessian(
    model: nn.Module,
    loss: Loss,
    x: Any,
    y: Any,
    weight_decay: float = 0.0,
    *,
    parameters: Parameters = None,
) -> np.ndarray:
    r"""The exact Hessian of the mean loss over the records.

    Networks of linear layers in a row go by closed form, layer by layer (see
    `layered_hessian`); any other goes by Hessian-vector products with the identity,
    many at a time.

    Parameters
    ----------
    model : nn.Module
        Any small network whose answer for a record depends on that record alone.
    loss : callable
        ``loss(output, y)`` gives one value a record, twice differentiable.
    x, y : array_like or torch.Tensor, shape (records, ...)
        Records and their targets.
    weight_decay : float
        :math:`\alpha \ge 0`: adds :math:`\alpha I`, for the loss with
        :math:`\frac{\alpha}{2}\|w\|^2`.
    parameters : names or predicate, optional
        As for `per_record_gradients`.

    Returns
    -------
    numpy.ndarray of float64, shape (p, p)
        Symmetric; parameters in the order of ``model.parameters()``, those that were asked for.

    Raises
    ------
    InputError
        See `membership.curvature.objective`; `weight_decay` is negative; the loss has no second
        derivatives at some record; or the matrix does not fit in memory.
    """
    goal = objective(model, loss, x, y, parameters)
    return curvature_matrix(goal, *goal.records(x, y), weight_decay).cpu().numpy()


def ggn(
    model: nn.Module,
    loss: Loss,
    x: Any,
    y: Any,
    weight_decay: float = 0.0,
    *,
    parameters: Parameters = None,
) -> np.ndarray:
    r"""The exact Gauss-Newton matrix of the mean loss, Fisher's for a cross-entropy of logits.

    The mean of :math:`J^\top \Lambda J` over the records, with J the Jacobian of what the model
    answers and :math:`\Lambda` the Hessian of the loss by the answer. It has no negative
    eigenvalue, and needs no second derivatives of the model.

    Parameters
    ----------
    model, loss, x, y, weight_decay, parameters
        As for `hessian`; the loss is convex in the answers. A softmax that is part of the model
        gives another matrix than one in the loss.

    Returns
    -------
    numpy.ndarray of float64, shape (p, p)

    Raises
    ------
    InputError
        As `hessian`, or the loss is not convex in the answers.

    Examples
    --------
    >>> import numpy, torch
    >>> from membership import curvature
    >>> _ = torch.manual_seed(0)
    >>> model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 2))
    >>> data = torch.eye(2), torch.tensor([0, 1])
    >>> cross_entropy = torch.nn.CrossEntropyLoss(reduction="none")
    >>> whole = curvature.ggn(model, cross_entropy, *data)
    >>> head = curvature.ggn(model, cross_entropy, *data, parameters=["2"])
    >>> whole.shape, head.shape, numpy.allclose(whole[9:, 9:], head)
    ((17, 17), (8, 8), True)
    """
    goal = objective(model, loss, x, y, parameters, "ggn")
    return curvature_matrix(goal, *goal.records(x, y), weight_decay).cpu().numpy()


def curvature_matrix(
    goal: Objective, x: torch.Tensor, y: torch.Tensor, weight_decay: float = 0.0
) -> torch.Tensor:
    """As `hessian` or `ggn`, of a checked objective and as a tensor on its device."""
    from_zero("weight_decay", weight_decay)
    memory.require(
        8.0 * goal.size**2 + 16.0 * BLOCK_NUMBERS,
        f"the exact {WORDS[goal.matrix]} of {goal.size:,} parameters",
        SMALLER,
        goal.device,
    )
    if goal.matrix == "ggn":
        require_convex(goal, x, y)
    chain = linear_chain(goal, x[:2])
    matrix = None
    if chain is not None:
        with suppress(NotImplementedError):  # torch has no forward mode of some losses.
            matrix = layered_hessian(goal, chain, x, y)
    if matrix is None:
        matrix = (ggn_by_rows if goal.matrix == "ggn" else hessian_by_products)(goal, x, y)
    require_finite(goal, x, y, matrix)
    matrix.diagonal().add_(weight_decay)
    return matrix


def require_finite(
    goal: Objective, x: torch.Tensor, y: torch.Tensor, products: torch.Tensor
) -> None:
    """Raise an InputError that names the records at which a Hessian's products are no numbers."""
    if torch.isfinite(products).all():
        return
    every = products.new_ones(1, goal.size)

    def lost(rows: torch.Tensor) -> torch.Tensor:
        if torch.isfinite(curvature_products(goal, x[rows], y[rows], every)).all():
            return rows[:0]
        if len(rows) == 1:
            return rows
        return torch.cat([lost(half) for half in rows.tensor_split(2)])

    found = lost(torch.arange(len(x), device=x.device))
    raise InputError(
        f"model or loss: the {WORDS[goal.matrix]} is not finite{named(found)}; a second derivative "
        "does not exist there, as that of a norm, a root or a distance at 0: leave the record out, "
        "or add a small constant inside"
    )


def hessian_by_products(goal: Objective, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The Hessian (p, p) of the mean loss by products with blocks of the identity."""
    require_second_derivatives(goal, x[:2], y[:2])
    matrix = torch.empty(goal.size, goal.size, dtype=torch.float64, device=goal.device)
    size = max(1, min(256, BLOCK_NUMBERS // goal.size))
    for first in range(0, goal.size, size):
        count = min(size, goal.size - first)
        rows = torch.zeros(count, goal.size, dtype=torch.float64, device=goal.device)
        rows[torch.arange(count), first + torch.arange(count)] = 1.0
        matrix[first : first + count] = curvature_products(goal, x, y, rows)
    return matrix


def curvature_products(
    goal: Objective, x: torch.Tensor, y: torch.Tensor, vectors: torch.Tensor
) -> torch.Tensor:
    """Products (count, p) of the mean loss's curvature with many vectors (count, p) at once.

    The gradient's graph is gone back through for a block of directions at a time.
    """
    if len(vectors) > 64:
        return torch.cat([curvature_products(goal, x, y, some) for some in vectors.split(64)])
    size = max(1, BLOCK_NUMBERS // (8 * len(vectors)))
    if goal.matrix == "ggn":
        return ggn_products(goal, x, y, vectors, size)
    total = torch.zeros_like(vectors)
    for some_x, some_y in record_blocks(x, y, size=size):
        parameters = to_train(goal)
        gradient = _gradient(goal, parameters, some_x, some_y)
        total += backward(gradient, parameters, vectors)
    return total / len(x)


def _gradient(goal: Objective, parameters: dict, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Gradient (p,) of the summed loss, with its graph."""
    gradient = torch.autograd.grad(
        goal.losses(parameters, x, y).sum(),
        list(parameters.values()),
        create_graph=True,
        materialize_grads=True,
    )
    return torch.cat([part.reshape(-1) for part in gradient])


def require_second_derivatives(goal: Objective, x: torch.Tensor, y: torch.Tensor) -> None:
    """Raise an InputError where torch has no second derivatives of the model."""
    parameters = to_train(goal)
    with derivable():
        gradient = _gradient(goal, parameters, x, y)
        backward(gradient, parameters, torch.ones_like(gradient)[None])
    steps, seen = [gradient.grad_fn], set()
    while steps:
        step = steps.pop()
        if step is None or step in seen:
            continue
        # What torch puts behind a function that is once differentiable: asked for the derivatives
        # of chosen tensors, it passes this by and leaves the function's share out.
        if step.name() == "torch::autograd::Error":
            raise InputError(
                "model or loss: a function of its own is marked once_differentiable, so there is "
                "no Hessian; give its backward in operations that torch differentiates"
            )
        seen.add(step)
        steps += [before for before, _ in step.next_functions]
    _check_second(goal, x, y)


def _check_second(goal: Objective, x: torch.Tensor, y: torch.Tensor) -> None:
    """Refuse a gradient whose backward pass is not its derivative."""
    signs = torch.arange(goal.size, device=goal.device) % 2 * 2 - 1

    def gradient(values: dict[str, torch.Tensor]) -> torch.Tensor:
        with torch.enable_grad():
            trained = {
                name: v if v.requires_grad else v.requires_grad_() for name, v in values.items()
            }
            return signs * _gradient(goal, trained, x, y)

    apart = slopes_apart(gradient, goal.parameters, padding_rows(goal.module))
    if apart is not None:
        raise InputError(
            f"model or loss: along one direction the gradient moves by {apart[0]:.3g} and its "
            f"backward pass gives {apart[1]:.3g}, so there is no Hessian; write the backward pass "
            "of a function of your own in operations that torch differentiates, without detach"
        )


@cache
def forward_mode() -> None:
    """Have torch load its rules of forward differentiation, which warn of torch's own compiler."""
    with warnings.catch_warnings(), forward_ad.dual_level():
        warnings.simplefilter("ignore")
        forward_ad.make_dual(torch.zeros(1), torch.zeros(1))


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
        for some_x, some_y in zip(x.split(size), y.split(size), strict=True):
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
