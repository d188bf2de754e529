"""Influence of a record on itself without retraining: influence functions and TracIn."""

from functools import partial
from typing import Any

import numpy as np
import torch

from membership.arrays import FloatArray
from membership.studies.lood import networks
from membership.studies.lood.networks import Retrained
from membership.studies.lood.settings import Settings

DAMPING = 0.01
# The released call of LiSSA: 50 steps, scale 500, damping 0.01, no restarts.
RELEASED_STEPS, RELEASED_SCALE = 50, 500.0
MODELS = 3
CHECKPOINTS = 3


def estimates(retrained: Retrained, settings: Settings) -> dict[str, FloatArray]:
    """Estimates of each left-out record's influence on itself, from networks that have it."""
    models = range(min(MODELS, len(retrained.inside)))
    solved = [_of_model(retrained, retrained.inside.module(model)) for model in models]
    traced = [_tracin(retrained, settings, model) for model in models]
    names = ("influence function", "LiSSA as released")
    by_name = {name: np.mean([pair[i] for pair in solved], axis=0) for i, name in enumerate(names)}
    return {**by_name, "TracIn": np.mean(traced, axis=0)}


def tangent_kernel(module: torch.nn.Module, x: np.ndarray) -> FloatArray:
    """Products of the gradients of log-odds in the parameters, (records, records).

    The module goes to two logits; its parameters are weights of linear layers, each applied once a
    record. With a the inputs of a layer and d the gradients of the log-odds in what it returns, the
    product is the sum over layers of (d d') (a a'): no Jacobian is held.
    """
    layers = [layer for layer in module.modules() if isinstance(layer, torch.nn.Linear)]
    seen: list[tuple[torch.Tensor, torch.Tensor]] = []
    hooks = [
        layer.register_forward_hook(lambda _, inputs, output: seen.append((inputs[0], output)))
        for layer in layers
    ]
    outputs = module(torch.tensor(np.asarray(x), dtype=torch.float32))
    for hook in hooks:
        hook.remove()
    slopes = torch.autograd.grad((outputs[:, 1] - outputs[:, 0]).sum(), [out for _, out in seen])
    parts = [
        (slope @ slope.T) * (rows.detach() @ rows.detach().T)
        for (rows, _), slope in zip(seen, slopes, strict=True)
    ]
    return sum(part.double() for part in parts).numpy()


def _of_model(retrained: Retrained, module: torch.nn.Module) -> tuple[FloatArray, FloatArray]:
    """Influence functions and LiSSA in the space that the records' gradients span.

    With J the Jacobian of the log-odds and b = p (1 - p), the Hessian is J' diag(b) J / n; the
    inverse of H + damping and LiSSA's polynomial are functions of b^(1/2) J J' b^(1/2) / n alone.
    """
    seen, chosen = retrained.space.seen(retrained.records), retrained.left_out
    x, y = seen.x, seen.y
    with torch.no_grad():
        p = module(torch.tensor(x)).double().softmax(-1).numpy()[:, 1]
    kernel, root = tangent_kernel(module, x), np.sqrt(p * (1 - p))
    values, vectors = np.linalg.eigh(root[:, None] * kernel * root / len(x))
    values = np.maximum(values, 0)
    # J'r of a record, seen along the eigenvectors; what is left of it no record's curvature sees.
    residual = (p - y)[chosen]
    square = residual**2 * np.diag(kernel)[chosen]
    along = (residual[:, None] * (kernel[chosen] * root) @ vectors) ** 2 / len(x)
    influences = []
    for function in (lambda h: 1 / (h + DAMPING), _lissa):
        # f(H) = f(0) I + J'b^(1/2) V (f(values) - f(0)) / values V' b^(1/2) J / n
        slope = (function(values) - function(0.0)) / np.where(values > 1e-12, values, np.inf)
        influences.append(function(0.0) * square + along @ slope)
    return influences[0], influences[1]


def _lissa(h: Any) -> Any:
    """The recursion v <- g + (1 - damping) v - h v / scale, after its steps, over the scale."""
    ratio = 1 - DAMPING - h / RELEASED_SCALE
    return (1 - ratio ** (RELEASED_STEPS + 1)) / (1 - ratio) / RELEASED_SCALE


def _tracin(retrained: Retrained, settings: Settings, model: int) -> FloatArray:
    """Sum of learning rate times the squared gradient over states of one network's training."""
    from membership import training

    inside, seen = retrained.inside, retrained.space.seen(retrained.records)
    epochs = inside.config.epochs
    marks = sorted({max(1, round(epochs * (i + 1) / CHECKPOINTS)) for i in range(CHECKPOINTS)})
    states = partial(
        training.train,
        inside.factory,
        seen,
        inside.membership[model][None],
        seeds=[inside.seeds[model]],
        device=settings.device,
        n_jobs=1,
        progress=False,
    )
    chosen = retrained.left_out
    x, y = seen.x[chosen], seen.y[chosen]
    total = np.zeros(len(chosen))
    for mark in marks:
        config = networks.recipe(retrained.records, settings, epochs=mark)
        module = states(config=config).module(0)
        total += config.learning_rate_at(mark - 1) * _squared_gradient(module, x, y)
    return total


def _squared_gradient(module: torch.nn.Module, x: np.ndarray, y: np.ndarray) -> FloatArray:
    """|g|^2 of each record's cross-entropy."""
    parameters = {name: value.detach() for name, value in module.named_parameters()}

    def loss(state: dict, record: torch.Tensor, label: torch.Tensor) -> torch.Tensor:
        logits = torch.func.functional_call(module, state, (record[None],))
        return torch.nn.functional.cross_entropy(logits, label[None])

    gradient = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0), chunk_size=16)
    gradients = gradient(parameters, torch.tensor(x), torch.tensor(y))
    return sum(part.flatten(1).double().square().sum(1) for part in gradients.values()).numpy()
