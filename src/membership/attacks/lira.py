"""The likelihood-ratio attack with normal distributions (LiRA, Carlini et al. 2022)."""

import functools
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy

from membership.arrays import BoolArray, FloatArray, as_float64, one_of
from membership.attacks.adversary import LEFT_OUT, REFERENCES, Observed
from membership.attacks.references import (
    Side,
    as_membership,
    as_references,
    evened,
    require_models,
    side_of,
)
from membership.attacks.registry import ALL_BUT_ONE, BOTH, OUT, Attack, declare
from membership.attacks.words import References
from membership.errors import InputError


class Choice(NamedTuple):
    """Which of its variants `lira` is to compute."""

    mode: str = "online"
    variance: str = "per-record"
    centre: str = "mean"
    sided: str = "one"

    def check(self, has_members: bool) -> None:
        one_of("mode", self.mode, ("online", "offline"))
        one_of("variance", self.variance, ("per-record", "global"))
        one_of("centre", self.centre, ("mean", "median"))
        one_of("sided", self.sided, ("one", "two"))
        if self.mode == "online" and not has_members:
            raise InputError('reference_member is None; give it, or mode="offline"')
        if self.mode == "online" and self.sided == "two":
            raise InputError('sided is "two", which has no meaning online; leave it out')


class _Normal(NamedTuple):
    """One normal distribution a record, each field of shape (records,)."""

    mean: FloatArray
    std: FloatArray


def lira(
    target: Any,
    reference: Any,
    reference_member: Any = None,
    mode: str = "online",
    variance: str = "per-record",
    *,
    centre: str = "mean",
    sided: str = "one",
) -> FloatArray:
    """Score a record by how its signal compares with those under IN and OUT reference models.

    The adversary knows the label and the scaled logit phi = log p_y / (1 - p_y) of the queried
    records under the target model and under reference models; for the online attack some of them
    were trained on the records (IN). The target model must not be among its own references: leave
    its row out. Left in, it pulls the moments of the side it belongs to towards itself, and the
    score gives the answer away; with few references by a lot.

    Parameters
    ----------
    target : array of shape (records,)
        phi under the target model, finite.
    reference : array of shape (models, records)
        phi under each reference model, finite.
    reference_member : bool array of shape (models, records), optional
        Which reference model was trained on which record. None: all are OUT; offline only.
        The numbers of IN and OUT models may differ from record to record.
    mode : {"online", "offline"}
        "online": log N(phi; mu_in, s_in^2) - log N(phi; mu_out, s_out^2), Algorithm 1.
        "offline": its variant with OUT models alone.
    variance : {"per-record", "global"}
        "per-record": the variance of the record's own models of a side, which needs two of them.
        "global": one variance a side, of the deviations from the record's mean pooled over all
        records; for few models. With one model a side there is none: see `mast` with
        tau = "mean".
    centre : {"mean", "median"}
        What stands for mu. The deviations are from the mean in either case.
    sided : {"one", "two"}
        For "offline". "one": Lambda = Pr[Z <= phi], Z ~ N(mu_out, s_out^2), returned as
        (phi - mu_out) / s_out, which ranks alike and does not saturate: Lambda itself rounds to
        1 in float64 from 8.3 standard deviations up. "two": -log N(phi; mu_out, s_out^2),
        as the released codes. It takes a signal far *below* mu_out for membership too, and is
        near chance where membership shifts the signal by little against its spread.

    Returns
    -------
    ndarray of shape (records,)
        Online: a log-likelihood ratio in nats. Offline, one-sided: standard deviations.

    Raises
    ------
    InputError
        Shapes disagree, entries are not finite, a record has too few models on a side (the
        message names the first), no two models of a side differ on any record, or an option is
        none of those above.

    Notes
    -----
    Departures from the released code (tensorflow/privacy, research/mi_lira_2021):

    * Variances are divided by the number of models less one.
    * The code cuts all records to the smallest number of models on a side; here all count, but
      where the numbers differ by one in all. So they do where every record is in the same number
      of models (`data.balanced_membership`) and the target is one of them: members then have one
      IN model less and the others one OUT model less, and the score would depend on the answer
      (a bias of finite populations). There each record does without the last model of
      the side that has more. A complement of the target, where there is one, is left out by
      the caller, and nothing is lost.
    * Its `fix_variance` is the variance of all signals of a side, so it contains the spread
      between records, and takes that of the IN side for both, a typing error. "global" here
      is the spread within records, each side its own.
    * Its centre is the median.
    * Where all of a record's models of a side agree exactly, the code's standard deviation is
      1e-30 and its score about 1e60; here such a record takes the global variance.

    Examples
    --------
    >>> from membership import attacks
    >>> references = [[2.8, 2.9], [3.2, 3.1], [0.4, 0.6], [0.6, 0.4]]
    >>> member = [[True, True], [True, True], [False, False], [False, False]]
    >>> (attacks.lira([3.0, 0.5], references, member) > 0).tolist()
    [True, False]
    """
    choice = Choice(mode, variance, centre, sided)
    return lira_variants(target, reference, reference_member, {"": choice})[""]


def lira_variants(
    target: Any,
    reference: Any,
    reference_member: Any,
    choices: Mapping[str, Choice],
    *,
    even: bool = True,
) -> dict[str, FloatArray]:
    """Several variants of `lira` by name, on signals whose moments are taken once.

    ``even`` is False where the target is among the references on purpose, whose numbers then tell.
    """
    phi = as_float64("target", target, 1)
    references = as_references("reference", reference, phi.size)
    for choice in choices.values():
        choice.check(reference_member is not None)
    inside = as_membership(reference_member, references.shape)
    if even:
        references, inside = evened(references, inside)
    for choice in choices.values():
        needed = 2 if choice.variance == "per-record" else 1
        require_models(~inside, "OUT", needed)
        if choice.mode == "online":
            require_models(inside, "IN", needed)

    @functools.cache
    def of(side: str) -> Side:
        return side_of(references, inside if side == "IN" else ~inside)

    def fit(side: str, choice: Choice) -> _Normal:
        chosen = inside if side == "IN" else ~inside
        normal = _fit(of(side), choice.variance, side)
        if choice.centre == "mean":
            return normal
        return normal._replace(mean=_median(references, chosen, of(side).count))

    return {name: _score(phi, choice, fit) for name, choice in choices.items()}


def _score(phi: FloatArray, choice: Choice, fit: Callable[[str, Choice], _Normal]) -> FloatArray:
    if choice.mode == "online":
        member, out = fit("IN", choice), fit("OUT", choice)
        return scipy.stats.norm.logpdf(phi, member.mean, member.std) - scipy.stats.norm.logpdf(
            phi, out.mean, out.std
        )
    out = fit("OUT", choice)
    if choice.sided == "one":
        return (phi - out.mean) / out.std
    return -scipy.stats.norm.logpdf(phi, out.mean, out.std)


def _fit(of: Side, variance: str, side: str) -> _Normal:
    """Fit a normal distribution to each record's signals on one side."""
    if not of.squares.any():
        raise InputError(
            f"reference has no record on which two {side} models differ, so no variance; "
            "give more models"
        )
    pooled = of.squares.sum() / (of.count - 1).sum()
    if variance == "global":
        return _Normal(of.mean, np.full(of.count.size, np.sqrt(pooled)))
    own = of.squares / (of.count - 1)
    return _Normal(of.mean, np.sqrt(np.where(own > 0, own, pooled)))


def _median(phi: FloatArray, chosen: BoolArray, count: np.ndarray) -> FloatArray:
    ordered = np.sort(np.where(chosen, phi, np.inf), axis=0)
    middle = np.stack([(count - 1) // 2, count // 2])
    return np.take_along_axis(ordered, middle, axis=0).mean(axis=0)


def lira_score(seen: Observed, mode: str, variance: str, group: str = "references") -> FloatArray:
    reference, member = seen[f"{group}.log_odds"], seen[f"{group}.member"]
    return lira(seen["log_odds"], reference, member, mode, variance)


_lira = partial(
    Attack,
    function=lira,
    needs=("log_odds", *REFERENCES),
    knowledge=("losses", "reference models"),
    paper="carlini2022",
    term="LiRA",
)
_left_out = partial(
    Attack,
    function=lira,
    needs=("log_odds", *LEFT_OUT),
    knowledge=("losses", "reference models", "all other records"),
    term="LiRA-L",
)
declare(
    _lira(
        name="lira",
        display="LiRA",
        references=BOTH,
        equation="Algorithm 1",
        score=lambda seen: lira_score(seen, "online", "per-record"),
    ),
    _lira(
        name="lira-global",
        display="LiRA, global variance",
        references=BOTH,
        equation="Algorithm 1, one variance a side",
        score=lambda seen: lira_score(seen, "online", "global"),
    ),
    _lira(
        name="lira-offline",
        display="LiRA offline",
        references=OUT,
        equation="Algorithm 1, its offline variant",
        score=lambda seen: lira_score(seen, "offline", "per-record"),
    ),
    _lira(
        name="lira-offline-global",
        display="LiRA offline, global variance",
        references=OUT,
        equation="its offline variant, one variance",
        score=lambda seen: lira_score(seen, "offline", "global"),
    ),
    _left_out(
        name="lira-l",
        display="LiRA-L",
        references=ALL_BUT_ONE,
        paper="suri2024",
        equation="Section 4.1",
        score=lambda seen: lira_score(seen, "offline", "per-record", "leave_one_out"),
    ),
    _left_out(
        name="loss-ratio",
        display="loss likelihood ratio",
        references=References.PAIRS.value,
        paper="carlini2022",
        equation="Algorithm 1, leave-one-out models",
        score=lambda seen: lira_score(seen, "online", "per-record", "leave_one_out"),
    ),
)
