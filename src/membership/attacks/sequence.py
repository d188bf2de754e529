"""Several models of one training: checkpoints, or a model before and after an update.

A record that was trained on moves the answers of every checkpoint, and one that an update added
moves those of the model after it. Jagielski et al. (2023) combine attacks on such models.
"""

from typing import Any

import numpy as np

from membership.arrays import BoolArray, FloatArray, as_float64
from membership.attacks.adversary import Observed
from membership.attacks.lira import lira
from membership.attacks.references import (
    as_membership,
    difference,
    evened,
    require_models,
    side_of,
)
from membership.attacks.registry import BOTH, Attack, declare
from membership.errors import InputError

SEQUENCE = ("sequence.log_odds", "references.sequence.log_odds", "references.member")
# Directions in which checkpoints, or models, differ by less than rounding does say nothing.
ROUNDING, SAME = 1e-8, 1e-12


def lira_sequence(
    target: Any, reference: Any, reference_member: Any, variance: str = "global"
) -> FloatArray:
    r"""Score a record by its signals under several models of one training (LiRA of a sequence).

    The signals of a record under K checkpoints are taken for jointly normal, with one covariance
    for all records and sides, and a shift by membership that is so many times a common direction.
    Then the likelihood ratio depends on the signals through one number, a weighted sum of them.
    The weights are Fisher's, :math:`w = \Sigma^{-1} \delta`, from the deviations and the mean shift
    of all records under reference models; `lira` then judges the sum, record by record.

    A ratio with a shift and covariance of each record's own would estimate K of the one and
    K (K + 1) / 2 of the other from a handful of models, and finds fewer members than the last
    checkpoint alone does. Of the common ones, weights are learned of all records together.

    Parameters
    ----------
    target : array of shape (checkpoints, records)
        phi = log p_y / (1 - p_y) under the target's models, in their order; finite.
    reference : array of shape (models, checkpoints, records)
        The same under the checkpoints of each reference training.
    reference_member : bool array of shape (models, records)
        Which training had which record: from the start, or, where the question is who was added
        by an update, from that update.
    variance : {"global", "per-record"}
        As of `lira`, of the sum.

    Returns
    -------
    ndarray of shape (records,)
        A log-likelihood ratio in nats. With one checkpoint it is that of `lira`.

    Raises
    ------
    InputError
        Shapes disagree, entries are not finite, a record has too few models on a side, no two
        models of a side differ, or the mean shift is 0 at every checkpoint.

    Examples
    --------
    >>> import numpy as np
    >>> from membership import attacks
    >>> rng = np.random.default_rng(0)
    >>> member, hard = rng.random((17, 500)) < 0.5, rng.normal(size=(17, 1, 500))
    >>> before = hard + rng.normal(scale=0.1, size=(17, 1, 500))
    >>> phi = np.concatenate([before, hard + 0.2 * member[:, None]], axis=1)
    >>> score = attacks.lira_sequence(phi[0], phi[1:], member[1:])
    >>> bool((score[member[0]] > 0).mean() > 0.7)
    True
    """
    phi = as_float64("target", target, 2)
    references = as_float64("reference", reference, 3)
    if references.shape[1:] != phi.shape:
        raise InputError(
            f"reference has shape {references.shape}; give (models, {phi.shape[0]} checkpoints, "
            f"{phi.shape[1]} records)"
        )
    inside = as_membership(reference_member, (len(references), phi.shape[1]))
    weight = _weights(references, inside)
    summed = np.einsum("c,mcr->mr", weight, references)
    return lira(weight @ phi, summed, inside, variance=variance)


def _weights(references: FloatArray, inside: BoolArray) -> FloatArray:
    """One a checkpoint, of which the largest is 1 or -1; 0 where all models answer the same."""
    shift, apart = [], []
    for phi in np.moveaxis(references, 1, 0):
        phi, chosen = evened(phi, inside)
        require_models(chosen, "IN", 1)
        require_models(~chosen, "OUT", 1)
        member, other = side_of(phi, chosen), side_of(phi, ~chosen)
        shift.append((member.mean - other.mean).mean())
        apart.append((phi - np.where(chosen, member.mean, other.mean)).ravel())
    deviations = np.array(apart)
    spread = np.sqrt((deviations**2).mean(axis=1))
    # Where all models answer the same, as before an update, means are apart by rounding alone.
    same = spread <= SAME * np.abs(references).max(axis=(0, 2))
    per_spread = np.where(same, 0.0, 1 / np.where(same, 1.0, spread))
    scaled = deviations * per_spread[:, None]
    weight = np.linalg.lstsq(scaled @ scaled.T, np.array(shift) * per_spread, rcond=ROUNDING)[0]
    weight *= per_spread
    if not weight.any():
        raise InputError("reference: members and others have the same mean at every checkpoint")
    return weight / np.abs(weight).max()


def _difference(seen: Observed) -> FloatArray:
    phi = seen[SEQUENCE[0]]
    return difference(phi[-1], phi[0])


declare(
    Attack(
        name="lira-sequence",
        display="LiRA of the sequence",
        function=lira_sequence,
        needs=SEQUENCE,
        knowledge=("losses", "several models", "reference models"),
        references=BOTH,
        paper="jagielski2023",
        equation="Algorithm 1 of Carlini et al. (2022), one variance a side, of Fisher's sum",
        score=lambda seen: lira_sequence(*(seen[name] for name in SEQUENCE)),
    ),
    Attack(
        name="score-difference",
        display="score difference",
        function=difference,
        needs=SEQUENCE[:1],
        knowledge=("losses", "several models"),
        references="none",
        paper="jagielski2023",
        equation="ScoreDiff, the last model less the first",
        score=_difference,
    ),
)
