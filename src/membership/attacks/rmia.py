"""The robust membership inference attack (RMIA, Zarifzadeh et al. 2024)."""

from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.special import expit

from membership.arrays import FloatArray, as_bool, as_float64
from membership.attacks.adversary import HELD, REFERENCES, Observed, loss_of
from membership.attacks.bayes_optimal import mast
from membership.attacks.references import (
    as_membership,
    as_references,
    evened,
    require_models,
    sided,
)
from membership.attacks.registry import BOTH, OUT, Attack, declare
from membership.errors import InputError
from membership.metrics import auc

GRID = tuple(step / 10 for step in range(11))
_ROUNDING = 1e-6


def rmia(
    target_probability: Any,
    reference_probability: Any,
    population_target: Any,
    population_reference: Any,
    a: float = 0.3,
    gamma: float = 1.0,
    *,
    reference_member: Any = None,
) -> FloatArray:
    """Score a record by the share of a population that it beats in a likelihood ratio.

    The adversary knows the probability of the label under the target model and under reference
    models not trained on the record (OUT), for the queried records x and for population records
    z that neither the target nor any reference was trained on. With

        r_x = P(x | theta) / P(x),  P(x) = ((1 + a) mean P_out(x) + 1 - a) / 2,

    where a linear guess of the mean over IN models stands in for them (offline), the score is
    the share of z with r_x / r_z > gamma. Sorting takes O((records + population) log population).

    Parameters
    ----------
    target_probability : array of shape (records,)
        P(x | theta), in [0, 1].
    reference_probability : array of shape (models, records)
        The same under each reference model.
    population_target : array of shape (population,)
        P(z | theta), in [0, 1].
    population_reference : array of shape (models, population)
        The same under each reference model.
    a : float
        In [0, 1]: 1 takes IN models to be like OUT models, 0 takes them to be sure of the label.
        `rmia_tune` chooses it.
    gamma : float
        The ratio that counts as beaten, above 0.
    reference_member : bool array of shape (models, records), optional
        Which reference model was trained on which record; P_out is the mean of the others.
        None: all models are OUT. Where the numbers of IN models differ by one in all, each record
        does without one model of the side that has more; see the notes of `lira`.

    Returns
    -------
    ndarray of shape (records,)
        In [0, 1], a multiple of 1 / population. The inequality is strict, as in the released
        code, so ties count against the attacker. A record that no model gives any probability
        has r = 0.

    Raises
    ------
    InputError
        Shapes disagree, a probability lies outside [0, 1], `a` outside [0, 1], `gamma` is not
        above 0, or a record lacks an OUT model.

    Examples
    --------
    >>> from membership import attacks
    >>> attacks.rmia([0.9, 0.5], [[0.6, 0.6]], [0.5, 0.4], [[0.6, 0.4]]).tolist()
    [1.0, 0.5]
    """
    target = _probabilities("target_probability", target_probability)
    references = _references("reference_probability", reference_probability, target.size)
    population = _probabilities("population_target", population_target)
    population_out = _references("population_reference", population_reference, population.size)
    if len(population_out) != len(references):
        raise InputError(
            f"population_reference has {len(population_out)} models; give the {len(references)} "
            "of reference_probability"
        )
    _check_a(a)
    if not _is_number(gamma) or not 0 < gamma < np.inf:
        raise InputError(f"gamma is {gamma!r}; give a finite number above 0")
    references, inside = sided(references, reference_member)
    ratio = _ratio(target, references.mean(axis=0, where=~inside), a)
    threshold = np.sort(gamma * _ratio(population, population_out.mean(axis=0), a))
    return np.searchsorted(threshold, ratio, side="left") / threshold.size


def rmia_ratio(
    target_probability: Any,
    reference_probability: Any,
    a: float = 0.3,
    *,
    reference_member: Any = None,
    online: bool = False,
) -> FloatArray:
    """Score a record by RMIA's ratio r_x itself, which no population's size cuts into steps.

    `rmia` is a step function of it, the same for all records of one target whatever gamma is: they
    order records alike, but for the ties of `rmia`. Population records are not needed; what they
    are good for is a threshold that means the same on every target.

    Parameters
    ----------
    target_probability : array of shape (records,)
        P(x | theta), in [0, 1].
    reference_probability : array of shape (models, records)
        The same under each reference model.
    a : float
        As `rmia` has it; offline alone.
    reference_member : bool array of shape (models, records), optional
        Which reference model was trained on which record. None: all models are OUT.
    online : bool
        Whether P(x) is the mean of the means over OUT and over IN models. With as many of the one
        as of the other that is the mean over all of them, and the order that of BASE.

    Returns
    -------
    ndarray of shape (records,)
        r_x, 0 or more.

    Raises
    ------
    InputError
        As `rmia`, or a record lacks an IN model online.

    Examples
    --------
    >>> from membership import attacks
    >>> attacks.rmia_ratio([0.9, 0.5], [[0.6, 0.6]], a=1).round(2).tolist()
    [1.5, 0.83]
    """
    target = _probabilities("target_probability", target_probability)
    references = _references("reference_probability", reference_probability, target.size)
    _check_a(a)
    references, inside = sided(references, reference_member)
    out = references.mean(axis=0, where=~inside)
    if not online:
        return _ratio(target, out, a)
    require_models(inside, "IN", 1)
    # At a = 1 the expected probability is the one that is given.
    return _ratio(target, (out + references.mean(axis=0, where=inside)) / 2, 1.0)


def rmia_tune(
    reference_probability: Any,
    reference_member: Any,
    population_reference: Any,
    *,
    attacked: int = 0,
    grid: Any = GRID,
) -> float:
    """Choose `a` of `rmia` by attacking one reference model with the others.

    The adversary knows which reference model it trained on which record, so it can judge each
    `a` by the AUC of that attack, as Zarifzadeh et al. (2024) do; the target is not touched.
    Records without an OUT model among the others are left out.

    Parameters
    ----------
    reference_probability : array of shape (models, records)
        The probability of the label, in [0, 1], under two reference models or more, on records
        that some of them were trained on.
    reference_member : bool array of shape (models, records)
        Which reference model was trained on which record.
    population_reference : array of shape (models, population)
        The same probability on records that no reference was trained on.
    attacked : int
        The reference model in the target's place, 0 to models - 1.
    grid : sequence of float
        The values to try, each in [0, 1].

    Returns
    -------
    float
        The value with the largest AUC, the first of equally good ones.

    Raises
    ------
    InputError
        As `rmia`, fewer than two models, `attacked` is no model, or the records left are all
        members of the attacked model, or none is.

    Examples
    --------
    >>> import numpy as np
    >>> from membership import attacks
    >>> member = np.array([[True, True, False, False], [False, False, True, True]] * 2)
    >>> probability = np.where(member, 0.9, 0.4)
    >>> attacks.rmia_tune(probability, member, np.full((4, 2), 0.5), grid=[0.3])
    0.3
    """
    references = as_float64("reference_probability", reference_probability, 2)
    population = as_float64("population_reference", population_reference, 2)
    member = as_bool("reference_member", reference_member, references.shape)
    values = as_float64("grid", grid, 1)
    if len(references) < 2 or len(population) != len(references):
        raise InputError(
            f"reference_probability has {len(references)} models and population_reference "
            f"{len(population)}; give the same two or more"
        )
    if not isinstance(attacked, Integral) or attacked not in range(len(references)):
        raise InputError(
            f"attacked is {attacked!r}; give a whole number, 0 to {len(references) - 1}"
        )
    others = np.arange(len(references)) != attacked
    usable = ~member[others].all(axis=0)
    truth = member[attacked, usable]
    if truth.all() or not truth.any():
        raise InputError(
            f"reference_member leaves {truth.sum()} members and {(~truth).sum()} non-members of "
            f"model {attacked} with an OUT model; give at least one of each"
        )

    def attack(a: float) -> float:
        score = rmia(
            references[attacked, usable],
            references[others][:, usable],
            population[attacked],
            population[others],
            a,
            reference_member=member[others][:, usable],
        )
        return auc(score, truth)

    return float(max(values.tolist(), key=attack))


def _check_a(a: float) -> None:
    if not _is_number(a) or not 0 <= a <= 1:
        raise InputError(f"a is {a!r}; give a number from 0 to 1")


def _probabilities(name: str, values: Any) -> FloatArray:
    return _from_0_to_1(name, as_float64(name, values, 1))


def _references(name: str, values: Any, n_records: int) -> FloatArray:
    return _from_0_to_1(name, as_references(name, values, n_records))


def _from_0_to_1(name: str, values: FloatArray) -> FloatArray:
    """Probabilities, up to the rounding of a softmax in float32."""
    if values.min() < -_ROUNDING or values.max() > 1 + _ROUNDING:
        raise InputError(
            f"{name} runs from {values.min():.9g} to {values.max():.9g}; give probabilities, 0 to 1"
        )
    return np.clip(values, 0.0, 1.0)


def _ratio(probability: FloatArray, out: FloatArray, a: float) -> FloatArray:
    """P(x | theta) / P(x); 0 where both are 0."""
    expected = ((1 + a) * out + (1 - a)) / 2
    with np.errstate(divide="ignore", over="ignore"):
        return np.divide(
            probability, expected, out=np.zeros_like(probability), where=probability > 0
        )


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def rmia_score(
    seen: Observed, signal: str = "log_odds", a: float = 0.3, online: bool = False
) -> FloatArray:
    """The ratio; halved log-odds are the signal at a temperature of 2."""
    target, references = expit(seen[signal]), expit(seen[f"references.{signal}"])
    return rmia_ratio(target, references, a, reference_member=seen[REFERENCES[1]], online=online)


def _share(seen: Observed) -> FloatArray:
    target, references = expit(seen["log_odds"]), expit(seen["references.log_odds"])
    held = (expit(seen[name]) for name in HELD)
    return rmia(target, references, *held, reference_member=seen[REFERENCES[1]])


OFFLINE_SCALE = 0.33
"""What the authors' code multiplies the threshold by where no reference has seen the record."""


def base_score(seen: Observed, signal: str = "log_odds", online: bool = True) -> FloatArray:
    """MAST's log-mean-exp over all references; offline over those without the record, scaled."""
    target, references = (loss_of(seen, name) for name in (signal, f"references.{signal}"))
    if not online:
        apart = mast(target, references, reference_member=seen[REFERENCES[1]])
        return OFFLINE_SCALE * apart - (1 - OFFLINE_SCALE) * target
    inside = as_membership(seen[REFERENCES[1]], references.shape)
    return mast(target, evened(references, inside)[0])


_HALVED = ("halved_log_odds", "references.halved_log_odds", REFERENCES[1])
_rmia = partial(Attack, paper="zarifzadeh2024", term="RMIA")
declare(
    _rmia(
        name="rmia",
        display="RMIA",
        function=rmia_ratio,
        needs=("log_odds", *REFERENCES),
        knowledge=("losses", "reference models"),
        references=OUT,
        equation="offline, a = 0.3, ranked by its ratio",
        score=rmia_score,
    ),
    _rmia(
        name="rmia-warm",
        display="RMIA, temperature 2",
        function=rmia_ratio,
        needs=_HALVED,
        knowledge=("logits", "reference models"),
        references=OUT,
        equation="offline, a = 0.3, logits halved",
        score=lambda seen: rmia_score(seen, "halved_log_odds"),
    ),
    _rmia(
        name="rmia-online",
        display="RMIA online",
        function=rmia_ratio,
        needs=("log_odds", *REFERENCES),
        knowledge=("losses", "reference models"),
        references=BOTH,
        equation="online, which orders records as BASE does",
        score=lambda seen: rmia_score(seen, online=True),
    ),
    _rmia(
        name="rmia-share",
        display="RMIA, share of a population",
        function=rmia,
        needs=("log_odds", *REFERENCES, *HELD),
        knowledge=("losses", "population records", "reference models"),
        references=OUT,
        equation="offline, a = 0.3, gamma = 1",
        score=_share,
    ),
)

# Equal to RMIA's ratio in their order, which is why they stand here; what computes them is MAST.
_base = partial(Attack, function=mast, paper="lassila2025", term="BASE")
declare(
    _base(
        name="base",
        display="BASE",
        needs=("log_odds", *REFERENCES),
        knowledge=("losses", "reference models"),
        references=BOTH,
        equation="online",
        score=base_score,
    ),
    _base(
        name="base-warm",
        display="RMIA online (BASE), temperature 2",
        needs=_HALVED,
        knowledge=("logits", "reference models"),
        references=BOTH,
        equation="online, logits halved: RMIA's default and BASE's",
        score=lambda seen: base_score(seen, "halved_log_odds"),
    ),
    _base(
        name="base-offline",
        display="BASE offline",
        needs=_HALVED,
        knowledge=("logits", "reference models"),
        references=OUT,
        equation="offline, logits halved, threshold times 0.33: the authors' code",
        score=lambda seen: base_score(seen, "halved_log_odds", online=False),
    ),
)
