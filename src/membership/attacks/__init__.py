"""The attacks: from what an adversary knows to one score a record, higher meaning "member"."""

from membership.attacks.bayes_optimal import malt, mast, matt, zero_one

__all__ = ["malt", "mast", "matt", "zero_one"]
