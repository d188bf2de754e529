"""What is wrong with an audit's data as far as the data show it."""

from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from membership.arrays import BoolArray
from membership.audit.reading import Scored
from membership.audit.streams import in_parts
from membership.metrics import auc, auc_interval

TIED = 0.05
ONE_TARGET = "One target: the intervals are of this model, and say nothing of another training."
LOOKED_AT = 4000
"""Records that a classifier is shown which never sees the model."""


def of_scores(scored: Scored, level: float) -> list[str]:
    """Warnings about scores, a sentence each."""
    notes = not_read(scored.not_read)
    notes += of_attack(scored.score, auc_interval(scored.score, scored.member, level)[1])
    return notes + of_rows(scored.record, scored.member)


def not_read(columns: tuple[str, ...]) -> list[str]:
    """What was left of a file, where anything was."""
    if not columns:
        return []
    listed = ", ".join(name or "one without a name" for name in columns[:10])
    more = ", ..." if len(columns) > 10 else ""
    return [f"Columns of the file that an audit does not read: {listed}{more}."]


def of_attack(score: np.ndarray, highest: float) -> list[str]:
    """Warnings about one attack whose AUC is at most so high."""
    notes = []
    if highest < 0.5:
        notes.append(
            "Members score lower than non-members: higher must mean member. Was a loss passed in "
            "the place of its negative?"
        )
    _, counts = np.unique(score, return_counts=True)
    if counts.max() > TIED * score.size:
        notes.append(
            f"{counts.max()} of {score.size} records share one score. Ties count against "
            "the attack at low false-positive rates."
        )
    return notes


def of_rows(record: Any, member: BoolArray) -> list[str]:
    """Warnings about the records that were asked."""
    notes = []
    names, counts = np.unique(record, return_counts=True)
    if counts.max() > 1:
        notes.append(
            f"{int((counts > 1).sum())} records occur more than once ({names[counts.argmax()]}, "
            "for example). Copies are no independent trials: the intervals are too narrow, and a "
            "record that is both member and non-member has no truth."
        )
    share = member.mean()
    if not 0.05 <= share <= 0.95:
        notes.append(
            f"{100 * share:.1f}% of the records are members; the smaller side sets the precision."
        )
    return notes


def of_records(
    part: tuple[Any, np.ndarray],
    hashes: np.ndarray,
    member: BoolArray | None,
    held_hashes: np.ndarray | None = None,
) -> list[str]:
    """Warnings about the records of an audit, and about whom its model was trained on."""
    notes = []
    copies = len(hashes) - len(np.unique(hashes))
    if copies:
        notes.append(
            f"{copies} of {len(hashes)} records are copies of others. A copy of a member scores "
            "like a member: leave out duplicates before memberships are drawn."
        )
    if held_hashes is not None:
        seen = int(np.isin(held_hashes, hashes).sum())
        if seen:
            notes.append(
                f"{seen} of {len(held_hashes)} held records are among the records themselves, "
                "which models were trained on: attacks that compare with a population need others."
            )
    if member is not None:
        notes += _shift(*part, member)
    return notes


def _shift(x: Any, y: np.ndarray, member: BoolArray) -> list[str]:
    """Members that can be told from non-members without the model."""
    rows = np.random.default_rng(0).permutation(len(x))[:LOOKED_AT]
    if min(np.bincount(member[rows], minlength=2)) < 10:
        return []
    blind = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    shown = [one.reshape(len(one), -1) for one, _ in in_parts(x[rows], y[rows])]
    flat = np.c_[np.concatenate(shown).astype(np.float64), y[rows]]
    score = cross_val_predict(blind, flat, member[rows], cv=5, method="decision_function")
    low, _ = auc_interval(score, member[rows], 0.99)
    if low <= 0.5:
        return []
    return [
        "A classifier that never sees the model tells members from non-members with an AUC of "
        f"{auc(score, member[rows]):.2f}: they differ in more than membership, and every attack's "
        "number measures that too."
    ]
