"""What became of a claim, and of one with several parts or on several data sets."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from membership.book.published.contrasts import Contrast

SUPPORTED, CONTRADICTED = "supported", "contradicted"
UNDECIDED, NOT_TESTED = "undecided", "not tested here"
WORDS = (SUPPORTED, CONTRADICTED, UNDECIDED, NOT_TESTED)
# What a reader sees: an outcome that substitutes alone have is a mark of its own.
SUBSTITUTE = {word: f"{word} on substitute data" for word in (SUPPORTED, CONTRADICTED)}
MARKS = (SUPPORTED, CONTRADICTED, *SUBSTITUTE.values(), UNDECIDED, NOT_TESTED)
BY_LESS = "by less than the margin"
LEVEL = "none beyond the margin"
OWN_ANSWERS = "each has an answer of its own, which no further run changes"


@dataclass(frozen=True)
class Outcome:
    """What a test made of a claim.

    Attributes
    ----------
    word : str
        "supported", "contradicted", "undecided" or "not tested here".
    datasets : tuple of str
        The data, with sizes, that it holds for.
    numbers : tuple of Contrast
        What was looked at.
    reason : str
        One line.
    units_needed : int or None
        Where it is undecided: the units that would decide it four times in five, were the number
        as far from its threshold as it is here.
    parts : int
        Among how many its contradiction was judged.
    substitute : str
        Where it is undecided because none of its data are the paper's: "supported" or
        "contradicted" if that is what the substitutes say.
    closed : str
        Where it is undecided: why no run decides it, whatever its size.
    off_paper : bool
        Whether none of its data are the paper's.
    """

    word: str
    datasets: tuple[str, ...] = ()
    numbers: tuple[Contrast, ...] = ()
    reason: str = ""
    units_needed: int | None = None
    parts: int = 1
    substitute: str = ""
    closed: str = ""
    off_paper: bool = False

    @property
    def mark(self) -> str:
        """One of `MARKS`: the word, or what it is on substitute data."""
        return SUBSTITUTE.get(self.substitute, self.word)

    def on(self, *datasets: str) -> "Outcome":
        """The same outcome, for these data."""
        return replace(self, datasets=datasets)


def every(outcomes: Sequence[Outcome]) -> Outcome:
    """A claim with several parts: supported by all, contradicted by one.

    Raises
    ------
    ValueError
        No part is given, or one was contradicted at the level of fewer parts than there are.
    """
    count(outcomes)
    numbers = tuple(number for outcome in outcomes for number in outcome.numbers)
    datasets = tuple(dict.fromkeys(name for outcome in outcomes for name in outcome.datasets))
    words = [outcome.word for outcome in outcomes]
    if CONTRADICTED in words:
        _check_level(outcomes)
        first = outcomes[words.index(CONTRADICTED)]
        many = f"{words.count(CONTRADICTED)} of {len(words)} parts"
        text = f"{many}: {first.reason}" if first.reason else many
        return Outcome(CONTRADICTED, datasets, numbers, text, parts=first.parts)
    if set(words) == {SUPPORTED}:
        reason = BY_LESS if all(outcome.reason == BY_LESS for outcome in outcomes) else ""
        return Outcome(SUPPORTED, datasets, numbers, reason)
    if NOT_TESTED in words:
        first = outcomes[words.index(NOT_TESTED)]
        return Outcome(NOT_TESTED, datasets, numbers, first.reason)
    reason = f"{words.count(SUPPORTED)} of {len(words)} parts supported"
    seen = [outcome.substitute or outcome.word for outcome in outcomes]
    instead = CONTRADICTED if CONTRADICTED in seen else ""
    if set(seen) == {SUPPORTED}:
        instead = SUPPORTED
    left = [outcome for outcome in outcomes if outcome.word == UNDECIDED]
    closed = left[0].closed if all(outcome.closed for outcome in left) else ""
    needed = _needed(outcomes)
    return Outcome(UNDECIDED, datasets, numbers, reason, needed, substitute=instead, closed=closed)


def summed_up(outcomes: Iterable[Outcome], shown: int = 2) -> Outcome:
    """All of a claim's many parts, of which those that come nearest to failing are shown.

    Of a contradicted claim the ones that fail by most.
    """
    outcomes = list(outcomes)
    whole = every(outcomes)
    telling = [part for part in outcomes if part.word == whole.word] or outcomes
    numbers = sorted((number for part in telling for number in part.numbers), key=_to_spare)
    return replace(whole, numbers=tuple(numbers[:shown]))


def _to_spare(number: Contrast) -> float:
    """How far its interval stays within what is claimed of it."""
    (low, high), claimed = number.interval(), number.claimed
    if claimed is None:
        return 0.0
    if claimed.kind == "above":
        return low - claimed.number
    return claimed.number - (max(-low, high) if claimed.kind == "within" else high)


def overall(
    outcomes: Mapping[str, Outcome],
    paper: Sequence[str],
    *,
    simulated: Sequence[str] = (),
    always: bool = False,
) -> Outcome:
    """One outcome from those on several data sets.

    Supported on one of the paper's data sets and on all that decide; contradicted on one of the
    paper's and supported on none, or, for "always", contradicted on any one.

    Parameters
    ----------
    outcomes : mapping from a data set's name to Outcome
        For "always" each judged with ``parts`` the number of data sets.
    paper : sequence of str
        Names of the data sets that the claim is about.
    simulated : sequence of str
        Names of simulated data: they never decide a claim about real data.
    always : bool
        Whether the claim says "always", "on every data set".

    Raises
    ------
    ValueError
        There is no outcome, or an "always" claim was contradicted at the level of one data set.
    """
    count(outcomes)
    tested = {k: outcome for k, outcome in outcomes.items() if outcome.word != NOT_TESTED}
    real = {k: outcome for k, outcome in tested.items() if k not in simulated}
    numbers = tuple(number for outcome in tested.values() for number in outcome.numbers)
    data = tuple(name for k, outcome in tested.items() for name in outcome.datasets or (k,))
    details = "; ".join(f"{k}: {_said(outcome)}" for k, outcome in tested.items())
    if not real:
        why = f"simulated data decide nothing here ({details})" if tested else ""
        first = next(iter(outcomes.values()))
        return Outcome(NOT_TESTED, data, numbers, why or first.reason)
    words = {
        k: outcome.word for k, outcome in real.items() if outcome.word in (SUPPORTED, CONTRADICTED)
    }
    decided, of_paper = set(words.values()), {words[k] for k in words if k in paper}
    if always and CONTRADICTED in decided:
        _check_level(list(real.values()))
        return Outcome(CONTRADICTED, data, numbers, details, parts=len(real))
    if SUPPORTED in of_paper and decided == {SUPPORTED}:
        return Outcome(SUPPORTED, data, numbers, details)
    if CONTRADICTED in of_paper and SUPPORTED not in decided:
        return Outcome(CONTRADICTED, data, numbers, details)
    if not any(k in paper for k in real):
        # More units decide nothing: it takes the paper's data.
        instead = decided.pop() if len(decided) == 1 else ""
        why = f"on substitute data only ({details})"
        return Outcome(UNDECIDED, data, numbers, why, substitute=instead, off_paper=True)
    if len(decided) > 1:
        return Outcome(UNDECIDED, data, numbers, f"split: {details}", closed=OWN_ANSWERS)
    undecided = [outcome for outcome in real.values() if outcome.word == UNDECIDED]
    closed = undecided[0].closed if all(outcome.closed for outcome in undecided) else ""
    return Outcome(UNDECIDED, data, numbers, details, _needed(undecided), closed=closed)


def untested(reason: str) -> Outcome:
    """The outcome of a claim that this run has no data for; say what it would take."""
    return Outcome(NOT_TESTED, reason=reason)


def _needed(outcomes: Sequence[Outcome]) -> int | None:
    """The most that an undecided part takes; unknown where it is for one of them."""
    needed = [outcome.units_needed for outcome in outcomes if outcome.word == UNDECIDED]
    known = [n for n in needed if n is not None]
    return max(known) if known and len(known) == len(needed) else None


def _said(outcome: Outcome) -> str:
    """The word, and why where two things are level: that is not the other way round."""
    return outcome.word + (f" ({outcome.reason})" if LEVEL in outcome.reason else "")


def count(parts: Sequence | Mapping) -> int:
    if not parts:
        raise ValueError("a rule needs at least one contrast or outcome; give them")
    return len(parts)


def _check_level(outcomes: Sequence[Outcome]) -> None:
    """A contradiction among several has to hold at the level of several."""
    parts = len(outcomes)
    loose = [
        outcome for outcome in outcomes if outcome.word == CONTRADICTED and outcome.parts < parts
    ]
    if any(number.standard_error > 0 for outcome in loose for number in outcome.numbers):
        raise ValueError(
            f"parts is {loose[0].parts}; judge each part with parts={parts}, their number"
        )
