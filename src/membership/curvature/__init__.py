"""Curvature of a trained model's loss: gradients, Hessians, solutions, Laplace posteriors."""

from membership.curvature.eigen import Spectrum, conditioned_inverse, spectrum
from membership.curvature.epochs import epochs_variance
from membership.curvature.gradients import (
    WhiteBoxView,
    gradient_parts,
    per_record_gradients,
    white_box_view,
)
from membership.curvature.hessians import ggn, hessian
from membership.curvature.inverse import least_damping
from membership.curvature.laplace import last_layer_laplace
from membership.curvature.last_layer import LaplacePosterior, LastLayer, last_layer
from membership.curvature.noise import (
    Moments,
    gradient_moments,
    least_loss_share,
    loss_share,
    whitening,
)

__all__ = [
    "LaplacePosterior",
    "LastLayer",
    "Moments",
    "Spectrum",
    "WhiteBoxView",
    "conditioned_inverse",
    "epochs_variance",
    "ggn",
    "gradient_moments",
    "gradient_parts",
    "hessian",
    "last_layer",
    "last_layer_laplace",
    "least_damping",
    "least_loss_share",
    "loss_share",
    "per_record_gradients",
    "spectrum",
    "white_box_view",
    "whitening",
]
