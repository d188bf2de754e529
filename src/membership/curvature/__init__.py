"""Curvature of a trained model's loss: gradients, Hessians, solutions, Laplace posteriors."""

from membership.curvature.eigen import Spectrum, conditioned_inverse, spectrum
from membership.curvature.gradients import per_record_gradients
from membership.curvature.hessians import hessian
from membership.curvature.laplace import last_layer_laplace
from membership.curvature.laplace_posterior import LaplacePosterior
from membership.curvature.last_layer import LastLayer, last_layer
from membership.curvature.moments import Moments, gradient_moments, whitening
from membership.curvature.one_loss import least_loss_share, loss_share
from membership.curvature.white_box import WhiteBoxView, white_box_view

__all__ = [
    "LaplacePosterior",
    "LastLayer",
    "Moments",
    "Spectrum",
    "WhiteBoxView",
    "conditioned_inverse",
    "gradient_moments",
    "hessian",
    "last_layer",
    "last_layer_laplace",
    "least_loss_share",
    "loss_share",
    "per_record_gradients",
    "spectrum",
    "white_box_view",
    "whitening",
]
