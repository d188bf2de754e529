"""The attacks: from what an adversary knows to one score a record, higher meaning "member"."""

from membership.attacks.bayes_optimal import malt, mast, matt, zero_one
from membership.attacks.glir import glir, glir_steps, gradient_moments
from membership.attacks.lira import lira
from membership.attacks.ranks import attack_p, attack_r
from membership.attacks.rmia import rmia, rmia_tune

__all__ = [
    "attack_p",
    "attack_r",
    "glir",
    "glir_steps",
    "gradient_moments",
    "lira",
    "malt",
    "mast",
    "matt",
    "rmia",
    "rmia_tune",
    "zero_one",
]
