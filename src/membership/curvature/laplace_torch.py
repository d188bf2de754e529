"""laplace-torch behind the interface of the structured posteriors.

The library forms the Jacobian of every record's logits, an array of (classes, parameters). It is
the reference that the structured algebra is tested against.
"""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from membership.arrays import FloatArray
from membership.curvature.laplace_structures import Structure

with warnings.catch_warnings():
    # What the library imports uses parts of torch that are on their way out.
    warnings.simplefilter("ignore", (DeprecationWarning, FutureWarning))
    from laplace import Laplace
    from laplace.curvature import BackPackGGN

JACOBIAN_BYTES = 2**27
RECORDS_AT_ONCE = 512


@dataclass(frozen=True)
class LaplaceTorch(Structure):
    """A fitted posterior of laplace-torch; the methods are those of `laplace_structures`."""

    fitted: Any
    n_classes: int
    batch_size: int

    @classmethod
    def fit(
        cls,
        features: FloatArray,
        weight: FloatArray,
        bias: FloatArray | None,
        label: Any,
        structure: str,
    ) -> Self:
        """Fit the library's last-layer posterior to a linear layer that reads the features.

        BackPACK computes the curvature, since curvlinops' full one passes through float32.
        """
        n_classes, width = weight.shape
        layer = nn.Linear(width, n_classes, bias=bias is not None, dtype=torch.float64)
        with torch.no_grad():
            layer.weight.copy_(torch.tensor(weight))
            if bias is not None:
                layer.bias.copy_(torch.tensor(bias))
        # The library refuses a network of one layer.
        model = nn.Sequential(nn.Identity(), layer)
        fitted = Laplace(
            model,
            "classification",
            subset_of_weights="last_layer",
            hessian_structure=structure,
            backend=BackPackGGN,
        )
        batch_size = max(1, JACOBIAN_BYTES // (8 * n_classes**2 * (width + 1)))
        # The likelihood depends on the labels, the curvature does not.
        y = np.zeros(len(features), dtype=np.int64) if label is None else label
        records = TensorDataset(torch.tensor(features), torch.tensor(y))
        at_once = batch_size if structure == "full" else RECORDS_AT_ONCE
        with warnings.catch_warnings():
            # BackPACK hooks every layer, the identity too, whose inputs need no gradient.
            warnings.filterwarnings("ignore", "Full backward hook is firing", UserWarning)
            fitted.fit(DataLoader(records, batch_size=at_once))
        return cls(fitted, n_classes, batch_size)

    def marginal_likelihood(self) -> "LibraryLikelihood":
        """The marginal likelihood as the library computes and maximises it."""
        return LibraryLikelihood(self.fitted)

    def variance(self, features: FloatArray) -> FloatArray:
        """Of each logit, (records, classes)."""
        return np.concatenate([np.einsum("ncc->nc", part) for part in self._parts(features)])

    def covariance(self, features: FloatArray) -> FloatArray:
        """Of the logits, (records, classes, classes): the library's GLM predictive."""
        return np.concatenate(list(self._parts(features)))

    def difference_variance(self, features: FloatArray, first, second) -> FloatArray:
        """Of the difference of two logits, (records,)."""
        v, rows = self.covariance(features), np.arange(len(features))
        return v[rows, first, first] + v[rows, second, second] - 2 * v[rows, first, second]

    def logit_noise(self, features: FloatArray, n_samples: int, rng) -> FloatArray:
        """What drawn weights add to the logits, (n_samples, records, classes)."""
        self.fitted.prior_precision = self.prior_precision
        generator = torch.Generator().manual_seed(int(rng.integers(2**31)))
        drawn = self.fitted.sample(n_samples, generator) - self.fitted.mean
        n_weights = self.n_classes * features.shape[1]
        weights = drawn[:, :n_weights].reshape(n_samples, self.n_classes, -1).numpy()
        noise, biases = features @ weights.transpose(0, 2, 1), drawn[:, None, n_weights:].numpy()
        return noise + biases if biases.size else noise

    def _parts(self, features: FloatArray) -> Iterator[FloatArray]:
        """The covariance of a few records at a time."""
        # Every posterior of one fit shares the library's object, whose prior is its own state.
        self.fitted.prior_precision = self.prior_precision
        for part in torch.tensor(features).split(self.batch_size):
            jacobians, _ = self.fitted.backend.last_layer_jacobians(part)
            yield self.fitted.functional_variance(jacobians).detach().numpy()


@dataclass(frozen=True)
class LibraryLikelihood:
    """laplace-torch's log marginal likelihood, a function of the prior precision."""

    fitted: Any

    def __call__(self, precision: float) -> float:
        """The log marginal likelihood under a prior precision, in nats."""
        prior = torch.tensor([precision], dtype=torch.float64)
        return float(self.fitted.log_marginal_likelihood(prior))

    def best(self, steps: int = 100) -> float:
        """The library's own optimiser: Adam on log delta from delta = 1, at its rate of 0.1.

        Its default of 100 steps stops near the optimum, not at it.
        """
        with warnings.catch_warnings():
            # A reminder about predictions, which are not made here.
            warnings.filterwarnings("ignore", "By default `link_approx`", UserWarning)
            self.fitted.optimize_prior_precision(
                pred_type="glm", method="marglik", n_steps=steps, prior_structure="scalar"
            )
        return float(self.fitted.prior_precision)
