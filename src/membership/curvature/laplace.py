"""Laplace approximation of a network's last layer (Liu et al. 2025, Section 4.3 and Appendix C)."""

import warnings
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_softmax, softmax

from membership import memory
from membership.arrays import FloatArray, as_float64, one_of
from membership.curvature.laplace_structures import MATRICES, Diagonal, Full, Kronecker
from membership.curvature.last_layer import LaplacePosterior, as_classes, linear
from membership.errors import InputError, extra

# The grid of laplace-torch's own search, in steps of a fifth of a decade.
GRID = np.logspace(-4, 4, 41)


def log_likelihood(logits: FloatArray, label: FloatArray) -> float:
    """Summed log probability of the labels, in nats."""
    return float(log_softmax(logits, axis=1)[np.arange(len(label)), label].sum())


@dataclass(frozen=True)
class MarginalLikelihood:
    r"""Laplace's approximation of the log marginal likelihood, a function of delta.

    :math:`\log p(D \mid \hat w) - \tfrac12 [\log\det(G + \delta I) - P \log\delta
    + \delta \|\hat w\|^2]`

    Attributes
    ----------
    weights : Diagonal, Kronecker or Full
        The curvature G.
    squared_norm : float
        Of the P weights and biases of the last layer.
    likelihood : float
        Log likelihood of the training records at those weights.
    """

    weights: Any
    squared_norm: float
    likelihood: float

    def __call__(self, precision: float) -> float:
        """The log marginal likelihood under a prior precision, in nats."""
        log_det = self.weights.with_prior(precision).log_det()
        log_det_ratio = log_det - self.weights.n_parameters * np.log(precision)
        return float(self.likelihood - (log_det_ratio + precision * self.squared_norm) / 2)

    def best(self) -> float:
        r"""The prior precision of the largest marginal likelihood.

        The derivative in :math:`\log\delta` is half of :math:`\sum_i \lambda_i / (\lambda_i +
        \delta) - \delta \|\hat w\|^2` (MacKay's effective number of parameters less the
        weights' share). It falls throughout, so that its zero is the one maximum.

        Raises
        ------
        InputError
            The weights or the curvature are zero: there is no maximum.
        """
        eigenvalues, norm = self.weights.eigenvalues(), self.squared_norm
        if not norm > 0 or not eigenvalues.max() > 0:
            raise InputError(
                "prior_precision = 'marginal-likelihood': the last layer's weights or the "
                "curvature are zero, so there is no maximum; give a number"
            )

        def slope(log_precision: float) -> float:
            precision = np.exp(log_precision)
            return float((eigenvalues / (eigenvalues + precision)).sum() - precision * norm)

        # At most every parameter is effective: from here on the slope is negative.
        high = np.log(eigenvalues.size / norm) + 1e-6
        low = high
        while slope(low) < 0:
            low -= 1.0
        return float(np.exp(brentq(slope, low, high, xtol=1e-13)))


def doubt_of(prior_precision: Any, precision: float, layer: Any) -> str:
    """What a tuned prior precision lacks in meaning, in a sentence; empty where nothing."""
    if prior_precision == "validation" and precision in (GRID[0], GRID[-1]):
        return (
            f"prior_precision = 'validation' found {precision:g}, the edge of its grid from "
            f"{GRID[0]:g} to {GRID[-1]:g}: the best value may lie beyond, or the held-out records "
            "may not tell"
        )
    if prior_precision == "marginal-likelihood":
        effective = precision * _squared_norm(layer)
        if effective < 1:
            return (
                f"prior_precision = 'marginal-likelihood' found {precision:.3g}, at which the data "
                f"determine {effective:.2g} parameters, less than one: the network is as good as "
                "certain of its records, and the variances say nothing"
            )
    return ""


def best_on_validation(weights: Any, features: FloatArray, logits: FloatArray, label) -> float:
    r"""The prior precision of the grid under which held-out labels are most likely.

    The predictive is the probit approximation, the softmax of
    :math:`f_c / \sqrt{1 + \pi V_{cc} / 8}`, as in laplace-torch's search.
    """
    scores = []
    for precision in GRID:
        variance = weights.with_prior(precision).variance(features)
        scores.append(log_likelihood(logits / np.sqrt(1 + np.pi / 8 * variance), label))
    return float(GRID[int(np.argmax(scores))])


STRUCTURES = {"full": Full, "kron": Kronecker, "diag": Diagonal}
ENGINES = ("structured", "laplace-torch")
TUNED = ("marginal-likelihood", "validation")
# How far the best linear function of the features may be from 1 before a bias shows; and how far
# logits may be from linear by the rounding of a float32 network.
TELLING, ROUNDING = 1e-3, 1e-6


def last_layer_laplace(
    features: Any,
    logits: Any,
    prior_precision: float | str,
    structure: str = "kron",
    engine: str = "structured",
    *,
    weight: Any = None,
    bias: Any = None,
    label: Any = None,
    validation: tuple[Any, Any, Any] | None = None,
) -> LaplacePosterior:
    r"""Make the last layer of a trained network a Gaussian over weights.

    With features :math:`\varphi_n`, logits :math:`f_n = W \varphi_n + b` and their softmax
    :math:`p_n`, the posterior's precision is :math:`G + \delta I`. Here G is the Gauss-Newton
    matrix of the cross-entropy summed over the reference model's own training records, which for
    a last layer is its Hessian: :math:`G = \sum_n \Lambda_n \otimes [\varphi_n, 1]
    [\varphi_n, 1]^\top` with :math:`\Lambda_n = \mathrm{diag}(p_n) - p_n p_n^\top`.

    Parameters
    ----------
    features : array of shape (records, width)
        What the last layer reads, on the records the network was trained on; finite.
    logits : array of shape (records, classes)
        What it answers there.
    prior_precision : float, or {"marginal-likelihood", "validation"}
        :math:`\delta`, positive: the inverse variance of the prior of every weight and bias.
        "marginal-likelihood" maximises Laplace's approximation of it and needs `weight`, `bias`
        and `label`; "validation" takes the value of a grid from 1e-4 to 1e4 under which held-out
        labels are most likely, and needs `validation`.
    structure : {"full", "kron", "diag"}
        "full": G itself. "diag": its diagonal. "kron": for the weights the product
        :math:`Q \otimes A` with :math:`Q = \sum_n \Lambda_n` and A the mean of
        :math:`\varphi_n \varphi_n^\top`, for the biases Q, and nothing between the two
        (laplace-torch's convention); :math:`\delta` is added to its eigenvalues.
    engine : {"structured", "laplace-torch"}
        "structured": the algebra of the last layer, exact and fast. "laplace-torch": the library,
        with its own optimiser (Adam, 100 steps) for the marginal likelihood; needs `weight` and
        `bias`.
    weight, bias : array of shape (classes, width) and (classes,), optional
        Of the last layer; weight alone of one without a bias. Where neither is given, a layer
        has no bias if its logits are linear in the features without one.
    label : array of int, shape (records,), optional
        Of the same records.
    validation : (features, logits, label), optional
        Of held-out records.

    Returns
    -------
    LaplacePosterior
        Its attribute ``doubt`` says, as a warning does, where a tuned prior precision lies at the
        edge of its grid or means nothing.

    Raises
    ------
    InputError
        Shapes disagree, entries are not finite, the prior precision is not positive, something
        it needs is missing, the features and logits do not tell whether there is a bias, the
        structure or the engine is unknown; or, for "full", there are fewer records than parameters
        a class (then some directions of the weights have no data, and the prior alone would answer
        there) or too little memory.

    Notes
    -----
    The network should be the mode of its posterior. One trained with weight decay on the *mean*
    loss is the mode for delta = records * weight decay, whatever the marginal likelihood prefers.
    """
    features, logits = _checked("", features, logits)
    one_of("structure", structure, STRUCTURES)
    one_of("engine", engine, ENGINES)
    layer = _checked_layer(weight, bias, features, logits)
    if label is not None:
        label = as_classes("label", label, *logits.shape)
    _check_prior(prior_precision, layer, label, validation)
    held_out = _checked_validation(validation, (features.shape[1], logits.shape[1]))
    has_bias = _needs_bias(features, logits) if layer is None else layer[1] is not None
    if structure == "full":
        _check_full(features, logits.shape[1], has_bias)
    if engine == "laplace-torch":
        weights = _laplace_torch(features, layer, label, structure)
    else:
        weights = STRUCTURES[structure].fit(features, softmax(logits, axis=1), has_bias)
    marginal_likelihood = _marginal_likelihood(weights, layer, logits, label)
    if prior_precision == "marginal-likelihood":
        precision = marginal_likelihood.best()
    elif prior_precision == "validation" and held_out is not None:
        precision = best_on_validation(weights, *held_out)
    else:
        precision = float(prior_precision)
    doubt = doubt_of(prior_precision, precision, layer)
    if doubt:
        warnings.warn(doubt, stacklevel=2)
    return LaplacePosterior(
        structure,
        engine,
        precision,
        None if marginal_likelihood is None else marginal_likelihood(precision),
        weights.with_prior(precision),
        layer,
        (features.shape[1], logits.shape[1]),
        doubt,
    )


def _laplace_torch(features: FloatArray, layer: Any, label: Any, structure: str) -> Any:
    if layer is None:
        raise InputError(
            "engine = 'laplace-torch': give weight and bias of the last layer too, weight alone "
            "where it has no bias"
        )
    # Imported where it is used: the library takes seconds to import.
    with extra("laplace"):
        from membership.curvature.laplace_torch import LaplaceTorch

    weight, bias = layer
    return LaplaceTorch.fit(features, weight, bias, label, structure)


def _marginal_likelihood(weights: Any, layer: Any, logits: FloatArray, label: Any) -> Any:
    """The marginal likelihood as a function of the prior precision, where it is known."""
    if layer is None or label is None:
        return None
    if not isinstance(weights, tuple(STRUCTURES.values())):
        return weights.marginal_likelihood()
    return MarginalLikelihood(weights, _squared_norm(layer), log_likelihood(logits, label))


def _squared_norm(layer: Any) -> float:
    return sum(float(np.square(part).sum()) for part in layer if part is not None)


def _checked(name: str, features: Any, logits: Any) -> tuple[FloatArray, FloatArray]:
    """Features and logits of the same records."""
    features = as_float64(f"{name}features", features, 2)
    logits = as_float64(f"{name}logits", logits, 2)
    if len(features) != len(logits) or logits.shape[1] < 2:
        raise InputError(
            f"{name}features of shape {features.shape} with logits of shape {logits.shape}: "
            "expected (records, width) and (records, classes), and at least two classes"
        )
    return features, logits


def _checked_layer(
    weight: Any, bias: Any, features: FloatArray, logits: FloatArray
) -> tuple[FloatArray, FloatArray | None] | None:
    """The layer's weight and bias, seen to give these logits; None where neither was given."""
    if weight is None and bias is None:
        return None
    if weight is None:
        raise InputError("bias is given without weight; give both, or weight alone if it has none")
    weight = as_float64("weight", weight, 2)
    bias = None if bias is None else as_float64("bias", bias, 1)
    classes, width = logits.shape[1], features.shape[1]
    if weight.shape != (classes, width) or (bias is not None and bias.shape != (classes,)):
        of_bias = "no bias" if bias is None else f"bias {bias.shape}"
        raise InputError(
            f"weight has shape {weight.shape}, {of_bias}; features and logits ask for "
            f"({classes}, {width}) and ({classes},)"
        )
    difference = np.abs(linear(features, weight, bias) - logits).max()
    # Logits of a float32 network carry rounding; another layer's are off by their own size.
    if difference > 1e-3 * (1 + np.abs(logits).max()):
        formula = "features @ weight.T" + ("" if bias is None else " + bias")
        raise InputError(
            f"logits differ from {formula} by up to {difference:.3g}; give weight and, where it "
            "has one, bias of the same layer, and the same records"
        )
    return weight, bias


def _needs_bias(features: FloatArray, logits: FloatArray) -> bool:
    """Whether logits whose layer was not given are no linear function of the features alone."""
    some = slice(None, None, max(1, len(features) // (4 * features.shape[1] + 100)))
    wanted = np.hstack([np.ones((len(features), 1)), logits])[some]
    found = np.linalg.lstsq(features[some], wanted, rcond=None)[0]
    one, *left = np.abs(wanted - features[some] @ found).max(axis=0)
    if one < TELLING:
        raise InputError(
            f"features of shape {features.shape} and their logits do not tell whether the layer "
            "has a bias; give weight, and bias if it has one"
        )
    return max(left) > ROUNDING * np.abs(logits).max()


def _check_prior(prior_precision: Any, layer: Any, label: Any, validation: Any) -> None:
    if isinstance(prior_precision, str):
        if prior_precision not in TUNED:
            raise InputError(
                f"prior_precision = {prior_precision!r}: expected a positive number or one of "
                f"{', '.join(TUNED)}"
            )
        if prior_precision == "marginal-likelihood" and (layer is None or label is None):
            raise InputError(
                "prior_precision = 'marginal-likelihood': give weight, bias and label too"
            )
        if prior_precision == "validation" and validation is None:
            raise InputError(
                "prior_precision = 'validation': give validation = (features, logits, label)"
            )
        return
    is_number = isinstance(prior_precision, Real) and not isinstance(prior_precision, bool)
    if not is_number or not 1e-300 <= float(prior_precision) <= 1e300:
        raise InputError(
            f"prior_precision = {prior_precision!r}: expected a positive number (1e-300 to 1e300) "
            f"or one of {', '.join(TUNED)}"
        )


def _checked_validation(validation: Any, shape: tuple[int, int]) -> tuple | None:
    """Held-out features, logits and labels, of the same width and classes as the others."""
    if validation is None:
        return None
    if not isinstance(validation, tuple | list) or len(validation) != 3:
        raise InputError(
            "validation: expected the three arrays (features, logits, label) of held-out records"
        )
    features, logits = _checked("validation ", *validation[:2])
    if (features.shape[1], logits.shape[1]) != shape:
        raise InputError(
            f"validation has {features.shape[1]} features and {logits.shape[1]} classes; the "
            f"reference has {shape[0]} and {shape[1]}"
        )
    return features, logits, as_classes("validation label", validation[2], *logits.shape)


def _check_full(features: FloatArray, n_classes: int, has_bias: bool) -> None:
    n_records, width = features.shape[0], features.shape[1] + has_bias
    if n_records < width:
        raise InputError(
            f"features has {n_records} records for {width} parameters a class; structure = "
            "'full' needs at least as many records; take kron or diag"
        )
    parameters = n_classes * width
    memory.require(
        MATRICES * 8 * parameters**2,
        f"structure = 'full' with {parameters} parameters ({MATRICES} matrices)",
        "take kron or diag",
    )
