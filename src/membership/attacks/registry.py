"""Every attack, declared once: tables, requirements, glossary and the API page read this list.

An attack declares itself below its function, in its family's file. The tests of the registry put it
through the checks that hold for all.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr

from membership.arrays import BoolArray, FloatArray
from membership.attacks.adversary import KNOWLEDGE, REGRESSED, Observed, observe
from membership.errors import InputError

# What an attack's reference models were trained on.
OUT, BOTH = "other records", "random halves, with and without the record"
ALL_BUT_ONE = "all other records"

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
        Its key, letters, digits and hyphens.
    display : str
        As tables call it.
    function : callable
        The public function of `membership.attacks` that computes it.
    needs : tuple of str
        Names of what it reads of `Observed.arrays`; "a|b" where either will do.
    knowledge : tuple of str
        Words of `KNOWLEDGE`.
    references : str
        What its reference models were trained on; "none" where it has none.
    paper : str
        Citation key of ``published/references.bib``.
    equation : str
        Where in the paper.
    score : callable
        From `Observed` to scores of shape (records,), higher for members.
    term : str
        Its entry in the glossary; `display` if empty.
    single_reference : bool
        Whether it takes one model trained without the record, however many there are.

    Raises
    ------
    ValueError
        A word of `knowledge` is not in the vocabulary.
    """

    name: str
    display: str
    function: Callable
    needs: tuple[str, ...]
    knowledge: tuple[str, ...]
    references: str
    paper: str
    equation: str
    score: Callable[[Observed], FloatArray]
    term: str = ""
    single_reference: bool = False

    def __post_init__(self) -> None:
        unknown = [word for word in self.knowledge if word not in KNOWLEDGE]
        if unknown:
            raise ValueError(
                f"attack {self.name}: {unknown[0]!r} is none of {', '.join(KNOWLEDGE)}"
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
        return self.score(seen)

    def on(
        self, *evidence: xr.Dataset, target: int = 0, references: int | None = None
    ) -> FloatArray:
        """Scores of one target's records, from evidence as `observe` takes it; errors as there."""
        return self.of(observe(*evidence, target=target, references=references))


ATTACKS: dict[str, Attack] = {}


def declare(*attacks: Attack) -> None:
    """Enter attacks, each under a name of its own."""
    for attack in attacks:
        if attack.name in ATTACKS:
            raise ValueError(f"attack {attack.name}: there is one of this name already")
        ATTACKS[attack.name] = attack


def registry() -> dict[str, Attack]:
    """The registered attacks by name, in the order in which tables list them."""
    places = {name: place for place, name in enumerate(ORDER)}
    names = sorted(ATTACKS, key=lambda name: places.get(name, len(places)))
    return {name: ATTACKS[name] for name in names}


def requirements(attacks: Iterable[Attack] | None = None) -> pd.DataFrame:
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
                "function": attack.function.__name__,
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


def scores(*evidence: xr.Dataset, target: int = 0, references: int | None = None) -> Scores:
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
            score[name] = attack.score(seen)
        except InputError as error:
            # What is there does not do: no model trained on the record, one reference only.
            lacking[name] = str(error)
    return Scores(seen.record, seen.member, score, lacking)


def score_table(
    *evidence: xr.Dataset, targets: tuple[int, ...] | None = None, references: int | None = None
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
