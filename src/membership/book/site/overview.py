"""Every exhibit, printed number and claim of the book as committed: what the overview lists."""

import csv
import io
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import membership
from membership import paths
from membership.book import published
from membership.book.exhibits import claims, declared
from membership.book.exhibits.chapter import claims_of
from membership.book.exhibits.declaration import Exhibit
from membership.book.exhibits.exhibit_pages import claims_page, page_of
from membership.book.exhibits.listing import NOT_RUN, recipe, standing
from membership.book.exhibits.numbers import Quantity, printed_text
from membership.book.exhibits.panels import WORDS, Panel, counted, panels
from membership.book.exhibits.panels import in_words as _counted_in_words
from membership.book.exhibits.source import Committed
from membership.book.published import verdicts
from membership.book.running.chapter_files import settings_class, title

COLUMNS = (
    *("paper", "kind", "id", "label", "what", "metric", "standing", "published", "regenerated"),
    *("low", "high", "verdict", "reason", "link"),
)
VERDICTS = (*WORDS, NOT_RUN)
PAGE = "book/verdicts"
# Verdicts of numbers that a run could be set against, and the one table of a formula among them.
COMPARED = verdicts.WORDS
_ORIGINS = {"papers": "paper", "book": "ours"}
CLOSED_FORM = "gmip-tab-5"


@dataclass(frozen=True)
class Entry:
    """One exhibit: how near its run is to the paper's, and its printed numbers."""

    exhibit: Exhibit
    run: Panel | None
    standing: tuple[str, ...]
    numbers: list[Quantity]

    @property
    def counts(self) -> dict[str, int]:
        """How many numbers got each verdict that occurs, in a fixed order."""
        return counted([number.verdict for number in self.numbers], VERDICTS)

    @property
    def summary(self) -> str:
        """The counts in words, or why there are none."""
        return _counted_in_words(self.counts) or (
            "not in the paper" if self.exhibit.kind == "control" else "no numbers"
        )

    @property
    def nearness(self) -> str:
        """Its standing in a phrase: of several words none holds of the whole run."""
        if len(self.standing) == 1:
            return self.standing[0]
        return ", ".join(f"in part {word}" for word in self.standing)

    @property
    def link(self) -> str:
        """Where it is shown, relative to the book."""
        page = recipe(self.exhibit.id) if self.run is None else ""
        return (
            f"{page}.html"
            if page
            else f"chapters/{page_of(self.exhibit.id)}.html#{self.exhibit.id}"
        )


@dataclass(frozen=True)
class Part:
    """One chapter: its exhibits and claims, and printed numbers that no exhibit's table holds."""

    chapter: str
    entries: list[Entry]
    claims: list[claims.ClaimRow]
    elsewhere: list[Quantity]

    @property
    def title(self) -> str:
        """The chapter's."""
        return title(self.chapter)

    @property
    def paper(self) -> str:
        """The paper, or the question across papers, as running text names it."""
        return published.subjects[self.chapter].short

    @property
    def about(self) -> str:
        """What stands beside its title: the paper, or that it is about several."""
        return self.paper if self.chapter in published.papers else "across the papers"

    @property
    def places(self) -> dict[str, str]:
        """Where each exhibit is shown, by id."""
        return {entry.exhibit.id: entry.link for entry in self.entries}

    @property
    def numbers(self) -> list[Quantity]:
        """All of them."""
        return [number for entry in self.entries for number in entry.numbers] + self.elsewhere

    @property
    def counts(self) -> dict[str, int]:
        """Its numbers by verdict."""
        return counted([number.verdict for number in self.numbers], VERDICTS)

    @property
    def by_origin(self) -> dict[str, dict[str, int]]:
        """Its sentences by outcome, apart for what papers say and for what the book adds."""
        by_source = {name: claims.counts(self.claims, origin) for name, origin in _ORIGINS.items()}
        return {name: counts for name, counts in by_source.items() if counts}

    def sentences(self, name: str) -> list[tuple[str, list[str]]]:
        """Each of those with its mark, and what that divides into."""
        return claims.sentences(self.claims, _ORIGINS[name])

    def link(self, claim: str) -> str:
        """Where a claim is shown, relative to the book."""
        return f"chapters/{claims_page(self.chapter)}.html#{claim}"


@cache
def parts() -> tuple[Part, ...]:
    """Every chapter, tested and judged now; half a minute the first time."""
    return tuple(part(chapter) for chapter in published.subjects)


def part(chapter: str) -> Part:
    """One chapter, tested and judged now."""
    exhibits = declared(chapter)
    runs = {exhibit.id: next(iter(panels(exhibit, "paper", "")), None) for exhibit in exhibits}
    printed = published.printed(chapter)
    without_run = printed[~printed["printed_at"].isin(_beside(runs))]
    not_run = {
        exhibit_id: _numbers_not_run(rows) for exhibit_id, rows in without_run.groupby("exhibit")
    }
    entries = [
        Entry(
            exhibit,
            runs[exhibit.id],
            standing(exhibit, runs[exhibit.id]),
            _judged(runs[exhibit.id]) + not_run.pop(exhibit.id, []),
        )
        for exhibit in exhibits
    ]
    source = Committed(settings_class(chapter).from_values({"profile": "paper"}), exhibits)
    claim_rows = claims.rows(claims_of(chapter), exhibits, source, None)
    elsewhere = [number for numbers in not_run.values() for number in numbers]
    return Part(chapter, entries, claim_rows, elsewhere)


def totals() -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
    """Numbers by verdict, and the papers' claims and our own by outcome, of the whole book."""
    verdicts = [number.verdict for chapter in parts() for number in chapter.numbers]
    claim_rows = [row for chapter in parts() for row in chapter.claims]
    of_papers, of_book = (claims.counts(claim_rows, origin) for origin in ("paper", "ours"))
    return counted(verdicts, VERDICTS), of_papers, of_book


def in_words() -> str:
    """The papers' sentences and printed numbers by what came of them, as the README has them."""
    verdicts, of_papers, _ = totals()
    outcomes = ", ".join(f"{n} {word}" for word, n in of_papers.items())
    return (
        f"Of {sum(of_papers.values())} sentences of the papers, each counted once by the test that "
        f"was fixed beforehand: {outcomes}. Of {sum(verdicts.values())} printed numbers: "
        f"{_counted_in_words(verdicts)}."
    )


def today() -> dict[str, int]:
    """The papers' sentences by the tests of today, which `totals` counts by those fixed before."""
    claim_rows = [row for chapter in parts() for row in chapter.claims]
    return claims.counts(claim_rows, "paper", today=True)


def compared() -> tuple[dict[str, int], dict[str, int]]:
    """Numbers that could be compared, by verdict: of measurements, and of the one closed form."""
    verdicts = [
        number.verdict
        for chapter in parts()
        for entry in chapter.entries
        if entry.exhibit.id == CLOSED_FORM
        for number in entry.numbers
    ]
    counts, formula = totals()[0], counted(verdicts, COMPARED)
    measured = {word: counts.get(word, 0) - formula.get(word, 0) for word in COMPARED}
    return measured, formula


def rows(of_chapters: tuple[Part, ...]) -> Iterator[dict[str, Any]]:
    """The whole as flat rows: exhibits, each followed by its numbers, and claims."""
    for chapter in of_chapters:
        for entry in chapter.entries:
            yield _row(
                chapter,
                kind="exhibit",
                id=entry.exhibit.id,
                label=entry.exhibit.label,
                what=entry.exhibit.question,
                standing="; ".join(entry.standing),
                verdict=entry.summary,
                reason=entry.run.sentence if entry.run else "",
                link=f"book/{entry.link}",
            )
            yield from (_of_number(chapter, entry, number) for number in entry.numbers)
        yield from (_of_number(chapter, None, number) for number in chapter.elsewhere)
        yield from (_of_claim(chapter, row) for row in chapter.claims)


def as_csv(of_chapters: tuple[Part, ...]) -> bytes:
    """`rows` as CSV."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows(of_chapters))
    return text.getvalue().encode()


def as_json(of_chapters: tuple[Part, ...]) -> bytes:
    """`rows` as JSON, with the version of the book; what is empty is left out."""
    entries = [
        {key: value for key, value in row.items() if value != ""} for row in rows(of_chapters)
    ]
    document = {"version": membership.__version__, "rows": entries}
    return (json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False) + "\n").encode()


def write_copies(app: Any, exception: Exception | None) -> None:
    """Put the overview beside its page as CSV and JSON; called by Sphinx at its end."""
    if exception is None and PAGE in app.env.found_docs:
        for suffix, content in ((".csv", as_csv), (".json", as_json)):
            paths.atomic_write((app.outdir / PAGE).with_suffix(suffix), content(parts()))


def _beside(runs: dict[str, Panel | None]) -> set[str]:
    """Where the numbers are printed that a run stands beside."""
    tables = [run.judged for run in runs.values() if run and run.judged is not None]
    return {place for table in tables for place in table["printed_at"]}


def _judged(run: Panel | None) -> list[Quantity]:
    return [number for number in run.numbers if number.verdict] if run and run.exhibit.judge else []


def _numbers_not_run(rows: Any) -> list[Quantity]:
    """Printed numbers beside which no run stands."""
    return [
        Quantity(
            {"what": row.what},
            published.metric_words(row.metric),
            *(math.nan, math.nan, math.nan, row.value),
            published_text=printed_text(row.value, row.decimals),
            # No run of any machine but the paper's stands beside a time.
            verdict=verdicts.SECONDS if row.seconds else NOT_RUN,
        )
        for row in rows.itertuples()
    ]


def _of_number(chapter: Part, entry: Entry | None, number: Quantity) -> dict[str, Any]:
    return _row(
        chapter,
        kind="number",
        id=entry.exhibit.id if entry else "",
        label=entry.exhibit.label if entry else "in the text",
        what=", ".join(number.keys.values()),
        metric=number.metric,
        standing="" if math.isfinite(number.value) else NOT_RUN,
        published=number.published_text,
        regenerated=_exact(number.value),
        low=_exact(number.low),
        high=_exact(number.high),
        verdict=number.verdict,
        reason=number.reason,
        link=f"book/{entry.link}" if entry else "",
    )


def _of_claim(chapter: Part, row: claims.ClaimRow) -> dict[str, Any]:
    number = next(iter(row.outcome.numbers), None)
    formerly = f" ({row.former.mark} by the test fixed beforehand)" if row.former else ""
    low, high = number.interval() if number else (math.nan, math.nan)
    return _row(
        chapter,
        kind="claim",
        id=row.claim.id,
        label=row.claim.section,
        what=row.claim.quote,
        metric=number.label if number else "",
        standing="; ".join(row.outcome.datasets),
        published=row.claim.published,
        regenerated=_exact(number.difference) if number else "",
        low=_exact(low),
        high=_exact(high),
        verdict=row.outcome.mark,
        reason=row.outcome.reason + formerly,
        link=f"book/{chapter.link(row.claim.id)}",
    )


def _row(chapter: Part, **fields: Any) -> dict[str, Any]:
    return {**dict.fromkeys(COLUMNS, ""), "paper": chapter.paper, **fields}


def _exact(value: float) -> float | str:
    """Ten significant digits, as the exhibits' own CSV files have; nothing where it is missing."""
    return float(f"{value:.10g}") if math.isfinite(value) else ""
