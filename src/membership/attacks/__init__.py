"""The attacks: from what an adversary knows to one score a record, higher meaning "member"."""

from membership.attacks.bayes_optimal import malt, mast, matt, zero_one
from membership.attacks.bmia import bmia, bmia_mixture, bmia_p_value, bmia_sampled, difference
from membership.attacks.conditional import ConditionalNormal, ConditionalQuantiles
from membership.attacks.gaussian_hinge import runner_up, sampled_hinge
from membership.attacks.glir import glir, glir_steps, gradient_moments
from membership.attacks.iha import iha
from membership.attacks.iha_terms import IHAScore, iha_from_view
from membership.attacks.influence import sif, sif_from_view
from membership.attacks.lira import lira
from membership.attacks.qmia import fit_qmia, qmia
from membership.attacks.ranks import attack_p, attack_r
from membership.attacks.residual import residual, residual_from_view
from membership.attacks.rmia import rmia, rmia_tune
from membership.attacks.white_box import (
    OthersGradient,
    WhiteBoxView,
    others_gradient,
    white_box_view,
)

__all__ = [
    "ConditionalNormal",
    "ConditionalQuantiles",
    "IHAScore",
    "OthersGradient",
    "WhiteBoxView",
    "attack_p",
    "attack_r",
    "bmia",
    "bmia_mixture",
    "bmia_p_value",
    "bmia_sampled",
    "difference",
    "fit_qmia",
    "glir",
    "glir_steps",
    "gradient_moments",
    "iha",
    "iha_from_view",
    "lira",
    "malt",
    "mast",
    "matt",
    "others_gradient",
    "qmia",
    "residual",
    "residual_from_view",
    "rmia",
    "rmia_tune",
    "runner_up",
    "sampled_hinge",
    "sif",
    "sif_from_view",
    "white_box_view",
    "zero_one",
]
