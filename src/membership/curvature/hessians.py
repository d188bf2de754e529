"""The exact curvature of the mean loss, and products with it: Hessian or Gauss-Newton matrix."""

from typing import Any

import numpy as np
import torch
from torch import nn

from membership import memory
from membership.arrays import from_zero
from membership.curvature.checks import derivable, named, to_train
from membership.curvature.copies import padding_rows
from membership.curvature.differences import slopes_apart
from membership.curvature.gauss_newton import ggn_by_rows, ggn_products, require_convex
from membership.curvature.gradients import BLOCK_NUMBERS
from membership.curvature.layered import by_forward_mode, layered_hessian, linear_chain
from membership.curvature.objective import WORDS, Loss, Objective, backward, objective
from membership.curvature.suitable import Parameters
from membership.errors import InputError
from membership.progress import told

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
    batch_size: int | None = None,
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
    batch_size : int, optional
        The most records that the model is asked about at a time: fewer take less memory.

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
    goal = objective(model, loss, x, y, parameters, batch_size=batch_size)
    return curvature_matrix(goal, *goal.records(x, y), weight_decay).cpu().numpy()


def ggn(
    model: nn.Module,
    loss: Loss,
    x: Any,
    y: Any,
    weight_decay: float = 0.0,
    *,
    parameters: Parameters = None,
    batch_size: int | None = None,
) -> np.ndarray:
    r"""The exact Gauss-Newton matrix of the mean loss, Fisher's for a cross-entropy of logits.

    The mean of :math:`J^\top \Lambda J` over the records, with J the Jacobian of what the model
    answers and :math:`\Lambda` the Hessian of the loss by the answer. It has no negative
    eigenvalue, and needs no second derivatives of the model.

    Parameters
    ----------
    model, loss, x, y, weight_decay, parameters, batch_size
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
    goal = objective(model, loss, x, y, parameters, "ggn", batch_size)
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
        matrix = by_forward_mode(lambda: layered_hessian(goal, chain, x, y))
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
    size = max(1, min(64, BLOCK_NUMBERS // goal.size))
    for part in told(matrix.split(size), goal.size, "Hessian", "row"):
        first = part.storage_offset() // goal.size
        rows = torch.zeros_like(part)
        rows[:, first : first + len(part)].fill_diagonal_(1.0)
        part.copy_(curvature_products(goal, x, y, rows))
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
    for some_x, some_y in goal.blocks(x, y, size):
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
