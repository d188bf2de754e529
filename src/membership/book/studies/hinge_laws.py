"""What a last layer's posterior or a regression predicts of the hinge, and what each is given."""

from typing import Any

import numpy as np

from membership import curvature
from membership.arrays import FloatArray
from membership.attacks.bmia import runner_up


def posterior_of(layer: curvature.LastLayer, label: np.ndarray) -> curvature.LaplacePosterior:
    """The Kronecker-factored posterior on a layer's records, its prior by marginal likelihood."""
    return curvature.last_layer_laplace(
        layer.features,
        layer.logits,
        "marginal-likelihood",
        weight=layer.weight,
        bias=layer.bias,
        label=label,
    )


def closed_form(
    law: curvature.LaplacePosterior, layer: curvature.LastLayer, label: np.ndarray
) -> tuple[FloatArray, FloatArray]:
    """Mean and deviation of records' hinges with the runner-up frozen: they are then normal."""
    rows, rival = np.arange(len(label)), runner_up(layer.logits, label)
    variance = law.difference_variance(layer.features, label, rival)
    return layer.logits[rows, label] - layer.logits[rows, rival], np.sqrt(variance)


def with_label(x: Any, y: np.ndarray, n_classes: int) -> FloatArray:
    """What a regression of the hinge is given of records: features, and the class."""
    flat = np.asarray(x, dtype=np.float64).reshape(len(x), -1)
    return np.c_[flat, np.eye(n_classes)[y]]
