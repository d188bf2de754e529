"""A claim's test as its list declares it: rows of an exhibit, and what is to hold of them.

``table`` names the exhibit and ``where`` its rows; of exhibits that ``further`` names they are rows
too. A part takes some of them by name (``rows``, or one ``row``), numbers of one of `KINDS`
(``dependent``: where summed, their errors are added), and
says under ``holds`` what is asked: a sum of rows, one of `WORDS`, and a number, which may be a sum
of ``exact(row)``; what exceeds a ``zero`` contradicts it where it is ``exact``.
``every`` repeats the parts on each combination of some columns that the rows have, ``each`` on
every combination of the values that it gives; where such a word is a column it chooses the row,
and in braces it stands in labels and rows. ``over`` names the column of data sets, each with an
outcome of its own; ``on`` says what data the outcome holds for, those words of ``every`` if not
given (``{size}`` is what the table says of the size of its ``dataset``), and ``least`` what sizes
it takes. ``by`` names the chapter's function of the test and a run that says what data the outcome
holds for, where that takes more than words.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, Self

import pandas as pd
from pydantic import BaseModel, ConfigDict, ValidationError, field_validator, model_validator

from membership.book.published.claim_rules import about, better, chance, identity, much_better
from membership.book.published.contrasts import Contrast, Dependent
from membership.book.published.outcomes import Outcome, every, overall, summed_up
from membership.book.published.rows import (
    correlation,
    of_row,
    row_at,
    rows_at,
    share,
    stated_size,
    total,
)
from membership.errors import InputError

RULES = {">": much_better, "<": chance, "within": about, "better": better}
ZERO = "zero"
WORDS = (*RULES, ZERO)
KINDS = {"mean": of_row, "dependent": Dependent.of, "share": share, "correlation": correlation}

Value = str | int | float
Row = dict[str, Value]
Words = Mapping[str, Any]


class _Declared(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Terms(_Declared):
    """What a chapter's tests share: data sets as in `overall`, and what each is called with sizes.

    Of ``on`` the first stands whose words the run has; ``{over}`` is the data set's name. Of many
    parts so many numbers are ``shown``: all if 0.
    """

    paper: tuple[str, ...] = ()
    simulated: tuple[str, ...] = ()
    on: tuple[str, ...] = ()
    shown: int = 0


class Part(_Declared):
    """What is to hold of some rows: of another exhibit than the test's where it names a table."""

    label: str
    holds: str
    row: Row = {}
    rows: dict[str, Row] = {}
    table: str = ""
    kind: Literal["mean", "dependent", "share", "correlation"] = "mean"

    @field_validator("holds")
    @classmethod
    def _has_a_rule(cls, holds: str) -> str:
        if sum(f" {word} " in holds for word in WORDS) != 1:
            raise ValueError(f"{holds!r} takes one of the words {', '.join(WORDS)}")
        return holds

    @property
    def parsed(self) -> tuple[str, str, str]:
        """The sum of rows, the word, and the number."""
        (word,) = (word for word in WORDS if f" {word} " in self.holds)
        left, right = self.holds.split(f" {word} ")
        return left, word, right

    def of(self, table: pd.DataFrame, words: Words) -> tuple[str, Contrast, float]:
        """The word, the sum of rows that it is about, and what that is set beside."""
        at = {name: word for name, word in words.items() if name in table.columns}
        rows = {
            name: KINDS[self.kind](row_at(table, **{**at, **_filled(row, words)}), "")
            for name, row in (self.rows or {"row": self.row}).items()
        }
        left, word, right = self.parsed
        number, margin = (total(text, {**words, **rows}) for text in (left, right))
        label = self.label.format_map(words)
        if isinstance(number, Contrast):
            return word, number.minus(0.0, label), margin
        return word, Contrast(label, number), margin


class Test(_Declared):
    """A declared test; see the module."""

    __test__ = False

    table: str
    parts: tuple[Part, ...]
    further: tuple[str, ...] = ()
    where: dict[str, Value | list[Value]] = {}
    every: tuple[str, ...] = ()
    each: dict[str, list[Value]] = {}
    over: str = ""
    always: bool = False
    exact: bool = False
    on: tuple[str, ...] = ()
    least: dict[str, int] = {}
    by: str = ""
    terms: Terms = Terms()

    @model_validator(mode="before")
    @classmethod
    def _one_part(cls, values: dict[str, Any]) -> dict[str, Any]:
        of_a_part = {"label", "holds", "row", "rows", "kind"}
        alone = {name: values[name] for name in values.keys() & of_a_part}
        if "parts" in values or not alone:
            return values
        return {"parts": [alone]} | {k: v for k, v in values.items() if k not in alone}

    @model_validator(mode="after")
    def _has_its_rows(self) -> Self:
        words = dict.fromkeys((*self.every, *self.each), 1.0)
        for part in self.parts:
            left, word, right = part.parsed
            known = words | dict.fromkeys(part.rows or ["row"], Contrast("", 1.0))
            total(left, known)
            if isinstance(total(right, known), Contrast):
                raise ValueError(f"{right!r} is no number; take exact(row)")
            if word == ZERO and len(self.parts) > 1:
                raise ValueError(f"{part.holds!r} stands alone: it takes all of a test's rows")
        return self

    @property
    def exhibits(self) -> tuple[str, ...]:
        """The tables that it reads."""
        return tuple(
            dict.fromkeys([self.table, *self.further, *(p.table for p in self.parts if p.table)])
        )

    def at(self, **where: Value | list[Value]) -> Self:
        """The same of some of its rows alone."""
        return self.model_copy(update={"where": {**self.where, **where}})

    def outcome(self, source: Any) -> Outcome:
        """What it makes of a run."""
        tables = self._tables(source)
        attrs = tables[self.table].attrs
        sizes = attrs.get("sizes", {})
        for name, needed in self.least.items():
            stated = stated_size(attrs, name)
            if stated < needed:
                raise InputError(f"it takes {needed:,} {name.lower()}; there are {stated:,}")
        rows = tables[""]
        if not self.over:
            cases = list(self._cases(rows, {}))
            texts = self.on or (", ".join(f"{{{name}}}" for name in self.every),)
            of = [
                {"size": sizes.get(words.get("dataset"), ""), **sizes, **words} for words in cases
            ]
            on = [text.format_map(words) for words in of for text in texts]
            return self._judged(tables, cases, 1).on(*filter(None, dict.fromkeys(on)))
        names, outcomes = list(dict.fromkeys(rows[self.over])), {}
        for name in names:
            cases = list(self._cases(rows, {self.over: name}))
            on = _first(self.on or self.terms.on, {"over": name, **sizes}) or name
            judged = self._judged(tables, cases, len(names) if self.always else 1)
            outcomes[name] = judged.on(on)
        terms = self.terms
        return overall(outcomes, terms.paper, simulated=terms.simulated, always=self.always)

    def judged(self, source: Any, times: int = 1, **where: Value) -> Outcome:
        """What it makes of some rows of a run, of data that the caller names.

        The parts are among so many `times` as many, as where each data set is one.
        """
        tables = self.at(**where)._tables(source)
        return self._judged(tables, list(self._cases(tables[""], where)), times)

    def _tables(self, source: Any) -> dict[str, pd.DataFrame]:
        """The tables that it reads by their ids, and under "" the rows that it is about."""
        tables = {name: source.table(name) for name in self.exhibits}
        every_row = pd.concat([tables[name] for name in (self.table, *self.further)])
        return {**tables, "": _at(every_row, self.where)}

    def _cases(self, rows: pd.DataFrame, words: Row) -> Iterator[Row]:
        """The words of each repetition of the parts."""
        there = rows_at(rows, **words)[list(self.every)].drop_duplicates()
        values = there.itertuples(index=False, name=None) if self.every else [()]
        for row, combination in itertools.product(values, itertools.product(*self.each.values())):
            yield {
                **words,
                **dict(zip([*self.every, *self.each], [*row, *combination], strict=True)),
            }

    def _judged(self, tables: Mapping[str, Any], cases: Sequence[Words], times: int) -> Outcome:
        pairs = [
            part.of(tables[part.table], words)
            for words, part in itertools.product(cases, self.parts)
        ]
        word, first, threshold = pairs[0]
        if word == ZERO:
            residual = [contrast.difference for _, contrast, _ in pairs]
            # What is to be 0 without any tolerance is a count.
            return identity(residual, threshold, first.label, exact=self.exact or threshold == 0)
        parts = times * len(pairs)
        outcomes = [
            RULES[word](contrast, threshold, parts=parts) for word, contrast, threshold in pairs
        ]
        if len(outcomes) == 1:
            return outcomes[0]
        shown = self.terms.shown or len(outcomes)
        return summed_up(outcomes, shown) if shown < len(outcomes) else every(outcomes)


def read(claim: str, declared: Mapping[str, Any], terms: Mapping[str, Any]) -> Test:
    """A claim's declared test; ValueError, which names the claim and the word, where it is none."""
    try:
        return Test(**declared, terms=terms)
    except ValidationError as refused:
        error = refused.errors()[0]
        where = ".".join(map(str, error["loc"])) or "test"
        raise ValueError(f"claim {claim}: {where}: {error['msg']}") from None


def _filled(row: Row, words: Words) -> Row:
    return {k: v.format_map(words) if isinstance(v, str) else v for k, v in row.items()}


def _at(table: pd.DataFrame, where: Mapping[str, Any]) -> pd.DataFrame:
    """The rows whose columns hold a value, or one of several."""
    several = {name: value for name, value in where.items() if isinstance(value, list)}
    for name, values in several.items():
        table = table[table[name].isin(values)]
    return rows_at(table, **{k: v for k, v in where.items() if k not in several})


def _first(texts: Sequence[str], words: Words) -> str:
    """The first text whose words there are."""
    for text in texts:
        try:
            return text.format_map(words)
        except KeyError:
            continue
    return ""
