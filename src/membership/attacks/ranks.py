"""Attacks that rank a loss among other losses: Attack-P and Attack-R (Ye et al. 2022).

A record is called a member when its loss under the target model is low. Attack-P compares it with
the losses of other records under the target model, one threshold for all; Attack-R with the
losses of the same record under other models, a threshold of the record's own.
"""

from typing import Any

import numpy as np

from membership.arrays import FloatArray, as_float64
from membership.attacks.checking import as_references
from membership.errors import InputError


def attack_p(target_loss: Any, population_loss: Any) -> FloatArray:
    """Score a record by the share of a population whose loss is larger (Attack-P).

    The adversary knows the target model's losses on the queried records and on records of the
    same kind that the target was not trained on. Calling members those with a score of 1 - alpha
    or more has a false-positive rate of about alpha.

    No two records are ranked otherwise than by `malt`, minus the loss; those between the same
    two losses of the population become equal.

    Parameters
    ----------
    target_loss : array of shape (records,)
        Finite.
    population_loss : array of shape (population,)
        Finite.

    Returns
    -------
    ndarray of shape (records,)
        In [0, 1]. A population record with an equal loss does not count as larger: ties are
        resolved against the attacker.

    Raises
    ------
    InputError
        Not one axis, or entries that are not finite.

    Examples
    --------
    >>> from membership import attacks
    >>> attacks.attack_p([0.1, 2.0], population_loss=[0.5, 1.0, 3.0, 4.0]).tolist()
    [1.0, 0.5]
    """
    loss = as_float64("target_loss", target_loss, 1)
    population = np.sort(as_float64("population_loss", population_loss, 1))
    not_larger = np.searchsorted(population, loss, side="right")
    return (population.size - not_larger) / population.size


def attack_r(
    target_loss: Any, reference_loss: Any, *, bounds: tuple[float, float] = (0.0, 1000.0)
) -> FloatArray:
    """Score a record by the rank of its loss among its losses under reference models (Attack-R).

    The adversary knows the losses of the queried records under the target model and under
    reference models that were not trained on them. As in the released code of Ye et al. (2022),
    a member is a record whose loss is at most q_beta, the linear beta-quantile of
    {lowest, l_1, ..., l_n, highest}. The score is minus the smallest such beta, so the records
    with a score of -beta or more are those called members at beta.

    The rank alone, the share of reference losses below the target's, takes n + 1 values. Its
    lowest false-positive rate above 0 is the share of non-members whose loss is below all n
    others, about 1 / (n + 1); at a rate of 1 % it needs some hundred models. Interpolation
    breaks the ties.

    With reference models trained on all records of the target's training set but the one queried,
    this is the L-attack of Suri et al. (2024), Section 4.4.

    Parameters
    ----------
    target_loss : array of shape (records,)
        Within `bounds`.
    reference_loss : array of shape (models, records)
        The same loss under each reference model; within `bounds`.
    bounds : (float, float)
        The lowest and highest loss there can be, in the unit of the loss; as in the released
        code unless given; both finite.

    Returns
    -------
    ndarray of shape (records,)
        In [-1, 0]. Not 1 - beta, which could not tell small beta apart: in float64, 1 - 1e-17
        is 1.

    Raises
    ------
    InputError
        Shapes disagree, a loss is not finite or lies outside `bounds`, or `bounds` is no range.

    Examples
    --------
    >>> from membership import attacks
    >>> references = [[0.5, 1.5], [0.7, 2.5], [0.9, 3.5]]
    >>> attacks.attack_r([0.1, 2.0], references).round(2).tolist()
    [-0.05, -0.38]
    """
    loss = as_float64("target_loss", target_loss, 1)
    references = as_references("reference_loss", reference_loss, loss.size)
    lowest, highest = bounds
    if not -np.inf < lowest < highest < np.inf:
        raise InputError(f"bounds is {bounds}; give two finite losses, the lower first")
    for name, array in (("target_loss", loss), ("reference_loss", references)):
        if array.min() < lowest or array.max() > highest:
            raise InputError(
                f"{name} runs from {array.min():.9g} to {array.max():.9g}; "
                f"give losses within bounds = {bounds}, or wider bounds"
            )
    n_models = len(references)
    edges = [np.full((1, loss.size), edge, dtype=np.float64) for edge in bounds]
    grid = np.sort(np.concatenate([edges[0], references, edges[1]]), axis=0)
    # The first entry that is not below the loss; among equal ones the lowest, as in the rule.
    upper = np.maximum((grid < loss).sum(axis=0), 1)[None]
    above = np.take_along_axis(grid, upper, axis=0)[0]
    below = np.take_along_axis(grid, upper - 1, axis=0)[0]
    # Equal only at the lowest loss of all, where beta is 0.
    width = np.where(above > below, above - below, 1.0)
    return -((upper[0] - 1) + (loss - below) / width) / (n_models + 1)
