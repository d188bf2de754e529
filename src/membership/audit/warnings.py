"""What is wrong with an audit's data as far as the data show it."""

import numpy as np

from membership.audit.reading import Scored
from membership.metrics import auc_interval

TIED = 0.05


def of_scores(scored: Scored, level: float) -> list[str]:
    """Warnings about scores, a sentence each."""
    found = []
    _, high = auc_interval(scored.score, scored.member, level)
    if high < 0.5:
        found.append(
            "Members score lower than non-members: higher must mean member. Was a loss passed in "
            "the place of its negative?"
        )
    _, counts = np.unique(scored.score, return_counts=True)
    if counts.max() > TIED * scored.score.size:
        found.append(
            f"{counts.max()} of {scored.score.size} records share one score. Ties count against "
            "the attack at low false-positive rates."
        )
    names, counts = np.unique(scored.record, return_counts=True)
    if counts.max() > 1:
        found.append(
            f"{int((counts > 1).sum())} records occur more than once ({names[counts.argmax()]}, "
            "for example). Copies are no independent trials: the intervals are too narrow, and a "
            "record that is both member and non-member has no truth."
        )
    share = scored.member.mean()
    if not 0.05 <= share <= 0.95:
        found.append(
            f"{100 * share:.1f}% of the records are members; the smaller side sets the precision."
        )
    return found
