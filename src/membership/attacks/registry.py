"""Every attack, declared once: tables, requirements, glossary and the API page read this list.

An attack declares itself below its function, in its family's file. The tests of the registry put it
through the checks that hold for all. Other packages declare theirs in the same way.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from membership.arrays import BoolArray, FloatArray
from membership.attacks import installed
from membership.attacks.adversary import REGRESSED, Observed, observe
from membership.attacks.words import Knowledge, References, words
from membership.errors import InputError, brief, suggest

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

# What an attack's reference models were trained on.
OUT, BOTH = References.OUT.value, References.BOTH.value
ALL_BUT_ONE = References.ALL_BUT_ONE.value

# As tables list them; one that is not named here comes after those that are.
ORDER = (
    *("loss", "zero-one", "attack-p", "attack-r", "mast", "mast-best"),
    *("lira", "lira-global", "lira-offline", "lira-offline-global"),
    *("lira-sequence", "score-difference"),
    *("base", "base-warm", "base-offline"),
    *("bavaria", "bavaria-normal", "bavaria-offline"),
    *("rmia", "rmia-warm", "rmia-online", "rmia-share"),
    *("difference", "shokri", "l-attack", "lira-l", "loss-ratio"),
    *("qmia", "bmia", "bmia-closed", "bmia-mixture", "bmia-variance"),
    *("sif", "iha", "iha-star", "residual"),
    *("matt", "matt-second", "matt-newton", "glir", "glir-steps"),
)


@dataclass(frozen=True, kw_only=True)
class Attack:
    """One attack: what it is called, what it takes, what it knows and where it is from.

    Attributes
    ----------
    name : str
        Its key, small letters, digits and hyphens.
    display : str
        As tables call it.
    score : callable
        From `Observed` to finite scores of shape (records,), higher for members.
    needs : tuple of str
        Names of what it reads of `Observed.arrays`; "a|b" where either will do.
    knowledge : tuple of str
        What its adversary knows: words of `Knowledge`.
    references : str
        What its reference models were trained on, a word of `References`; "none" where it has none.
    function : callable
        The public function that computes it; `score` if not given.
    paper : str
        Citation key of ``published/references.bib``; empty where it has none.
    equation : str
        Where in the paper.
    term : str
        Its entry in the glossary; `display` if empty.
    single_reference : bool
        Whether it takes one model trained without the record, however many there are.

    Raises
    ------
    InputError
        A word of `knowledge` or `references` is not in its vocabulary, whose words are told with
        their meaning; or a name cannot be a key.
    """

    name: str
    display: str
    score: Callable[[Observed], FloatArray]
    needs: tuple[str, ...]
    knowledge: tuple[str, ...]
    references: str = "none"
    function: Callable | None = None
    paper: str = ""
    equation: str = ""
    term: str = ""
    single_reference: bool = False

    def __post_init__(self) -> None:
        whose = f"attack {brief(self.name)}"
        if not isinstance(self.name, str) or not re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", self.name):
            raise InputError(f"{whose}: its name is a key; give small letters, digits and hyphens")
        needs = (self.needs,) if isinstance(self.needs, str) else tuple(self.needs)
        (references,) = words(f"{whose}: references", (self.references,), References)
        kept: dict[str, Any] = {
            "needs": needs,
            "knowledge": words(f"{whose}: knowledge", self.knowledge, Knowledge),
            "references": references,
            "function": self.function or self.score,
        }
        for attribute, value in kept.items():
            object.__setattr__(self, attribute, value)

    @property
    def of_this_package(self) -> bool:
        """Whether it came with the package, which has its entry in the glossary."""
        return all(
            getattr(part, "__module__", "").startswith("membership.")
            for part in (self.function, self.score)
        )

    @property
    def white_box(self) -> bool:
        """Whether its adversary sees parameters or gradients."""
        return bool({"weights", "step gradients"} & set(self.knowledge))

    @property
    def leave_one_out(self) -> bool:
        """Whether its adversary knows every other training record."""
        return "all other records" in self.knowledge

    @property
    def training_records(self) -> bool:
        """Whether its adversary has the training records, or all of them but one."""
        return self.leave_one_out or "training records" in self.knowledge

    @property
    def reads_curvature(self) -> bool:
        """Whether it takes quadratic forms of gradients, from the target's Hessian."""
        return self._reads("form.")

    @property
    def reads_regression(self) -> bool:
        """Whether it takes what a regression on population records predicts of the target."""
        return self._reads(f"posterior.{REGRESSED}.")

    @property
    def reads_posteriors(self) -> bool:
        """Whether it takes what posteriors of reference models predict."""
        return self._reads("posterior.") and not self.reads_regression

    def _reads(self, group: str) -> bool:
        return any(name.startswith(group) for need in self.needs for name in need.split("|"))

    def of(self, seen: Observed) -> FloatArray:
        """Scores of the records observed.

        Raises
        ------
        InputError
            The evidence lacks something, which is named, or does not fit the attack.
        """
        lacking = seen.lacking(self.needs)
        if lacking:
            raise InputError(f"{self.display} needs {', '.join(lacking)}; the evidence lacks it")
        scored = np.asarray(self.score(seen))
        if scored.shape != seen.member.shape or not np.isfinite(scored).all():
            raise InputError(
                f"attack {self.name}: its scores of {seen.member.size} records have shape "
                f"{scored.shape}{', and some are not finite' * (scored.dtype.kind == 'f')}; "
                "let it give one finite number a record"
            )
        return scored

    def on(
        self, *evidence: "xr.Dataset", target: int = 0, references: int | None = None
    ) -> FloatArray:
        """Scores of one target's records, from evidence as `observe` takes it; errors as there."""
        return self.of(observe(*evidence, target=target, references=references))


ATTACKS: dict[str, Attack] = {}


@overload
def declare(*attacks: Attack) -> None: ...


@overload
def declare(**fields: Any) -> Callable[[Callable], Callable]: ...


def declare(*attacks: Attack, **fields: Any) -> Callable[[Callable], Callable] | None:
    """Enter attacks, each under a name of its own; every table then has them.

    Parameters
    ----------
    *attacks : Attack
    **fields
        Without attacks: those of an `Attack` but `score`, which the function below gives.

    Returns
    -------
    callable or None
        With `fields` a decorator, which leaves the function as it is.

    Raises
    ------
    InputError
        There is an attack of this name, or one that tables call the same; or a field is missing
        or unknown.

    Examples
    --------
    >>> from membership import attacks
    >>> @attacks.declare(
    ...     name="negative-hinge", display="negative hinge", needs=("hinge",), knowledge=("logits",)
    ... )
    ... def negative_hinge(seen):
    ...     return -seen["hinge"]
    >>> attacks.registry()["negative-hinge"].references
    'none'
    """
    if not attacks:
        return lambda score: _entered(score, fields)
    if fields:
        raise InputError(f"{min(fields)} is given beside an Attack, which has it; give one of them")
    for attack in attacks:
        if attack.name in ATTACKS:
            raise InputError(f"attack {attack.name}: there is one of this name already")
        if attack.display in {other.display for other in ATTACKS.values()}:
            raise InputError(f"attack {attack.name}: another is displayed as {attack.display!r}")
        ATTACKS[attack.name] = attack
    return None


def _entered(score: Callable, fields: dict[str, Any]) -> Callable:
    known = set(Attack.__dataclass_fields__) - {"score"}
    required = {"name", "display", "needs", "knowledge"}
    for field in fields.keys() - known:
        raise InputError(f"declare: unknown field {suggest(field, sorted(known), 'fields')}")
    if missing := required - fields.keys():
        raise InputError(f"declare: {min(missing)} is missing; give {', '.join(sorted(required))}")
    declare(Attack(score=score, **fields))
    return score


def registry(*, others: bool = True) -> dict[str, Attack]:
    """The registered attacks by name, in the order in which tables list them.

    Parameters
    ----------
    others : bool, default True
        Whether those of other packages are among them: what such packages name under the group of
        entry points ``membership.attacks`` is imported at the first call.
    """
    if others:
        installed.import_installed()
    places = {name: place for place, name in enumerate(ORDER)}
    names = sorted(ATTACKS, key=lambda name: places.get(name, len(places)))
    return {name: ATTACKS[name] for name in names if others or ATTACKS[name].of_this_package}


def requirements(attacks: Iterable[Attack] | None = None) -> "pd.DataFrame":
    """What each attack may know, and where it is from.

    Parameters
    ----------
    attacks : iterable of Attack, optional
        All registered ones if not given.

    Returns
    -------
    pandas.DataFrame
        Columns attack, model access, reference models, training records, leave-one-out knowledge,
        knowledge, evidence, paper, equation, function; a row an attack.
    """
    import pandas as pd

    chosen = registry().values() if attacks is None else attacks
    return pd.DataFrame(
        [
            {
                "attack": attack.display,
                "model access": "white-box" if attack.white_box else "black-box",
                "reference models": attack.references,
                "training records": "yes" if attack.training_records else "no",
                "leave-one-out knowledge": "yes" if attack.leave_one_out else "no",
                "knowledge": ", ".join(attack.knowledge),
                "evidence": ", ".join(need.replace("|", " or ") for need in attack.needs),
                "paper": attack.paper,
                "equation": attack.equation,
                "function": getattr(attack.function, "__name__", ""),
            }
            for attack in chosen
        ]
    )


@dataclass(frozen=True)
class Scores:
    """The scores of one target's records.

    Attributes
    ----------
    record : ndarray of shape (records,)
        Rows in the data set.
    member : bool ndarray of shape (records,)
    score : dict of str to ndarray of shape (records,)
        By the attack's name, in the registry's order.
    lacking : dict of str to str
        Attacks left out, and what each of them lacks.
    """

    record: np.ndarray
    member: BoolArray
    score: dict[str, FloatArray]
    lacking: dict[str, str]


@dataclass(frozen=True)
class ScoreTable:
    """The scores of several targets, in the form that `metrics.paired_interval` takes.

    Attributes
    ----------
    record : ndarray of shape (records,)
        Rows in the data set that any target was asked.
    member : bool ndarray of shape (targets, records)
        False where a target was not asked.
    score : dict of str to ndarray of shape (targets, records)
        By the attack's name; NaN where a target was not asked. Attacks that every target allows.
    targets : tuple of int
    """

    record: np.ndarray
    member: BoolArray
    score: dict[str, FloatArray]
    targets: tuple[int, ...]


def scores(*evidence: "xr.Dataset", target: int = 0, references: int | None = None) -> Scores:
    """Attack one model in every way that evidence allows.

    Parameters
    ----------
    *evidence : xarray.Dataset
        Of kinds "outputs", "white_box" and "posterior" together, or of "pairs" or "steps" alone;
        all attacks score the records that every one of them has.
    target : int
        Number of the model attacked.
    references : int, optional
        Use the first so many reference models; None: all.

    Returns
    -------
    Scores

    Raises
    ------
    InputError
        The kinds do not go together, there is no such target, or a number is not finite.
    """
    seen = observe(*evidence, target=target, references=references)
    score: dict[str, FloatArray] = {}
    lacking: dict[str, str] = {}
    for name, attack in registry().items():
        missing = seen.lacking(attack.needs)
        if missing:
            lacking[name] = ", ".join(missing)
            continue
        try:
            score[name] = attack.of(seen)
        except InputError as error:
            # What is there does not do: no model trained on the record, one reference only.
            lacking[name] = str(error)
    return Scores(seen.record, seen.member, score, lacking)


def score_table(
    *evidence: "xr.Dataset", targets: tuple[int, ...] | None = None, references: int | None = None
) -> ScoreTable:
    """Attack several models: `scores` of each, over the same columns.

    Parameters
    ----------
    *evidence, references
        As for `scores`.
    targets : tuple of int, optional
        The attribute ``targets`` of the evidence if not given.

    Returns
    -------
    ScoreTable

    Raises
    ------
    InputError
        As `scores`; or no targets are given and the evidence names none.
    """
    named = [t for dataset in evidence for t in dataset.attrs.get("targets", [])]
    chosen = tuple(dict.fromkeys(named)) if targets is None else tuple(targets)
    if not chosen:
        raise InputError(
            "targets: the evidence names no attacked model; where it holds any, give their numbers"
        )
    per_target = [scores(*evidence, target=target, references=references) for target in chosen]
    if any(np.unique(scored.record).size < scored.record.size for scored in per_target):
        # Leave-one-out models: each record twice, in the same order for every target.
        record = per_target[0].record
        places = [np.arange(scored.record.size) for scored in per_target]
    else:
        record = np.unique(np.concatenate([scored.record for scored in per_target]))
        places = [np.searchsorted(record, scored.record) for scored in per_target]
    member = np.zeros((len(chosen), record.size), dtype=bool)
    names = [
        name for name in per_target[0].score if all(name in scored.score for scored in per_target)
    ]
    table = {name: np.full(member.shape, np.nan) for name in names}
    for row, (scored, place) in enumerate(zip(per_target, places, strict=True)):
        member[row, place] = scored.member
        for name in names:
            table[name][row, place] = scored.score[name]
    return ScoreTable(record, member, table, chosen)
