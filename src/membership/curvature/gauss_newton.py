r"""The Gauss-Newton matrix of the mean loss, which is never negative, and products with it.

With J the Jacobian of a record's answer f (logits, mostly) and :math:`\Lambda` the Hessian of its
loss by that answer, it is the mean of :math:`J^\top \Lambda J`: the Hessian without the curvature
of the network itself, and Fisher's information where the loss is minus a log-likelihood whose
natural parameters are the answers, as a cross-entropy of logits is.

With a root :math:`\Lambda = \sum_c r_c r_c^\top`, every :math:`J^\top r_c` is a gradient of the
answers, weighted: a record's share of the matrix is made of as many gradients as it has answers.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch
from torch.func import grad, jvp, vjp, vmap

from membership.curvature.checks import derivable, named, to_train
from membership.curvature.gradients import BLOCK_NUMBERS, gradient_blocks
from membership.curvature.objective import Objective, backward
from membership.errors import InputError
from membership.progress import told

# What a loss may bend downward along its answers, in units of its rounding. An answer that is sure
# bends so little that nothing but rounding is left.
ROUNDINGS = 1e4
# Records on which that is tried before products are taken.
TRIED = 16
# Numbers that the small Hessians of a block of records may hold: 32 MB.
ANSWER_NUMBERS = 1 << 22


def answer_hessians(goal: Objective, answer: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Hessians (records, answers, answers) of the losses by what the model answers.

    Raises
    ------
    InputError
        The answers are no tensor of real numbers, a loss is not convex in them, or its second
        derivatives are not finite.
    """
    if not isinstance(answer, torch.Tensor) or not answer.is_floating_point():
        raise InputError(
            "matrix = 'ggn': it needs models that answer a tensor of real numbers, such as logits; "
            "this one's answer is something else"
        )
    at = answer.detach().clone().requires_grad_()
    with derivable(), torch.enable_grad():
        losses = goal.loss(at, y)
        (slope,) = torch.autograd.grad(losses.sum(), at, create_graph=True)
        # Records do not touch one another: one sweep has a row of all their Hessians.
        rows = slope.reshape(len(y), -1)
        sweeps = torch.eye(rows.shape[1], dtype=rows.dtype, device=rows.device)
        sweeps = sweeps[:, None].expand(-1, len(y), -1).reshape(len(sweeps), -1)
        found = backward(rows.reshape(-1), {"answer": at}, sweeps)
    found = found.reshape(-1, len(y), rows.shape[1]).transpose(0, 1)
    lost = (~torch.isfinite(found).flatten(1).all(1)).nonzero().flatten()
    if len(lost):
        raise InputError(
            f"loss: its second derivatives by the answers are not finite{named(lost)} of a block; "
            "give one of logits, without roots or norms at 0"
        )
    return (found + found.transpose(1, 2)) / 2


def roots(goal: Objective, answer: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Roots R (records, answers, answers) of the losses' Hessians: R R' is the Hessian."""
    values, vectors = torch.linalg.eigh(answer_hessians(goal, answer, y))
    slack = ROUNDINGS * torch.finfo(values.dtype).eps * max(1.0, float(values.abs().max()))
    if (values[:, 0] < -slack).any():
        least = float(values[:, 0].min())
        raise InputError(
            f"matrix = 'ggn': the loss bends by {least:.3g} along some answer of the model, and "
            "that matrix is of losses that are convex in them; give a model that answers logits "
            "with the cross-entropy, or matrix='hessian'"
        )
    return vectors * values.clamp_min(0.0).sqrt()[:, None]


def require_convex(goal: Objective, x: torch.Tensor, y: torch.Tensor) -> None:
    """Raise the InputError of `roots` where the loss of some of the first records asks for it."""
    with torch.no_grad():
        answer = goal.answers(goal.parameters, x[:TRIED])
    roots(goal, answer, y[:TRIED])


def rooted_blocks(
    goal: Objective, x: torch.Tensor, y: torch.Tensor
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Blocks of records with their `roots`."""
    with torch.no_grad():
        width = goal.answers(goal.parameters, x[:1]).numel()
    for some_x, some_y in goal.blocks(x, y, ANSWER_NUMBERS // width**2):
        with torch.no_grad():
            answer = goal.answers(goal.parameters, some_x)
        yield some_x, roots(goal, answer, some_y)


def weighted_answers(goal: Objective) -> Objective:
    """The objective whose loss is the answers weighted by what stands for the target."""

    def weighted(answer: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        return (answer.flatten(1) * weights).sum(1)

    return replace(goal, loss=weighted)


def rows_of(goal: Objective, x: torch.Tensor, y: torch.Tensor) -> Iterator[torch.Tensor]:
    """Blocks of rows (rows, p) whose products with themselves sum up to n times the matrix."""
    answers = weighted_answers(goal)
    for some_x, root in told(rooted_blocks(goal, x, y), len(x), "Gauss-Newton matrix"):
        if goal.vectorised:
            size = BLOCK_NUMBERS // (goal.size * root.shape[2])
            for part_x, part in goal.blocks(some_x, root, size):
                yield _rows_at_once(goal, part_x, part)
            continue
        for weights in root.unbind(2):
            for rows, _ in gradient_blocks(answers, some_x, weights):
                yield rows


def _rows_at_once(goal: Objective, x: torch.Tensor, root: torch.Tensor) -> torch.Tensor:
    """The rows of all roots of some records, from one pass forward."""

    def of_one(parameters: dict, x: torch.Tensor, root: torch.Tensor) -> dict:
        pull = vjp(lambda values: goal.answers(values, x[None]).reshape(-1), parameters)[1]
        return vmap(pull, in_dims=1)(root)[0]

    rows = vmap(of_one, in_dims=(None, 0, 0))(goal.parameters, x, root)
    return torch.cat([part.flatten(2) for part in rows.values()], dim=2).flatten(0, 1)


def ggn_by_rows(goal: Objective, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The matrix (p, p) of any model."""
    matrix = torch.zeros(goal.size, goal.size, dtype=torch.float64, device=goal.device)
    for rows in rows_of(goal, x, y):
        matrix.addmm_(rows.T, rows)
    return matrix.div_(len(x))


def ggn_products(
    goal: Objective, x: torch.Tensor, y: torch.Tensor, vectors: torch.Tensor, size: int
) -> torch.Tensor:
    """Products (count, p) of the matrix with many vectors (count, p) of any model.

    J v is the derivative, by u, of :math:`u^\\top J v`: backward twice, without forward mode.
    """
    total = torch.zeros_like(vectors)
    for some_x, some_y in goal.blocks(x, y, size):
        parameters = to_train(goal)
        answer = goal.answers(parameters, some_x)
        curved = answer_hessians(goal, answer, some_y)
        flat = answer.reshape(-1)
        u = torch.zeros_like(flat, requires_grad=True)
        pulled = torch.autograd.grad(
            flat, list(parameters.values()), u, create_graph=True, materialize_grads=True
        )
        moved = backward(torch.cat([part.reshape(-1) for part in pulled]), {"u": u}, vectors)
        bent = moved.reshape(len(vectors), len(some_y), -1).transpose(0, 1) @ curved
        total += backward(flat, parameters, bent.transpose(0, 1).reshape(len(vectors), -1))
    return total / len(x)


def curved_answers(tail: Any, losses: Any, z: torch.Tensor, moved: torch.Tensor) -> torch.Tensor:
    """How the derivative by z moves with z, where the answer is tail(z), as if it were linear."""
    along = jvp(tail, (z,), (moved,))[1]
    bent = jvp(grad(losses), (tail(z),), (along,))[1]
    return vjp(tail, z)[1](bent)[0]
