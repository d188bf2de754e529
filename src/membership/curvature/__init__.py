"""Curvature of a trained model's loss: gradients, Hessians, solutions, Laplace posteriors."""

from membership.curvature.eigen import Spectrum, conditioned_inverse, spectrum
from membership.curvature.gradients import per_record_gradients
from membership.curvature.hessians import hessian
from membership.curvature.laplace import last_layer_laplace
from membership.curvature.laplace_posterior import LaplacePosterior
from membership.curvature.last_layer import LastLayer, last_layer

__all__ = [
    "LaplacePosterior",
    "LastLayer",
    "Spectrum",
    "conditioned_inverse",
    "hessian",
    "last_layer",
    "last_layer_laplace",
    "per_record_gradients",
    "spectrum",
]
