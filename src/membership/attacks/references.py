"""What reference models say of each record, and attacks by its rank or mean alone.

Attack-P and Attack-R (Ye et al. 2022) call a record a member when its loss under the target model
is low. Attack-P compares it with the losses of other records under the target model, one threshold
for all; Attack-R with the losses of the same record under other models, a threshold of the record's
own. Calibration by difficulty (Watson et al. 2022) takes the mean under other models away.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from membership.arrays import BoolArray, FloatArray, as_bool, as_float64
from membership.attacks.adversary import HELD, LEFT_OUT, REFERENCES, Observed, loss_of, out_of
from membership.attacks.registry import ALL_BUT_ONE, OUT, Attack, declare
from membership.errors import InputError
from membership.signals import loss_of_log_odds


def as_references(name: str, values: Any, n_records: int) -> FloatArray:
    """Convert a signal under reference models to float64, (models, `n_records`), and check it."""
    array = as_float64(name, values, 2)
    if array.shape[1] != n_records:
        raise InputError(f"{name} has shape {array.shape}; give (models, {n_records} records)")
    return array


def as_membership(reference_member: Any, shape: tuple[int, ...]) -> BoolArray:
    """Which reference model was trained on which record; none was where the caller says nothing."""
    if reference_member is None:
        return np.zeros(shape, dtype=bool)
    return as_bool("reference_member", reference_member, shape)


def evened(references: FloatArray, inside: BoolArray) -> tuple[FloatArray, BoolArray]:
    """Every record with the same numbers of IN and OUT models, where they differ by one in all.

    Where every record is in equally many models, the target's among them, its references are one
    IN model short for a member and one OUT model short for another. Whatever depends on these
    numbers then tells the answer. The last model of the side that is not short is left out.
    """
    count = inside.sum(axis=0)
    if np.ptp(count) != 1 or count.max() == len(inside):
        return references, inside
    surplus = inside == (count == count.max())
    left_out = len(inside) - 1 - surplus[::-1].argmax(axis=0)
    kept = np.arange(len(inside))[:, None] != left_out

    def of(values: Any) -> Any:
        return values.T[kept.T].reshape(count.size, -1).T

    return of(references), of(inside)


def require_models(chosen: BoolArray, side: str, needed: int) -> None:
    """Check that every record has `needed` of the reference models marked in `chosen`.

    Raises
    ------
    InputError
        Says how many records have fewer, whatever their order.
    """
    count = chosen.sum(axis=0)
    short = int((count < needed).sum())
    if short:
        raise InputError(
            f"reference_member: {short} of {count.size} records have fewer than {needed} {side} "
            f"models, one of them {count.min()}; give each {needed}"
        )


def sided(references: FloatArray, reference_member: Any) -> tuple[FloatArray, BoolArray]:
    """The references, evened, and which were trained on each record; one at least was not."""
    inside = as_membership(reference_member, references.shape)
    references, inside = evened(references, inside)
    require_models(~inside, "OUT", 1)
    return references, inside


class Side(NamedTuple):
    """The moments of each record's signals; fields of shape (records,)."""

    count: np.ndarray
    mean: FloatArray
    squares: FloatArray
    """Of the deviations from the mean, summed; 0 where the models agree."""


def side_of(phi: FloatArray, chosen: BoolArray) -> Side:
    """Take the moments of each record's signals under the chosen models."""
    count = chosen.sum(axis=0)
    # With 0 for what is not chosen, and not by `where=`, which takes twice as long.
    kept = np.where(chosen, phi, 0.0)
    mean = kept.sum(axis=0) / count
    np.subtract(kept, mean, out=kept, where=chosen)
    squares = np.einsum("mr,mr->r", kept, kept)
    # Without this, the rounding of the mean passes for a spread.
    first = np.take_along_axis(phi, chosen.argmax(axis=0)[None], axis=0)
    agree = ((phi == first) | ~chosen).all(axis=0)
    return Side(count, mean, np.where(agree, 0.0, squares))


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


def difference(target_signal: Any, reference_signal: Any) -> FloatArray:
    """Score records by the target's signal less the references': no posterior.

    Calibration by difficulty (Watson et al. 2022). With one reference it is BMIA at a constant
    standard deviation.

    Parameters
    ----------
    target_signal : array of shape (records,)
        Larger for members, as the hinge is.
    reference_signal : array of shape (records,) or (models, records)
        The same signal under one or several references, which are averaged.

    Returns
    -------
    ndarray of shape (records,)

    Raises
    ------
    InputError
        Shapes disagree or entries are not finite.

    Examples
    --------
    >>> from membership import attacks
    >>> attacks.difference([3.0, 0.5], [[1.0, 1.0], [2.0, 1.0]]).tolist()
    [1.5, -0.5]
    """
    target = as_float64("target_signal", target_signal, 1)
    reference = as_float64("reference_signal", reference_signal, max(1, np.ndim(reference_signal)))
    if reference.shape[-1] != target.size or reference.ndim > 2:
        raise InputError(
            f"reference_signal has shape {reference.shape}; give ({target.size},) or "
            f"(models, {target.size})"
        )
    return target - np.atleast_2d(reference).mean(axis=0)


def _attack_r(seen: Observed) -> FloatArray:
    recipe = seen.attributes.get("recipe", {})
    out = loss_of_log_odds(out_of(seen, "log_odds"), recipe.get("loss", "cross-entropy"))
    return attack_r(loss_of(seen), out)


def _left_out(seen: Observed) -> FloatArray:
    """Against models trained on all other records."""
    out = ~seen[LEFT_OUT[1]].astype(bool)[:, 0]
    return attack_r(loss_of(seen), loss_of(seen, LEFT_OUT[0])[out])


_ye = partial(Attack, paper="ye2022", term="Attack-P, Attack-R")
declare(
    _ye(
        name="attack-p",
        display="Attack-P",
        function=attack_p,
        needs=("log_odds", HELD[0]),
        knowledge=("losses", "population records"),
        references="none",
        equation="Attack-P",
        score=lambda seen: attack_p(loss_of(seen), loss_of(seen, HELD[0])),
    ),
    _ye(
        name="attack-r",
        display="Attack-R",
        function=attack_r,
        needs=("log_odds", *REFERENCES),
        knowledge=("losses", "reference models"),
        references=OUT,
        equation="Attack-R",
        score=_attack_r,
    ),
    Attack(
        name="l-attack",
        display="L-attack",
        function=attack_r,
        needs=("log_odds", *LEFT_OUT),
        knowledge=("losses", "reference models", "all other records"),
        references=ALL_BUT_ONE,
        paper="ye2022",
        equation="Attack-R; Suri et al. 2024, Section 4.4",
        score=_left_out,
    ),
    Attack(
        name="difference",
        display="difference",
        function=difference,
        needs=("hinge", "references.hinge", "references.member"),
        knowledge=("logits", "reference models"),
        references=OUT,
        paper="watson2022",
        equation="difficulty calibration",
        score=lambda seen: difference(seen["hinge"], out_of(seen, "hinge")),
        term="calibration",
    ),
)
