"""How steep the loss of the networks is at their start, which bounds their learning rate."""

import numpy as np

from membership.nngp.activations import activation as named

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(80)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


def sharpness(
    size: float, n_features: int, depth: int, width: int, activation: str, w_std: float
) -> float:
    """Largest mean curvature that a record of two classes can have at the start.

    The curvature of the cross-entropy along the gradient of the log-odds is p (1 - p), at most a
    quarter, times that gradient's squared length. Its expectation is a sum over layers: the squared
    length of what goes in times that of the gradient in what comes out. Of a hidden layer the first
    is in proportion to the units, however short a record is. `size` is a record's squared norm.
    """
    phi, w = named(activation), w_std**2
    lengths, slopes, variance = [size], [], w * size / n_features
    for _ in range(depth):
        lengths.append(width * _mean_square(phi.value, variance))
        slopes.append(w * _mean_square(phi.derivative, variance))
        variance = w * lengths[-1] / width
    # Of the log-odds in the two logits; then backwards, in what each hidden layer's weights give.
    gradient, total = 2.0, 0.0
    for length, slope in zip(reversed(lengths), [*reversed(slopes), 0.0], strict=True):
        total += length * gradient
        gradient *= slope
    return total / 4


def _mean_square(function, variance: float) -> float:
    """E[f(sqrt(variance) z)^2] of a standard normal z."""
    return float(_WEIGHTS @ function(np.sqrt(variance) * _NODES) ** 2)
