"""The last layer of a network: what it reads and answers, and a Gaussian over its weights."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from scipy.special import softmax
from torch import nn

from membership import memory, networks
from membership.arrays import FloatArray, as_float64, one_of, whole
from membership.errors import InputError

# How many roundings of each summand a plain layer's answer may be away: some have errors that grow
# with the root of the width.
ROUNDINGS = 16


@dataclass(frozen=True)
class LastLayer:
    """A network's last layer on some records, in float64.

    Attributes
    ----------
    features : ndarray of shape (records, width)
        What the layer reads.
    logits : ndarray of shape (records, classes)
        ``features @ weight.T + bias``, the model's own answers.
    weight : ndarray of shape (classes, width)
    bias : ndarray of shape (classes,) or None
        None where the layer has none.
    """

    features: FloatArray
    logits: FloatArray
    weight: FloatArray
    bias: FloatArray | None


def linear(features: FloatArray, weight: FloatArray, bias: FloatArray | None) -> FloatArray:
    """What a linear layer answers."""
    return features @ weight.T if bias is None else features @ weight.T + bias


def last_layer(model: nn.Module, x: Any, batch_size: int = 1024, layer: str = "") -> LastLayer:
    """Read a network's last linear layer on some records.

    Parameters
    ----------
    model : nn.Module
        Ends in a linear layer; read in evaluation mode, and left as it was.
    x : array_like of shape (records, ...)
        The records, finite, whole where the model reads whole numbers.
    batch_size : int
        Records at a time, at least 1.
    layer : str
        The name of that layer, as in ``dict(model.named_modules())``; empty for the networks of
        `membership.models`, where it is ``classifier``.

    Returns
    -------
    LastLayer
        The features are computed in the model's own precision, the logits from them in float64.

    Raises
    ------
    InputError
        There is no such layer, it is not linear or not the last, something is put on it (a hook,
        an adapter, a norm) so that it answers otherwise than its weight and bias say, the model
        does not take the records, or they or the features are not finite.

    Notes
    -----
    Where the weights are another layer's too, as a language model's embeddings may be, the features
    are what they are at these weights.

    Examples
    --------
    >>> import torch
    >>> from membership import curvature
    >>> model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
    >>> last = curvature.last_layer(model, torch.zeros(5, 4), layer="2")
    >>> last.features.shape, last.logits.shape
    ((5, 8), (5, 3))
    """
    if not isinstance(model, nn.Module):
        raise InputError(f"model = {type(model).__name__}: expected a torch nn.Module")
    classifier = model if isinstance(model, nn.Linear) else _named(model, layer or "classifier")
    whole("batch_size", batch_size)
    with networks.evaluated(model):
        x = networks.as_read(model, x)
        if not torch.isfinite(x).all():
            raise InputError("x: some values are not finite (NaN or infinity); clean them first")
        parts = [_read(model, classifier, part.clone()) for part in x.split(batch_size)]
        features = torch.cat(parts).cpu().double().numpy()
        weight, bias = _numbers(classifier.weight), _numbers(classifier.bias)
    if not np.isfinite(features).all():
        raise InputError("model: some of its features are not finite; its training has diverged")
    return LastLayer(features, linear(features, weight, bias), weight, bias)


def _numbers(values: torch.Tensor | None) -> Any:
    return None if values is None else values.cpu().double().numpy().copy()


def _named(model: nn.Module, layer: str) -> nn.Linear:
    """A linear layer by its name."""
    chosen = dict(model.named_modules()).get(layer)
    if isinstance(chosen, nn.Linear):
        return chosen
    linear = [name for name, part in model.named_modules() if isinstance(part, nn.Linear)]
    raise InputError(
        f"layer = {layer!r} is no linear layer of this {type(model).__name__}; "
        f"its linear layers are: {', '.join(linear) or 'none'}"
    )


def _read(model: nn.Module, classifier: nn.Linear, x: torch.Tensor) -> torch.Tensor:
    """What the layer reads of some records, where the model's answer is linear in it."""
    seen: list[tuple[torch.Tensor, torch.Tensor]] = []

    def see(_, given: tuple, named: dict, out: torch.Tensor) -> None:
        seen.append(((*given, *named.values())[0], out))

    hook = classifier.register_forward_hook(see, with_kwargs=True)
    try:
        answer = networks.answered(model, x)
    finally:
        hook.remove()
    read, given = seen[0] if len(seen) == 1 else (answer, answer[:0])
    # Some models answer in another precision than their layer, or without the axis of one logit.
    last = given.numel() == answer.numel() and torch.equal(
        given.double().flatten(), answer.double().flatten()
    )
    if not last and not (len(seen) == 1 and not torch.isfinite(answer).all()):
        raise InputError(
            "layer: the model's answer is not what this layer gives; name its last linear layer, "
            "and leave out a softmax behind it"
        )
    if torch.isfinite(answer).all():
        _require_linear(classifier, read, given)
    return read


def _require_linear(classifier: nn.Linear, read: torch.Tensor, given: torch.Tensor) -> None:
    """Raise an InputError where a layer answers otherwise than its weight and bias say."""
    bias = None if classifier.bias is None else classifier.bias.cpu().double()
    features, weight = read.cpu().double(), classifier.weight.cpu().double()
    expected = nn.functional.linear(features, weight, bias)
    size = nn.functional.linear(features.abs(), weight.abs(), bias if bias is None else bias.abs())
    apart = (expected - given.cpu().double()).abs()
    if (apart > ROUNDINGS * torch.finfo(given.dtype).eps * size).any():
        raise InputError(
            f"layer: it answers otherwise than its weight and bias say, by up to {apart.max():.2g} "
            f"of {given.abs().max():.2g} ({type(classifier).__name__}; a subclass, a hook or an "
            "adapter does more); merge that into weight and bias, or do it before the layer"
        )


@dataclass(frozen=True)
class LaplacePosterior:
    """A Gaussian over a last layer's weights and biases, if it has such, seen through its logits.

    Made by `last_layer_laplace`. The logits are linear in these weights, so that their law at a
    record is Gaussian exactly, with the network's own logits for a mean.

    Attributes
    ----------
    structure : {"full", "kron", "diag"}
    engine : {"structured", "laplace-torch"}
    prior_precision : float
        The inverse of the prior variance of every weight and bias.
    log_marginal_likelihood : float or None
        Laplace's approximation at that prior precision, in nats; None where the weights or the
        labels were not given.
    weights : object
        The law of the weights, in the form that the structure and the engine give it.
    layer : (weight, bias or None) or None
        The mean of that law, where it was given.
    shape : (width, classes)
        Of the layer.
    doubt : str
        A sentence where a tuned prior precision means little: it lies at the edge of its grid, or
        the data determine less than one parameter. Empty otherwise.
    """

    structure: str
    engine: str
    prior_precision: float
    log_marginal_likelihood: float | None
    weights: Any = field(repr=False)
    layer: tuple[FloatArray, FloatArray | None] | None = field(repr=False)
    shape: tuple[int, int] = field(repr=False)
    doubt: str = ""

    def mean(self, features: Any) -> FloatArray:
        """The mean of the logits, which is the network's own answer.

        Parameters
        ----------
        features : array of shape (records, width)

        Returns
        -------
        ndarray of shape (records, classes)

        Raises
        ------
        InputError
            The features do not fit, or the posterior was made without the layer's weight.
        """
        if self.layer is None:
            raise InputError(
                "the layer was not given to last_layer_laplace; give weight, and bias if it has one"
            )
        return linear(self._checked(features), *self.layer)

    def variance(self, features: Any) -> FloatArray:
        """The variance of each logit, (records, classes); as `covariance`."""
        return self.weights.variance(self._checked(features))

    def covariance(self, features: Any) -> FloatArray:
        """The covariance of the logits.

        Parameters
        ----------
        features : array of shape (records, width)
            Of the records to query, finite.

        Returns
        -------
        ndarray of shape (records, classes, classes)

        Raises
        ------
        InputError
            The features do not fit, or the answer does not fit in memory.
        """
        features, classes = self._checked(features), self.shape[1]
        memory.require(
            8 * len(features) * classes**2,
            f"the covariance of {classes} logits at {len(features)} records",
            "query fewer records at once, or take difference_variance",
        )
        return self.weights.covariance(features)

    def difference_variance(self, features: Any, first: Any, second: Any) -> FloatArray:
        """The variance of the difference of two logits, without the whole covariance.

        Parameters
        ----------
        features : array of shape (records, width)
        first, second : array of int, shape (records,)
            The two classes at each record, for instance the label and the runner-up.

        Returns
        -------
        ndarray of shape (records,)
            ``V[first, first] + V[second, second] - 2 V[first, second]``.

        Raises
        ------
        InputError
            The features or the classes do not fit.
        """
        features = self._checked(features)
        first = as_classes("first", first, len(features), self.shape[1])
        second = as_classes("second", second, len(features), self.shape[1])
        return self.weights.difference_variance(features, first, second)

    def sample(
        self, features: Any, n_samples: int, seed: int = 0, method: str = "mc"
    ) -> FloatArray:
        """Draw logits.

        At each record the two methods draw from the same law; they differ in what the records
        share.

        Parameters
        ----------
        features : array of shape (records, width)
        n_samples : int
            2 or more.
        seed : int
            0 or more.
        method : {"mc", "lln"}
            "mc": each sample is one draw of the weights, shared by all records (Monte Carlo over
            the weights). "lln": each record's logits are drawn by themselves from their Gaussian
            (the paper's linearised network).

        Returns
        -------
        ndarray of shape (n_samples, records, classes)

        Raises
        ------
        InputError
            The features do not fit, fewer than two samples, an unknown method, the posterior was
            made without the layer's weight, or the answer does not fit in memory.
        """
        whole("n_samples", n_samples, least=2)
        one_of("method", method, ("mc", "lln"))
        mean = self.mean(features)
        memory.require(
            2 * 8 * n_samples * mean.size,
            f"{n_samples} samples of {mean.shape[1]} logits at {len(mean)} records",
            "query fewer records at once",
        )
        draw = self.weights.logit_noise if method == "mc" else self.weights.linearised_noise
        noise = draw(self._checked(features), n_samples, np.random.default_rng(seed))
        return noise + mean

    def probabilities(
        self, features: Any, method: str = "probit", n_samples: int = 1000, seed: int = 0
    ) -> FloatArray:
        r"""The predictive probability of each class, the posterior's mean of the softmax.

        Parameters
        ----------
        features : array of shape (records, width)
        method : {"probit", "mc"}
            "probit": the softmax of the logits' means :math:`\mu`, each over
            :math:`\sqrt{1 + \pi v / 8}` with v its variance (MacKay 1992, as laplace-torch has it
            for several classes). "mc": the mean over samples, each record's drawn by itself.
        n_samples, seed : int
            As for `sample`, of "mc".

        Returns
        -------
        ndarray of shape (records, classes)

        Raises
        ------
        InputError
            As `sample`.
        """
        one_of("method", method, ("probit", "mc"))
        if method == "mc":
            return softmax(self.sample(features, n_samples, seed, "lln"), axis=2).mean(0)
        spread = np.sqrt(1 + np.pi / 8 * self.variance(features))
        return softmax(self.mean(features) / spread, axis=1)

    def _checked(self, features: Any) -> FloatArray:
        features = as_float64("features", features, 2)
        if features.shape[1] != self.shape[0]:
            raise InputError(
                f"features has {features.shape[1]} columns; the last layer reads {self.shape[0]}"
            )
        return features


def as_classes(name: str, values: Any, n_records: int, n_classes: int) -> np.ndarray:
    """Check one class a record."""
    given = as_float64(name, values, 1)
    classes = given.astype(np.int64)
    if given.shape != (n_records,) or (classes != given).any():
        raise InputError(f"{name} has shape {given.shape}; give one class for {n_records} records")
    if classes.min() < 0 or classes.max() >= n_classes:
        raise InputError(
            f"{name}: classes {classes.min()} to {classes.max()} do not fit logits of {n_classes} "
            "classes; was the reference trained on the same classes as the target?"
        )
    return classes
