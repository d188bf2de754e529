"""The attacks: from what an adversary knows to one score a record, higher meaning "member"."""

from membership.attacks.bayes_optimal import malt, mast, matt, zero_one
from membership.attacks.glir import glir, glir_steps, gradient_moments

__all__ = ["glir", "glir_steps", "gradient_moments", "malt", "mast", "matt", "zero_one"]
