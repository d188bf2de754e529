"""The attacks: from what an adversary knows to one score a record, higher meaning "member"."""

from membership.attacks.bayes_optimal import malt, mast, matt, zero_one
from membership.attacks.bmia import bmia, bmia_mixture, bmia_p_value, bmia_sampled, difference
from membership.attacks.gaussian_hinge import runner_up, sampled_hinge
from membership.attacks.glir import glir, glir_steps, gradient_moments

__all__ = [
    "bmia",
    "bmia_mixture",
    "bmia_p_value",
    "bmia_sampled",
    "difference",
    "glir",
    "glir_steps",
    "gradient_moments",
    "malt",
    "mast",
    "matt",
    "runner_up",
    "sampled_hinge",
    "zero_one",
]
