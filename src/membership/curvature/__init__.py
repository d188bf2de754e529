"""Curvature of a trained model's loss: gradients, Hessians, and what is solved with them."""

from membership.curvature.eigen import Spectrum, conditioned_inverse, spectrum
from membership.curvature.gradients import per_record_gradients
from membership.curvature.hessians import hessian

__all__ = ["Spectrum", "conditioned_inverse", "hessian", "per_record_gradients", "spectrum"]
