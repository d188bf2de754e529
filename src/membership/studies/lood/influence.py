"""Influence of a record on itself without retraining: influence functions and TracIn."""

from functools import partial
from typing import Any

import numpy as np
import torch

from membership.arrays import FloatArray
from membership.studies.lood import networks
from membership.studies.lood.networks import Retrained

DAMPING = 0.01
# The released call of LiSSA: 50 steps, scale 500, damping 0.01, no restarts.
RELEASED_STEPS, RELEASED_SCALE = 50, 500.0
MODELS = 3
CHECKPOINTS = 3


def estimates(retrained: Retrained, settings: Any) -> dict[str, FloatArray]:
    """Estimates of each left-out record's influence on itself, from networks that have it.

    Parameters
    ----------
    retrained : Retrained
        From `networks.retrain`; its first networks with all records are used.
    settings : Settings
        As for `networks.retrain`.

    Returns
    -------
    dict of str to array of shape (differing,)
        By name of the method: the mean over up to three networks. With g the gradient of the
        record's loss and H the Gauss-Newton Hessian of the mean loss, "influence function" is
        g'(H + 0.01 I)^{-1} g, exactly; "LiSSA as released" is its recursion stopped after 50 steps
        at scale 500; "TracIn" is the sum over three states of the training of
        learning rate times g'g.
    """
    models = range(min(MODELS, len(retrained.inside)))
    solved = [_of_model(retrained, retrained.inside.module(model)) for model in models]
    traced = [_tracin(retrained, settings, model) for model in models]
    names = ("influence function", "LiSSA as released")
    found = {name: np.mean([pair[i] for pair in solved], axis=0) for i, name in enumerate(names)}
    return {**found, "TracIn": np.mean(traced, axis=0)}


def tangent_kernel(module: torch.nn.Module, x: np.ndarray) -> FloatArray:
    """Products of the outputs' gradients in the parameters.

    Parameters
    ----------
    module : torch.nn.Module
        From (records, ...) to (records, classes), its parameters all weights of linear layers
        that are applied once a record.
    x : array of shape (records, ...)

    Returns
    -------
    ndarray of shape (records, classes, records, classes)
        With a the inputs of a layer and d the gradients of the outputs in what the layer returns,
        the product is the sum over layers of (d d') (a a'): no Jacobian is held.
    """
    layers = [layer for layer in module.modules() if isinstance(layer, torch.nn.Linear)]
    seen: list[tuple[torch.Tensor, torch.Tensor]] = []

    def note(_: Any, inputs: tuple[torch.Tensor], output: torch.Tensor) -> None:
        seen.append((inputs[0], output))

    hooks = [layer.register_forward_hook(note) for layer in layers]
    outputs = module(torch.tensor(np.asarray(x), dtype=torch.float32))
    for hook in hooks:
        hook.remove()
    returned = [output for _, output in seen]
    slopes = [
        torch.autograd.grad(column.sum(), returned, retain_graph=True) for column in outputs.T
    ]
    n, classes = outputs.shape
    total = np.zeros((n, classes, n, classes))
    for layer, (inputs, _) in enumerate(seen):
        rows = inputs.detach()
        slope = torch.stack([column[layer] for column in slopes], dim=1).flatten(0, 1)
        product = (slope @ slope.T).reshape(total.shape) * (rows @ rows.T)[:, None, :, None]
        total += product.numpy()
    return total


def _of_model(retrained: Retrained, module: torch.nn.Module) -> tuple[FloatArray, FloatArray]:
    """Influence functions and LiSSA in the space that the records' gradients span.

    With J the outputs' Jacobian and B the softmax Hessians, H = J'BJ / n; the inverse of
    H + damping and LiSSA's polynomial are functions of B^(1/2) J J' B^(1/2) / n alone.
    """
    x, y = retrained.records.dataset.x, retrained.records.dataset.y
    n, classes = len(y), retrained.records.dataset.n_classes
    with torch.no_grad():
        p = module(torch.tensor(x)).double().softmax(-1).numpy()
    kernel = tangent_kernel(module, x).reshape(n * classes, n * classes)
    root = _softmax_root(p)
    middle = _both_sides(kernel, root) / n
    values, vectors = np.linalg.eigh((middle + middle.T) / 2)
    values = np.maximum(values, 0)
    # J'r of a record, seen along the eigenvectors; what is left of it no record's curvature sees.
    residual = (p - np.eye(classes)[y])[retrained.left_out]
    gradients = np.zeros((len(residual), n, classes))
    gradients[np.arange(len(residual)), retrained.left_out] = residual
    flat = gradients.reshape(len(residual), -1)
    square = np.einsum("ri,ij,rj->r", flat, kernel, flat)
    rooted = np.einsum("nab,rnb->rna", root, (flat @ kernel).reshape(-1, n, classes))
    along = (rooted.reshape(len(flat), -1) @ vectors) ** 2 / n
    found = []
    for function in (lambda h: 1 / (h + DAMPING), _lissa):
        # f(H) = f(0) I + J'B^(1/2) V (f(values) - f(0)) / values V' B^(1/2) J / n
        slope = (function(values) - function(0.0)) / np.where(values > 1e-12, values, np.inf)
        found.append(function(0.0) * square + along @ slope)
    return found[0], found[1]


def _lissa(h: Any) -> Any:
    """The recursion v <- g + (1 - damping) v - h v / scale, after its steps, over the scale."""
    ratio = 1 - DAMPING - h / RELEASED_SCALE
    return (1 - ratio ** (RELEASED_STEPS + 1)) / (1 - ratio) / RELEASED_SCALE


def _softmax_root(p: FloatArray) -> FloatArray:
    """A symmetric root of diag(p) - p p' for each record, (records, classes, classes)."""
    hessian = p[:, :, None] * np.eye(p.shape[1]) - p[:, :, None] * p[:, None, :]
    values, vectors = np.linalg.eigh(hessian)
    return np.einsum("nac,nc,nbc->nab", vectors, np.sqrt(np.maximum(values, 0)), vectors)


def _both_sides(kernel: FloatArray, root: FloatArray) -> FloatArray:
    """root kernel root with root block-diagonal."""
    n, classes = root.shape[:2]
    left = np.einsum("nab,nbm->nam", root, kernel.reshape(n, classes, -1)).reshape(kernel.shape)
    right = np.einsum("nab,nbm->nam", root, left.T.reshape(n, classes, -1))
    return right.reshape(kernel.shape).T


def _tracin(retrained: Retrained, settings: Any, model: int) -> FloatArray:
    """Sum of learning rate times the squared gradient over states of one network's training."""
    from membership import training

    inside = retrained.inside
    epochs = inside.config.epochs
    marks = sorted({max(1, round(epochs * (i + 1) / CHECKPOINTS)) for i in range(CHECKPOINTS)})
    states = partial(
        training.train,
        inside.factory,
        retrained.records.dataset,
        inside.membership[model][None],
        seeds=[inside.seeds[model]],
        device=settings.device,
        n_jobs=1,
        progress=False,
    )
    chosen = retrained.left_out
    x, y = retrained.records.dataset.x[chosen], retrained.records.dataset.y[chosen]
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
    found = gradient(parameters, torch.tensor(x), torch.tensor(y))
    return sum(part.flatten(1).double().square().sum(1) for part in found.values()).numpy()
