"""The ratchet: no room has more code lines than tests/lines.csv allows it, or much fewer.

A number rises only in a commit that says what the lines buy, and falls when its room has shrunk.
``python tests/test_lines.py`` writes today's numbers.
"""

import ast
import csv
import io
import tokenize
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from membership import paths

ROOT = paths.project_root()
ALLOWED = Path(__file__).with_name("lines.csv")
PACKAGE = ROOT / "src" / "membership"
SPARE = 0.03
"""Share of what it is allowed that a room may lack before the number has to fall."""
_NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}


def code_lines(source: str) -> int:
    """Lines that hold code: no blank line, comment or string that stands alone."""
    alone: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            assert node.end_lineno is not None
            alone |= {*range(node.lineno, node.end_lineno + 1)}
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _NO_CODE:
            lines |= {*range(token.start[0], token.end[0] + 1)}
    return len(lines - alone)


@cache
def counted() -> dict[str, int]:
    """Code lines by room: the package's, what lies beside its rooms, tests, and scripts."""
    found: Counter[str] = Counter()
    for path in PACKAGE.rglob("*.py"):
        inside = path.relative_to(PACKAGE).parts
        inside = inside[1:] if inside[0] == "book" and len(inside) > 2 else inside
        found[inside[0] if len(inside) > 1 else "beside the rooms"] += code_lines(path.read_text())
    for folder in ("tests", "workflow", "benchmarks", "recipes"):
        found[folder] = sum(code_lines(path.read_text()) for path in (ROOT / folder).rglob("*.py"))
    scripts = (ROOT / "book" / "_static").rglob("*.js")
    found["pages' scripts"] = sum(len(path.read_text().splitlines()) for path in scripts)
    return dict(sorted(found.items()))


def allowed() -> dict[str, int]:
    with ALLOWED.open(encoding="utf-8", newline="") as file:
        return {row["room"]: int(row["lines"]) for row in csv.DictReader(file)}


def test_every_room_has_a_number() -> None:
    assert counted().keys() == allowed().keys()


@pytest.mark.parametrize("room", allowed())
def test_no_room_grows_unseen(room: str) -> None:
    found, most = counted()[room], allowed()[room]
    assert found <= most, f"{room} has {found} code lines; tests/lines.csv allows {most}"
    assert found >= (1 - SPARE) * most, f"{room} has shrunk to {found}: lower its number"


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ('"""Said."""\n\n# Why.\nx = 1  # Here.\n', 1),
        ('def f():\n    """One.\n\n    Two.\n    """\n    return (\n        1\n    )\n', 4),
        ('x = """a\n\nb"""\n"""Of x."""\n', 3),
    ],
)
def test_what_is_a_code_line(source: str, lines: int) -> None:
    assert code_lines(source) == lines


def main() -> None:
    """Write today's numbers."""
    rows = "".join(f"{room},{lines}\n" for room, lines in counted().items())
    ALLOWED.write_text(f"room,lines\n{rows}", encoding="utf-8")


if __name__ == "__main__":
    main()
