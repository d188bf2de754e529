"""What is predicted of a record's hinge without a model that was trained on the record."""

import warnings
from typing import Any

import numpy as np
from torch import nn

from membership import curvature, training
from membership.arrays import BoolArray, FloatArray
from membership.attacks.bmia import runner_up
from membership.audit.streams import Streamed
from membership.audit.tasks import Arrays, Records
from membership.errors import InputError


def by_regression(parts: list[Records], found: Arrays, n_targets: int, seed: int) -> Arrays:
    """Moments of each target's hinge on a non-member like the record, fitted to held records.

    Of models that are no targets they are NaN; empty where there is nothing to fit.
    """
    if len(parts) < 2 or "hinge" not in found or any(isinstance(x, Streamed) for x, _ in parts):
        return {}
    n_classes = 1 + max(int(y.max()) for _, y in parts)
    asked, held = (_with_label(x, y, n_classes) for x, y in parts)
    mean, sd = np.full((2, *found["hinge"].shape), np.nan)
    for target in range(n_targets):
        try:
            fitted = training.fit_qmia(held, found["held_hinge"][target], seed=seed)
        except InputError:  # The target answers the same for every held record.
            continue
        mean[target], sd[target] = fitted.predict(asked)
    return {} if np.isnan(mean).all() else {"regressed_mean": mean, "regressed_sd": sd}


def by_posterior(model: Any, part: Records, trained_on: BoolArray) -> Arrays:
    """Moments of the hinge that Laplace's posterior of a model's last layer predicts.

    Its closed form, with the runner-up frozen. Empty where the model does not end in a linear
    layer with a logit for each class.
    """
    x, y = part
    if not isinstance(model, nn.Module) or isinstance(x, Streamed):
        return {}
    linear = [name for name, one in model.named_modules() if isinstance(one, nn.Linear)]
    try:
        layer = curvature.last_layer(model, x, layer=linear[-1] if linear else "")
        fit = layer.features[trained_on], layer.logits[trained_on]
        with warnings.catch_warnings():
            # A prior precision that tuning leaves open bends the attack, not the audit.
            warnings.simplefilter("ignore")
            posterior = curvature.last_layer_laplace(
                *fit, "marginal-likelihood", weight=layer.weight, bias=layer.bias,
                label=y[trained_on],
            )  # fmt: skip
        rival, rows = runner_up(layer.logits, y), np.arange(len(y))
        variance = posterior.difference_variance(layer.features, y, rival)
    except InputError:
        return {}
    mean = layer.logits[rows, y] - layer.logits[rows, rival]
    return {"posterior_mean": mean, "posterior_sd": np.sqrt(variance)}


def stacked(models: list[Arrays]) -> Arrays:
    """What all models show, a row each; NaN where only others show something."""
    each = {name: values for model in models for name, values in model.items()}
    return {
        name: np.stack([model.get(name, np.full(values.shape, np.nan)) for model in models])
        for name, values in each.items()
    }


def _with_label(x: np.ndarray, y: np.ndarray, n_classes: int) -> FloatArray:
    """What a regression of the hinge is given of records: features, and the class."""
    return np.c_[x.reshape(len(x), -1).astype(np.float64), np.eye(n_classes)[y]]
