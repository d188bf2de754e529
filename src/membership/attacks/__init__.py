"""The attacks: from what an adversary knows to one score a record, higher meaning "member"."""

from membership.attacks.adversary import Observed, observe
from membership.attacks.bavaria import bavaria
from membership.attacks.bayes_optimal import loss, malt, mast, matt, matt_from_log_odds, zero_one
from membership.attacks.bmia import (
    bmia,
    bmia_from_moments,
    bmia_mixture,
    bmia_p_value,
    bmia_sampled,
    runner_up,
    sampled_hinge,
)
from membership.attacks.forms import quadratic_forms, sif, sif_from_forms
from membership.attacks.glir import glir, glir_from_distance, glir_steps
from membership.attacks.iha import IHAScore, iha, iha_from_forms
from membership.attacks.learned import learned, qmia, shadow
from membership.attacks.lira import lira
from membership.attacks.references import attack_p, attack_r, difference
from membership.attacks.registry import (
    Attack,
    Scores,
    ScoreTable,
    declare,
    registry,
    requirements,
    score_table,
    scores,
)
from membership.attacks.residual import residual, residual_from_forms
from membership.attacks.rmia import rmia, rmia_ratio, rmia_tune
from membership.attacks.sequence import lira_sequence
from membership.attacks.words import KNOWLEDGE, Knowledge, References

__all__ = [
    "KNOWLEDGE",
    "Attack",
    "IHAScore",
    "Knowledge",
    "Observed",
    "References",
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
    "declare",
    "difference",
    "glir",
    "glir_from_distance",
    "glir_steps",
    "iha",
    "iha_from_forms",
    "learned",
    "lira",
    "lira_sequence",
    "loss",
    "malt",
    "mast",
    "matt",
    "matt_from_log_odds",
    "observe",
    "qmia",
    "quadratic_forms",
    "registry",
    "requirements",
    "residual",
    "residual_from_forms",
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
    "zero_one",
]
