"""Sentences of a paper, or of ours, each with the test that decides it."""

import functools
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from types import ModuleType
from typing import Any

import pandas as pd

from membership.book.published import declared_tests
from membership.book.published.outcomes import UNDECIDED, Outcome, untested
from membership.errors import InputError

_FOLDER = files("membership.book.published")
ORIGINS = ("paper", "ours")
COLUMNS = {
    "claim": "its id",
    "quote": "the sentence",
    "section": "where it stands",
    "statement": "what is tested",
    "exhibits": "ids of the exhibits it rests on",
    "published": "the numbers that the paper gives for it",
    "outcome": "supported, contradicted, undecided or not tested here; the first two also on "
    "substitute data alone",
    "reason": "one line",
    "numbers": "each contrast with its interval and what is claimed of it",
    "difference": "the first contrast",
    "low": "its 95% interval",
    "high": "its 95% interval",
    "data": "data sets and sizes that the outcome holds for",
    "units needed": "units that it would take, where it is undecided",
    "origin": "paper or ours",
    "changed": "how and why the test is not the one that was fixed beforehand",
    "former test": "the test that another took the place of",
    "former outcome": "what it makes of the same run",
    "variant of": "the claim whose sentence it tests once more",
}


@dataclass(frozen=True)
class Claim:
    """A sentence and the test that decides it.

    Attributes
    ----------
    id : str
        "iha-c03".
    quote : str
        The sentence, as the paper has it.
    section : str
        Where it stands: "4.2, Table 2".
    statement : str
        What is tested, with its threshold, in one or two sentences.
    exhibits : tuple of str
        Ids of the exhibits that its numbers come from; may be empty.
    test : callable
        From a source of a run's exhibits and evidence, ``source.table(id)`` and
        ``source.evidence(name)``, to an `Outcome`. What the run has no data for raises an
        `InputError` or returns `untested`.
    origin : {"paper", "ours"}
    published : str
        The numbers that the paper gives for it.
    changed : str
        Where the test differs from the one that was fixed beforehand: how and why.
    former : callable, optional
        The test that was fixed beforehand, where another took its place; both are shown.
    former_statement : str
        What that one tests.
    variant_of : str
        The claim, of any chapter, that tests the same sentence first: a sentence counts once.
    closed : str
        Why no run decides it, whatever its size, where it is undecided and the test does not say.
    units : str
        What its numbers are means over: "target models"; where an outcome says how many it takes.

    Raises
    ------
    ValueError
        A field that a reader needs is empty, or the origin is neither.
    """

    id: str
    quote: str
    section: str
    statement: str
    exhibits: tuple[str, ...]
    test: Callable[[Any], Outcome]
    origin: str = "paper"
    published: str = ""
    changed: str = ""
    former: Callable[[Any], Outcome] | None = None
    former_statement: str = ""
    variant_of: str = ""
    closed: str = ""
    units: str = ""

    def __post_init__(self) -> None:
        needed = ("changed", "former_statement") if self.former else ()
        needed = ("id", "quote", "statement", *needed)
        lacking = [name for name in needed if not getattr(self, name)]
        if lacking:
            raise ValueError(f"claim {self.id!r} lacks {', '.join(lacking)}")
        if self.origin not in ORIGINS:
            raise ValueError(f"claim {self.id}: origin {self.origin!r}; one of {ORIGINS}")

    def outcome(self, source: Any) -> Outcome:
        """What the test makes of a run; *not tested here* where the run lacks what it needs."""
        outcome = _made_of(self.test, source)
        closed = self.closed or outcome.closed
        if closed and outcome.word == UNDECIDED:
            reason = _and(outcome.reason, closed)
            return replace(outcome, units_needed=None, reason=reason, closed=closed)
        return outcome

    def former_outcome(self, source: Any) -> Outcome | None:
        """The same of the test that it took the place of, where there was one."""
        return _made_of(self.former, source) if self.former else None


def _made_of(test: Callable[[Any], Outcome], source: Any) -> Outcome:
    try:
        return test(source)
    except InputError as lacking:
        return untested(str(lacking))


def _and(*clauses: str) -> str:
    return "; ".join(filter(None, clauses))


@dataclass(frozen=True)
class Retired:
    """What a claim asked that no claim asks any more, in the words that were committed.

    ``outcome`` is what came of it then, ``commit`` where it first stood; ``now`` is the claim that
    took its place, if any.
    """

    claim: str
    commit: str
    quote: str
    statement: str
    outcome: str
    reason: str
    now: str = ""


def retired(chapter: str) -> tuple[Retired, ...]:
    """What was taken out of a chapter's claims: ``[[retired]]`` of the ledger."""
    listed = tomllib.loads(_FOLDER.joinpath("ledger.toml").read_text(encoding="utf-8"))["retired"]
    prefix = f"{chapter.replace('_', '-')}-"
    return tuple(Retired(**entry) for entry in listed if entry["claim"].startswith(prefix))


def read(chapter: str, *modules: ModuleType) -> tuple[Claim, ...]:
    """The claims listed in ``<chapter>_claims.toml``, each with its test out of some modules.

    ``test``, and ``former`` where another was fixed beforehand, name a function of the modules or
    declare a test (see `declared_tests`); a claim that no run here can test says under
    ``untested`` what it would take. Words in braces stand for those under ``[words]``.
    """
    path = _FOLDER / f"{chapter}_claims.toml"
    listed = tomllib.loads(path.read_text(encoding="utf-8"))
    tests = [entry.get(key) for entry in listed["claims"] for key in ("test", "former")]
    named, known = {test for test in tests if isinstance(test, str)}, {}
    for module in modules:
        twice = named & known.keys() & vars(module).keys()
        if any(known[name] is not vars(module)[name] for name in twice):
            raise ValueError(f"{module.__name__} has another test of these names: {sorted(twice)}")
        known |= vars(module)
    words, terms = listed.get("words", {}), listed.get("tests", {})
    return tuple(_read(entry, words, known, terms) for entry in listed["claims"])


def _read(
    entry: dict[str, Any], words: dict[str, str], known: dict[str, Any], terms: dict[str, Any]
) -> Claim:
    lacking = entry.pop("untested", "").format_map(words)
    if bool(lacking) == ("test" in entry):
        raise ValueError(f"claim {entry['id']}: test {entry.get('test')!r}; give one, or untested")
    tests: dict[str, Any] = {"test": lambda source: untested(lacking)} if lacking else {}
    exhibits: list[str] = []
    for key in [name for name in ("test", "former") if name in entry]:
        test = entry.pop(key)
        if isinstance(test, Mapping):
            declared = declared_tests.read(entry["id"], test, terms)
            exhibits += declared.exhibits
            if declared.by and declared.by not in known:
                raise ValueError(
                    f"claim {entry['id']}: by {declared.by!r}; name a function there is"
                )
            by = functools.partial(known[declared.by], declared) if declared.by else None
            tests[key] = by or declared.outcome
        elif test not in known:
            raise ValueError(f"claim {entry['id']}: {key} {test!r}; name a test that there is")
        else:
            tests[key] = known[test]
    exhibits += entry.pop("exhibits", ())
    changed, closed = (entry.pop(key, "").format_map(words) for key in ("changed", "closed"))
    return Claim(
        **entry, **tests, exhibits=tuple(dict.fromkeys(exhibits)), changed=changed, closed=closed
    )


def table(claims: Iterable[Claim], source: Any) -> pd.DataFrame:
    """Test claims on a run.

    Parameters
    ----------
    claims : iterable of Claim
    source : Source
        A run's exhibits and evidence, ``source.table(id)`` and ``source.evidence(name)``.

    Returns
    -------
    pandas.DataFrame
        A row a claim, in their order; the columns are those of `COLUMNS`, ``difference``, ``low``
        and ``high`` NaN and ``units needed`` <NA> where there are none.

    Raises
    ------
    InputError
        Two claims have the same id.
    """
    claims = tuple(claims)
    names = [claim.id for claim in claims]
    if len(set(names)) < len(names):
        raise InputError(
            f"claims: {max(names, key=names.count)} occurs twice; give each its own id"
        )
    rows = [_row(claim, claim.outcome(source), claim.former_outcome(source)) for claim in claims]
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    return frame.astype({"units needed": "Int64"})


def _row(claim: Claim, outcome: Outcome, former: Outcome | None) -> tuple:
    first = outcome.numbers[0] if outcome.numbers else None
    nan = float("nan")
    return (
        *(claim.id, claim.quote, claim.section, claim.statement, ", ".join(claim.exhibits)),
        *(claim.published, outcome.mark, outcome.reason, "; ".join(map(str, outcome.numbers))),
        *((first.difference, *first.interval()) if first else (nan, nan, nan)),
        *("; ".join(outcome.datasets), outcome.units_needed, claim.origin, claim.changed),
        *(claim.former_statement, former.mark if former else "", claim.variant_of),
    )
