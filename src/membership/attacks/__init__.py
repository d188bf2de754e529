"""The attacks: from what an adversary knows to one score a record, higher meaning "member"."""

from membership.attacks.bavaria import bavaria
from membership.attacks.bayes_optimal import loss, malt, mast, matt, matt_from_log_odds, zero_one
from membership.attacks.bmia import (
    bmia,
    bmia_from_moments,
    bmia_mixture,
    bmia_p_value,
    bmia_sampled,
    difference,
)
from membership.attacks.entry import KNOWLEDGE, Attack
from membership.attacks.forms import (
    iha_from_forms,
    quadratic_forms,
    residual_from_forms,
    sif_from_forms,
)
from membership.attacks.gaussian_hinge import runner_up, sampled_hinge
from membership.attacks.glir import glir, glir_from_distance, glir_steps
from membership.attacks.iha import iha
from membership.attacks.iha_terms import IHAScore, iha_from_view
from membership.attacks.influence import sif, sif_from_view
from membership.attacks.learned import learned
from membership.attacks.lira import lira
from membership.attacks.observed import Observed, observe
from membership.attacks.others import OthersGradient, others_gradient
from membership.attacks.qmia import qmia
from membership.attacks.ranks import attack_p, attack_r
from membership.attacks.registry import registry, requirements
from membership.attacks.residual import residual, residual_from_view
from membership.attacks.rmia import rmia, rmia_ratio, rmia_tune
from membership.attacks.scores import Scores, ScoreTable, score_table, scores
from membership.attacks.shadow import shadow

__all__ = [
    "KNOWLEDGE",
    "Attack",
    "IHAScore",
    "Observed",
    "OthersGradient",
    "ScoreTable",
    "Scores",
    "attack_p",
    "attack_r",
    "bavaria",
    "bmia",
    "bmia_from_moments",
    "bmia_mixture",
    "bmia_p_value",
    "bmia_sampled",
    "difference",
    "glir",
    "glir_from_distance",
    "glir_steps",
    "iha",
    "iha_from_forms",
    "iha_from_view",
    "learned",
    "lira",
    "loss",
    "malt",
    "mast",
    "matt",
    "matt_from_log_odds",
    "observe",
    "others_gradient",
    "qmia",
    "quadratic_forms",
    "registry",
    "requirements",
    "residual",
    "residual_from_forms",
    "residual_from_view",
    "rmia",
    "rmia_ratio",
    "rmia_tune",
    "runner_up",
    "sampled_hinge",
    "score_table",
    "scores",
    "shadow",
    "sif",
    "sif_from_forms",
    "sif_from_view",
    "zero_one",
]
