"""Tables that people have, as text or Parquet: every cell is accounted for, or a line says which.

Text is read by the standard library, since pandas takes the first of too many cells for an index
and fills in where cells are too few. The page in the browser reads the same files in the same way
(`book/_static/audit-scores.js`).
"""

import codecs
import csv
import datetime
import hashlib
import io
import itertools
import re
import zlib
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from numbers import Number
from pathlib import Path
from typing import Any

import numpy as np

from membership import memory, paths
from membership.arrays import BoolArray, FloatArray
from membership.errors import InputError, brief, extra

BLANKS = " \t\r\n\xa0"
SEPARATORS = ",;\t|"
ENCODINGS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
WITH_COMMA = re.compile(NUMBER.pattern.replace(r"\.", ","))
GROUPED = re.compile(r"[+-]?[1-9][0-9]{0,2}(,[0-9]{3})+")
WHOLE = re.compile(r"[+-]?[0-9]+")
WORDS = np.dtypes.StringDType(na_object=None)  # pyrefly: ignore[unexpected-keyword]
"""Of a column of words: short ones take no more room than numbers, and None is a missing one."""
_ROWS = 20_000
MOST = 1 << 32
"""Bytes of a file that are read, whatever size a pipe or a device is said to have."""
LARGEST_WHOLE = 2**53
"""Above, two whole numbers may be one float."""


class Table:
    """Named columns of one length; words are without blanks around them.

    Parameters
    ----------
    path : pathlib.Path
    columns : dict of str to numpy.ndarray
        Numbers, words, or objects that are neither.
    lines : sequence of int
        Of each record in a file of text; empty where records have none.
    comma : bool
        Whether a number may have a decimal comma: cells are not separated by commas.
    digest : str
        SHA-256 of the file as it was read; empty where there was none.
    """

    def __init__(
        self,
        path: Path,
        columns: dict[str, np.ndarray],
        lines: Sequence[int] = (),
        comma: bool = False,
        digest: str = "",
    ) -> None:
        self.path, self.columns, self.lines, self.comma = path, columns, lines, comma
        self.digest = digest

    def at(self, record: int) -> str:
        """Where in the file a record lies, for a message."""
        return f"line {self.lines[record]}" if len(self.lines) else f"record {record}"

    def cells(self, name: str) -> np.ndarray:
        """A column of numbers or of words, which dates are."""
        cells = self.columns[name]
        if cells.ndim > 1 or cells.dtype.kind == "O":
            odd = next(cell for cell in cells if not _is_read(cell))
            held = f"holds {type(odd).__name__}" if cells.ndim == 1 else f"has shape {cells.shape}"
            raise InputError(
                f"{self.path}: column {name!r} {held}; give one number or word a record"
            )
        return cells

    def numbers(self, name: str) -> tuple[FloatArray, BoolArray]:
        """A column as numbers, and which cells are none (there a number means nothing)."""
        cells = self.cells(name)
        if cells.dtype.kind != "T":
            return cells.astype(np.float64), np.zeros(len(cells), dtype=bool)
        words = self.words(name)
        form = WITH_COMMA if self.comma and _have_decimal_commas(words) else NUMBER
        plain = [word.replace(",", ".") if form.fullmatch(word) else None for word in words]
        values = np.array([np.nan if text is None else float(text) for text in plain])
        return values, np.array([text is None for text in plain])

    def words(self, name: str) -> list[str]:
        """A column as words; an empty one where there is none."""
        return ["" if word is None else str(word) for word in self.cells(name).tolist()]

    def has_large_whole(self, name: str) -> bool:
        """Whether a column holds whole numbers that two of them might be one float of."""
        cells = self.cells(name)
        if cells.dtype.kind == "T":
            whole = (float(word) for word in self.words(name) if WHOLE.fullmatch(word))
            return any(abs(number) > LARGEST_WHOLE for number in whole)
        is_whole = cells.dtype.kind in "iu"
        return is_whole and bool((np.abs(cells.astype(float)) > LARGEST_WHOLE).any())

    def refuse(self, name: str, wrong: BoolArray, accepted: str) -> None:
        """Raise an InputError that names the first wrong cell of a column, if there is one."""
        if wrong.any():
            record = int(np.argmax(wrong))
            cell = self.words(name)[record]
            cell = cell if len(cell) <= 40 else f"{cell[:40]}..."
            place = f"{self.path}, {self.at(record)}"
            raise InputError(f"{place}: {name} is {cell!r}; give {accepted}")


def _have_decimal_commas(words: Sequence[str]) -> bool:
    """Whether commas can only be decimal: no point is, and some cannot be of thousands."""
    if any("." in word and NUMBER.fullmatch(word) for word in words):
        return False
    commas = (word for word in words if "," in word)
    return any(WITH_COMMA.fullmatch(word) and not GROUPED.fullmatch(word) for word in commas)


def read(path: Path) -> Table:
    """Read a table; its line of names tells which of `,`, `;`, tab and `|` separates cells.

    Raises
    ------
    InputError
        The file cannot be read, is no table, or a row has more or fewer cells than there are names.
    """
    most = int(min(MOST, memory.available() / 4))  # a table takes several times its text's room
    packed = paths.content_of(path, most)
    digest = hashlib.sha256(packed).hexdigest()
    content = _unpacked(path, packed, most) if packed[:2] == b"\x1f\x8b" else packed
    if content[:4] == b"PAR1" or path.name.lower().endswith(".parquet"):
        return _parquet(path, content, digest)
    text = _text(path, content)
    separator = _separator(text)
    rows = _rows(path, text, separator)
    _, names = next(rows, (0, []))
    if not names:
        raise InputError(f"{path} is empty; give a file with a line of column names")
    columns, lines = _cells(path, [name.strip(BLANKS) for name in names], rows)
    return Table(path, columns, lines, comma=separator != ",", digest=digest)


def of_columns(columns: Any) -> Table:
    """A table of a data frame (pandas, polars), or of arrays by their names.

    Raises
    ------
    InputError
        It is something else, a column has not one value a record, or two have one name.
    """
    if isinstance(columns, Mapping):
        name, parts = "the arrays", list(columns.items())
    elif hasattr(columns, "iloc") and hasattr(columns, "columns"):
        named = enumerate(columns.columns)
        name, parts = "the data frame", [(title, columns.iloc[:, i]) for i, title in named]
    elif hasattr(columns, "get_column"):
        name = "the data frame"
        parts = [(title, columns.get_column(title)) for title in columns.columns]
    else:
        raise InputError(
            f"the table is a {type(columns).__name__}; give a path, a data frame, or arrays by "
            "their names"
        )
    return _of_parts(Path(name), parts)


def _of_parts(path: Path, parts: list[tuple[Any, Any]], digest: str = "") -> Table:
    titles = [str(title).strip(BLANKS) for title, _ in parts]
    _require_different(path, titles)
    columns = {title: _column(title, part) for title, (_, part) in zip(titles, parts, strict=True)}
    lengths = {title: len(cells) for title, cells in columns.items()}
    if len({*lengths.values()}) != 1 or 0 in lengths.values():
        raise InputError(f"{path}: {brief(lengths, most=200)} records; give one value a record")
    return Table(path, columns, digest=digest)


def _column(name: str, values: Any) -> np.ndarray:
    """A column as numbers, or as words that may be missing, or as it is where it is neither."""
    import pandas as pd  # slow, and text needs it not

    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise InputError(f"column {name!r}: some entries are masked; leave their records out")
    if isinstance(getattr(values, "dtype", None), pd.api.extensions.ExtensionDtype):
        values = values.astype(object)  # a gap among whole numbers is no NaN
    cells = np.asarray(values.detach().cpu() if hasattr(values, "detach") else values)
    if cells.ndim == 0:
        raise InputError(f"column {name!r} is one value; give one a record")
    if cells.ndim > 1 or cells.dtype.kind in "biuf":
        return cells
    objects = pd.Series(cells).astype(object)  # also of NumPy's dates
    whole = objects.where(objects.notna(), None).to_numpy()
    if not all(map(_is_read, whole)):
        return whole
    return _words(cell if cell is None else str(cell) for cell in whole)


def _is_read(cell: Any) -> bool:
    """Whether a cell is one number or word, or none, and no list, bytes or span of time."""
    kinds = (str, Number, np.bool_, datetime.date, datetime.time, type(None))
    return isinstance(cell, kinds)


def _words(cells: Iterable[str | None]) -> np.ndarray:
    stripped = [cell if cell is None else cell.strip(BLANKS) for cell in cells]
    return np.array(stripped, dtype=WORDS)


def _unpacked(path: Path, content: bytes, most: int) -> bytes:
    """What gzip has packed, in as many members as there are."""
    parts, size = [], 0
    try:
        while content:
            member = zlib.decompressobj(wbits=31)
            parts.append(member.decompress(content, most - size + 1))
            size += len(parts[-1])
            if size > most:
                raise InputError(
                    f"{path} unpacks to more than {most:,} bytes, the most that is read"
                )
            if not member.eof:
                raise zlib.error("it is cut short")
            content = member.unused_data.lstrip(b"\0")
    except zlib.error as error:
        raise InputError(f"cannot read {path}: damaged gzip ({error}); give a whole file") from None
    return b"".join(parts)


def _text(path: Path, content: bytes) -> str:
    """The content as text with plain line ends: UTF-8, or UTF-16 that says so."""
    mark = next((mark for mark in ENCODINGS if content.startswith(mark)), b"")
    content, encoding = content[len(mark) :], ENCODINGS.get(mark, "utf-8")
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise InputError(
            f"{path}, line {line}: no {encoding.upper()} text; save the file as CSV in UTF-8"
        ) from None
    if "\0" in text:
        raise InputError(f"{path} is no text; save the table as CSV in UTF-8")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _separator(text: str) -> str:
    """What stands most often between the names of the first line that holds any."""
    first = next((line for line in io.StringIO(text) if line.strip(BLANKS)), "")
    between = re.sub('"[^"]*"', "", first)
    return max(SEPARATORS, key=between.count)


def _rows(path: Path, text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Each row that is not blank, with the line it begins on."""
    reader = csv.reader(io.StringIO(text), delimiter=separator, skipinitialspace=True, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            row = next(reader, None)
        except csv.Error as error:
            raise InputError(
                f"{path}, line {line}: {error}; a cell with a quotation mark, a separator or a "
                'line break in it is written in quotation marks, and "" stands for one'
            ) from None
        if row is None:
            return
        if any(cell.strip(BLANKS) for cell in row):
            yield line, row


def _cells(
    path: Path, names: list[str], rows: Iterator[tuple[int, list[str]]]
) -> tuple[dict[str, np.ndarray], Sequence[int]]:
    """The rows as columns of words; columns without a name or a cell are what a separator left."""
    lines, parts = array("q"), []
    while chunk := list(itertools.islice(rows, _ROWS)):
        for line, row in chunk:
            if len(row) != len(names):
                raise InputError(
                    f"{path}, line {line}: {len(row)} cells; its first line names {len(names)}: "
                    f"{brief(', '.join(names), most=200)}"
                )
            lines.append(line)
        parts.append([*map(_words, zip(*(row for _, row in chunk), strict=True))])
    if not parts:
        raise InputError(f"{path} holds a line of column names and no records")
    whole = map(np.concatenate, zip(*parts, strict=True))
    named = [
        (name, cells)
        for name, cells in zip(names, whole, strict=True)
        if name or (cells != "").any()
    ]
    _require_different(path, [name for name, _ in named])
    return dict(named), lines


def _require_different(path: Path, names: list[str]) -> None:
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        told = f"are named {twice!r}" if twice else "have no name"
        raise InputError(f"{path}: {names.count(twice)} columns {told}; name each column once")


def _parquet(path: Path, content: bytes, digest: str) -> Table:
    with extra("parquet"):
        import pyarrow.parquet
    try:
        frame = pyarrow.parquet.read_table(io.BytesIO(content))
    except (OSError, pyarrow.ArrowException) as error:
        why = brief(str(error).partition("\n")[0], most=200)
        raise InputError(f"cannot read {path} ({why}); give a whole Parquet file") from None
    columns = (column.to_pandas(integer_object_nulls=True) for column in frame.columns)
    return _of_parts(path, list(zip(frame.column_names, columns, strict=True)), digest)
