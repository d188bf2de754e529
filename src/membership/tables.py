"""Tables that people have, as text or Parquet: every cell is accounted for, or a line says which.

Text is read by the standard library, since pandas takes the first of too many cells for an index
and polars fills in where cells are too few; Parquet by polars, which alone needs nothing beside it.
The page in the browser reads the same files in the same way (`book/_static/audit-scores.js`).
"""

import codecs
import csv
import hashlib
import io
import itertools
import re
import zlib
from array import array
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from membership import memory, paths
from membership.arrays import BoolArray, FloatArray
from membership.errors import InputError, brief

if TYPE_CHECKING:
    import polars

BLANKS = " \t\r\n\xa0"
SEPARATORS = ",;\t|"
ENCODINGS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
WITH_COMMA = NUMBER.replace(r"\.", ",")
GROUPED = r"^[+-]?[1-9][0-9]{0,2}(,[0-9]{3})+$"
MISSING = r"^(?i:|nan|na|n/a|null|nat|<na>|#n/a)$"
# What people write for numbers that are none, and how a message calls it.
OTHERWISE = {
    MISSING: "a missing value",
    r"^[+-]?[0-9.,' \xa0]+%$": "a percentage",
    r"^[+-]?[1-9][0-9]{0,2}([,.' \xa0][0-9]{3})+([.,][0-9]+)?$": "a number in groups of thousands",
    r"^[+-]?[0-9]*,[0-9]+$": "a number with a decimal comma",
    r"^([0-9]{4}|[0-9]{1,2})[-/.][0-9]{1,2}[-/.]([0-9]{4}|[0-9]{1,2})([ T].*)?$": "a date",
    r"^[0-9]{1,2}[-/. ][A-Za-z]{3,9}[-/. ,]+[0-9]{2,4}$": "a date",
    r"^[+-]?[0-9][0-9.,]* [A-Za-z°µ/]+$": "a number with its unit",
    r"^[0-9]{1,2}:[0-9]{2}(:[0-9.]+)?$": "a time",
    r"^([$€£¥] ?[0-9.,]+|[0-9.,]+ ?[$€£¥])$": "an amount of money",
}
_ROWS = 20_000
_WHOLE = r"^[+-]?[0-9]+$"
MOST = 1 << 32
"""Bytes of a file that are read, whatever size a pipe or a device is said to have."""
LARGEST_WHOLE = 2**53
"""Above, two whole numbers may be one float."""


class Table:
    """Named columns of one length; words are without blanks around them.

    Parameters
    ----------
    path : pathlib.Path
    frame : polars.DataFrame
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
        frame: "polars.DataFrame",
        lines: Sequence[int] = (),
        comma: bool = False,
        digest: str = "",
    ) -> None:
        self.path, self.frame, self.lines, self.comma = path, frame, lines, comma
        self.digest = digest

    def at(self, record: int) -> str:
        """Where in the file a record lies, for a message."""
        return f"line {self.lines[record]}" if len(self.lines) else f"record {record}"

    def numbers(self, name: str) -> tuple[FloatArray, BoolArray]:
        """A column as numbers, and which cells are none (there a number means nothing)."""
        import polars

        cells = self._cells(name)
        if cells.dtype == polars.String:
            plain, text = cells.str.contains(NUMBER), cells
            if self.comma and self._has_decimal_commas(cells):
                plain = cells.str.contains(WITH_COMMA)
                text = cells.str.replace(",", ".", literal=True)
            cells = text.set(~plain, None)
        values = cells.cast(polars.Float64, strict=False)
        return values.fill_null(np.nan).to_numpy(), values.is_null().to_numpy()

    def words(self, name: str) -> list[str]:
        """A column as words; an empty one where there is none."""
        import polars

        return self._cells(name).cast(polars.String).fill_null("").to_list()

    def _cells(self, name: str) -> "polars.Series":
        """A column of numbers or of words, which dates are."""
        import polars

        cells = self.frame[name]
        if not _is_read(cells.dtype):
            raise InputError(
                f"{self.path}: column {name!r} is of type {cells.dtype}; give one number or word "
                "a record"
            )
        return cells.cast(polars.String) if cells.dtype.is_temporal() else cells

    def _has_decimal_commas(self, cells: "polars.Series") -> bool:
        """Whether commas can only be decimal: no point is, and some cannot be of thousands."""
        commas = cells.filter(cells.str.contains(",", literal=True))
        points = (cells.str.contains(NUMBER) & cells.str.contains(".", literal=True)).any()
        decimal = commas.str.contains(WITH_COMMA) & ~commas.str.contains(GROUPED)
        return not points and decimal.any()

    def has_large_whole(self, name: str) -> bool:
        """Whether a column holds whole numbers that two of them might be one float of."""
        import polars

        cells = self.frame[name]
        if cells.dtype == polars.String:
            cells = cells.filter(cells.str.contains(_WHOLE))
        elif not cells.dtype.is_integer():
            return False
        return bool((cells.cast(polars.Float64).abs() > LARGEST_WHOLE).any())

    def written_otherwise(self, name: str) -> str:
        """What most words of a column are, if they are numbers or dates in other words."""
        cells = self.frame[name]
        for form, kind in OTHERWISE.items():
            if cells.str.contains(form).mean() > 0.5:
                return f"{kind} in most cells"
        return ""

    def refuse(self, name: str, wrong: BoolArray, accepted: str) -> None:
        """Raise an InputError that names the first wrong cell of a column, if there is one."""
        if wrong.any():
            record = int(np.argmax(wrong))
            cell = self.frame[name][record]
            place = f"{self.path}, {self.at(record)}"
            raise InputError(f"{place}: {name} is {shown(cell)}; give {accepted}")


def shown(cell: Any) -> str:
    """A cell within a message, and what it looks like where that is no number."""
    text = "" if cell is None else str(cell)
    brief = repr(text if len(text) <= 40 else f"{text[:40]}...")
    kind = next((kind for form, kind in OTHERWISE.items() if re.search(form, text)), "")
    return f"{brief}, {kind}" if text and kind else brief


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
        return Table(path, _parquet(path, content), digest=digest)
    text = _text(path, content)
    separator = _separator(text)
    rows = _rows(path, text, separator)
    _, names = next(rows, (0, []))
    if not names:
        raise InputError(f"{path} is empty; give a file with a line of column names")
    frame, lines = _cells(path, [name.strip(BLANKS) for name in names], rows)
    return Table(path, frame, lines, comma=separator != ",", digest=digest)


def of_columns(columns: Any) -> Table:
    """A table of a pandas or polars data frame, or of arrays by their names.

    Raises
    ------
    InputError
        It is something else, a column has not one value a record, or two have one name.
    """
    import polars

    if isinstance(columns, Mapping):
        name, parts = "the arrays", [(str(key), values) for key, values in columns.items()]
    elif isinstance(columns, polars.DataFrame):
        name, parts = "the data frame", list(zip(columns.columns, columns, strict=True))
    elif hasattr(columns, "iloc") and hasattr(columns, "columns"):
        named = enumerate(map(str, columns.columns))
        name, parts = "the data frame", [(title, columns.iloc[:, i]) for i, title in named]
    else:
        raise InputError(
            f"the table is a {type(columns).__name__}; give a path, a data frame, or arrays by "
            "their names"
        )
    path = Path(name)
    _require_different(path, [title.strip(BLANKS) for title, _ in parts])
    series = {title.strip(BLANKS): _series(title, values) for title, values in parts}
    lengths = {len(cells) for cells in series.values()}
    if len(lengths) != 1 or 0 in lengths:
        told = {title: len(cells) for title, cells in series.items()}
        raise InputError(f"{name}: {brief(told, most=200)} records; give one value a record")
    return Table(path, polars.DataFrame(series))


def _is_read(kind: "polars.DataType") -> bool:
    """Whether a cell of this type is one number or word, and no list, bytes or span of time."""
    import polars

    return not (kind.is_nested() or kind in (polars.Binary, polars.Object, polars.Duration))


def _series(name: str, values: Any) -> "polars.Series":
    """A column as numbers, or as words that may be missing."""
    import pandas
    import polars

    if isinstance(values, polars.Series):
        if not _is_read(values.dtype):
            return values
        words = not (values.dtype.is_numeric() or values.dtype == polars.Boolean)
        return values.cast(polars.String).str.strip_chars(BLANKS) if words else values
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise InputError(f"column {name!r}: some entries are masked; leave their records out")
    array = np.asarray(values.detach().cpu() if hasattr(values, "detach") else values)
    if array.ndim != 1:
        raise InputError(f"column {name!r} has shape {array.shape}; give one value a record")
    if array.dtype.kind == "f" and array.dtype.itemsize not in (4, 8):
        array = array.astype(np.float64)
    if array.dtype.kind in "biuf":
        return polars.Series(array.astype(array.dtype.newbyteorder("=")))
    missing = pandas.isna(array)
    words = [None if no else str(v).strip(BLANKS) for v, no in zip(array, missing, strict=True)]
    return polars.Series(words, dtype=polars.String)


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
) -> tuple["polars.DataFrame", Sequence[int]]:
    """The rows as columns of words; columns without a name or a cell are what a separator left."""
    import polars

    lines, parts = array("q"), []
    while chunk := list(itertools.islice(rows, _ROWS)):
        for line, row in chunk:
            if len(row) != len(names):
                raise InputError(
                    f"{path}, line {line}: {len(row)} cells; its first line names {len(names)}: "
                    f"{brief(', '.join(names), most=200)}"
                )
            lines.append(line)
        columns = zip(*(row for _, row in chunk), strict=True)
        parts.append([polars.Series(list(cells), dtype=polars.String) for cells in columns])
    if not parts:
        raise InputError(f"{path} holds a line of column names and no records")
    whole = [polars.concat(part).str.strip_chars(BLANKS) for part in zip(*parts, strict=True)]
    named = [
        (name, cells)
        for name, cells in zip(names, whole, strict=True)
        if name or (cells != "").any()
    ]
    _require_different(path, [name for name, _ in named])
    return polars.DataFrame(dict(named)), lines


def _require_different(path: Path, names: list[str]) -> None:
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        told = f"are named {twice!r}" if twice else "have no name"
        raise InputError(f"{path}: {names.count(twice)} columns {told}; name each column once")


def _parquet(path: Path, content: bytes) -> "polars.DataFrame":
    import polars

    try:
        frame = polars.read_parquet(io.BytesIO(content))
    except (OSError, ValueError, polars.exceptions.PolarsError, polars.exceptions.PanicException):
        raise InputError(f"cannot read {path}; give a whole Parquet file") from None
    words = (polars.String, polars.Categorical, polars.Enum)
    as_words = [
        polars.col(name).cast(polars.String).str.strip_chars(BLANKS)
        for name, kind in frame.schema.items()
        if kind in words
    ]
    frame = frame.with_columns(as_words)
    _require_different(path, [name.strip(BLANKS) for name in frame.columns])
    return frame.rename({name: name.strip(BLANKS) for name in frame.columns})
