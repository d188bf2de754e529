"""A chapter's claims as a page shows them: what each says, its contrasts, and what came of it."""

import math
from dataclasses import dataclass

from membership.book import published
from membership.book.exhibits.cards import macro, rendered
from membership.book.exhibits.declaration import Exhibit
from membership.book.exhibits.exhibit_pages import claims_page, page_of
from membership.book.exhibits.listing import recipe
from membership.book.exhibits.panels import WORDS, counted, panels
from membership.book.exhibits.source import Source
from membership.book.published import Claim, Contrast, Outcome
from membership.book.published.claims import retired
from membership.book.published.outcomes import CONTRADICTED, MARKS, NOT_TESTED, SUPPORTED, UNDECIDED

# More contrasts than this are not drawn: they stand behind "The test".
MOST_LANES = 3


FINDINGS = "This book's"


@dataclass(frozen=True)
class Lane:
    """One contrast about its threshold, at 50 percent; what speaks for the claim is on the right.

    ``sure`` is its interval, or in words why it has none. ``band`` are the ends of the margin
    where the claim is that two things are alike; ``word`` is what this contrast alone would make
    of it.
    """

    text: str
    value: str
    sure: str
    point: float
    ends: tuple[float, float]
    band: tuple[float, float] | None
    word: str


@dataclass(frozen=True)
class ClaimRow:
    """One claim: the paper-size outcome with its lanes, and that of the reader's run if any.

    ``shared`` is what the labels of all lanes begin and end with; the lanes leave it out.
    ``former`` is the outcome by the test that was fixed beforehand, where that is another.
    """

    claim: Claim
    exhibits: list[Exhibit]
    outcome: Outcome
    shared: str
    lanes: list[Lane]
    left_out: list[Contrast]
    own: Outcome | None
    former: Outcome | None

    @property
    def as_fixed(self) -> str:
        """What comes of it by the test that was fixed beforehand."""
        return (self.former or self.outcome).mark

    @property
    def is_untested(self) -> bool:
        """Whether neither run tests it."""
        return {self.outcome.word, *([self.own.word] if self.own else [])} == {NOT_TESTED}


def rows(
    claims: tuple[Claim, ...], exhibits: tuple[Exhibit, ...], paper: Source, own: Source | None
) -> list[ClaimRow]:
    """Test every claim on the full run and, where there is one, on the reader's own."""
    named = {exhibit.id: exhibit for exhibit in exhibits}
    return [_row(claim, named, paper, own) for claim in claims]


def html(chapter: str, results: list[ClaimRow], exhibits: tuple[Exhibit, ...]) -> str:
    """The table of claims as HTML, without styles or scripts; every text is escaped.

    Parameters
    ----------
    chapter : str
        Its name.
    results : list of ClaimRow
        What `rows` made of the claims.
    exhibits : tuple of Exhibit
        Of the chapter: the verdicts on their numbers are counted above the table.
    """
    tested = [row for row in results if not row.is_untested]
    return rendered(
        "claims.html",
        chapter=chapter,
        groups=_by_origin(chapter, tested),
        findings=FINDINGS,
        untested=[row for row in results if row.is_untested],
        counts=[
            (heading, counts(results, origin), counts(results, origin, today=True))
            for origin, heading in _origins(chapter)
        ],
        numbers=verdicts(exhibits),
        has_own=any(row.own for row in results),
        places={exhibit.id: _place(chapter, exhibit.id) for exhibit in exhibits},
        numbering=_numbering(results),
        retired=retired(chapter),
    )


def alone(chapter: str, results: list[ClaimRow]) -> str:
    """The same in a plain table that needs no style sheet, those not tested among the others."""
    groups = _by_origin(chapter, results)
    has_own = any(row.own for row in results)
    return macro("alone.html", "claims", groups, _numbering(results), has_own)


def _origins(chapter: str) -> tuple[tuple[str, str], ...]:
    of_paper = "The papers'" if chapter in published.questions else "The paper's"
    return (("paper", of_paper), ("ours", FINDINGS))


def _by_origin(chapter: str, results: list[ClaimRow]) -> list[tuple[str, list[ClaimRow]]]:
    return [
        (heading, [row for row in results if row.claim.origin == origin])
        for origin, heading in _origins(chapter)
    ]


def _numbering(results: list[ClaimRow]) -> dict[str, int]:
    return {row.claim.id: i + 1 for i, row in enumerate(results)}


def counts(results: list[ClaimRow], origin: str, today: bool = False) -> dict[str, int]:
    """How many sentences of papers, or findings of our own, came out how: each counts once.

    By the test that was fixed beforehand; as it is ``today``, where that is another. A claim that
    tests a sentence once more counts with the first, in the chapter of that one.
    """
    first = [row for row in results if row.claim.origin == origin and not row.claim.variant_of]
    return counted([row.outcome.mark if today else row.as_fixed for row in first], MARKS)


def sentences(results: list[ClaimRow], origin: str) -> list[tuple[str, list[str]]]:
    """Of each sentence that `counts` counts the mark, and what it divides into, if into any.

    Those are the outcomes by all of its tests, the changed ones too, in the order of `MARKS`.
    """
    found = []
    for row in results:
        if row.claim.origin == origin and not row.claim.variant_of:
            others = [one for one in results if one.claim.variant_of == row.claim.id]
            marks = [row.as_fixed, *(one.outcome.mark for one in ([row] if row.former else []))]
            marks += [one.outcome.mark for one in others]
            found.append((row.as_fixed, sorted(marks, key=MARKS.index) if marks[1:] else []))
    return sorted(found, key=lambda sentence: MARKS.index(sentence[0]))


def text(results: list[ClaimRow]) -> str:
    """The claims and their outcomes in plain text, a line each."""
    return "\n".join(
        f"{row.claim.id}: {row.outcome.mark}: {row.claim.statement}" for row in results
    )


def verdicts(exhibits: tuple[Exhibit, ...]) -> dict[str, int]:
    """How many published numbers of a chapter got each verdict in the full run."""
    runs = [run for one in exhibits if one.judge for run in panels(one, "paper", "")]
    return counted([quantity.verdict for run in runs for quantity in run.numbers], WORDS)


def _place(chapter: str, exhibit_id: str) -> str:
    """The address of an exhibit as seen from the table of claims."""
    if page := recipe(exhibit_id):
        return f"../{page}.html"
    page = page_of(exhibit_id)
    return f"#{exhibit_id}" if page == claims_page(chapter) else f"{page}.html#{exhibit_id}"


def _row(claim: Claim, named: dict[str, Exhibit], paper: Source, own: Source | None) -> ClaimRow:
    outcome = claim.outcome(paper)
    shown = outcome.numbers[:MOST_LANES]
    most = max((_reach(number) for number in shown), default=0.0) or 1.0
    shared, labels = _shared([number.label for number in shown])
    lanes = [
        _lane(x, label, most, outcome.word, claim.units)
        for x, label in zip(shown, labels, strict=True)
    ]
    rests_on = [named[name] for name in claim.exhibits if name in named]
    left_out = list(outcome.numbers[MOST_LANES:])
    own_outcome, former = own and claim.outcome(own), claim.former_outcome(paper)
    return ClaimRow(claim, rests_on, outcome, shared, lanes, left_out, own_outcome, former)


def _shared(labels: list[str]) -> tuple[str, list[str]]:
    """What all labels begin and end with, and what is left of each; told once, they are short."""
    parts = [label.split(", ") for label in labels]
    least = min(map(len, parts), default=0)
    ends = next((i for i in range(least) if len({tuple(x[: i + 1]) for x in parts}) > 1), 0)
    tail = next((i for i in range(least) if len({tuple(x[-i - 1 :]) for x in parts}) > 1), 0)
    if len(labels) < 2 or not ends or ends + tail >= least:
        return "", labels
    common = parts[0][:ends] + parts[0][len(parts[0]) - tail :]
    return ", ".join(common), [", ".join(x[ends : len(x) - tail]) for x in parts]


def _claimed(contrast: Contrast) -> tuple[float, float, float]:
    """The threshold, the margin about it (0 where a side is claimed), and the side's sign."""
    if contrast.claimed is None or contrast.claimed.kind == "at most":
        return 0.0, 0.0, 1.0
    if contrast.claimed.kind == "within":
        return 0.0, contrast.claimed.number, 1.0
    return contrast.claimed.number, 0.0, 1.0 if contrast.claimed.kind == "above" else -1.0


def _reach(contrast: Contrast) -> float:
    threshold, margin, _ = _claimed(contrast)
    return max(
        margin, *(abs(x - threshold) for x in (contrast.difference, contrast.low, contrast.high))
    )


def _lane(contrast: Contrast, label: str, most: float, outcome: str, units: str = "") -> Lane:
    threshold, margin, sign = _claimed(contrast)

    def at(value: float) -> float:
        return 50 + 45 * sign * (value - threshold) / most

    ends = sorted((at(contrast.low), at(contrast.high)))
    # An end that is near 0, and not 0, does not read as 0.
    wide = contrast.high - contrast.low
    width = min([wide, *(3 * abs(x) for x in (contrast.low, contrast.high) if abs(x) > wide / 50)])
    return Lane(
        text=label,
        value=_signed(contrast.difference, width),
        sure=f"[{', '.join(_signed(x, width) for x in (contrast.low, contrast.high))}]"
        if contrast.high > contrast.low
        else _without_interval(contrast, units),
        point=at(contrast.difference),
        ends=(ends[0], ends[1]),
        band=(at(-margin), at(margin)) if margin else None,
        word=_alone(contrast, outcome),
    )


def _alone(contrast: Contrast, outcome: str) -> str:
    """What the interval of one contrast says; the whole outcome where no side is claimed."""
    if contrast.claimed is None or contrast.claimed.kind == "at most":
        return outcome
    threshold, margin, sign = _claimed(contrast)
    low, high = sorted(sign * (x - threshold) for x in (contrast.low, contrast.high))
    for_it = low >= -margin and high <= margin if margin else low > 0
    against = (low > margin or high < -margin) if margin else high < 0
    return SUPPORTED if for_it else CONTRADICTED if against else UNDECIDED


def _without_interval(contrast: Contrast, units: str) -> str:
    """Why a number has none, in a reader's words."""
    if contrast.is_limit:
        return "(itself an interval's end)"
    if contrast.units is None:
        return "(computed, no sampling)"
    return f"(the same in each of {contrast.units:,} {units or 'repeats'})"


def _signed(value: float, width: float) -> str:
    """A number with its sign, to a third of its interval's width or less; a zero has no sign."""
    digits = min(max(0, -math.floor(math.log10(width / 3))), 6) if width > 0 else None
    text = f"{value:+.4g}" if digits is None else f"{value:+.{digits}f}"
    text = text if float(text) else text[1:]
    return text.replace("-", "\N{MINUS SIGN}")
