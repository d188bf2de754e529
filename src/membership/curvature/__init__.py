"""Curvature of the training loss, and the Laplace posteriors that follow from it."""

from membership.curvature.laplace import last_layer_laplace
from membership.curvature.laplace_posterior import LaplacePosterior
from membership.curvature.last_layer import LastLayer, last_layer

__all__ = [
    "LaplacePosterior",
    "LastLayer",
    "last_layer",
    "last_layer_laplace",
]
