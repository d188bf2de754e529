"""Text from files on a page of Markdown: shown as it is, whatever it holds."""

import re
from collections.abc import Sequence

# What begins markup, HTML, a formula, a role, a substitution or a cell within a line.
_MARKS = re.compile(r"([\\`*_{}\[\]<>|$~&^#])")


def literal(value: object) -> str:
    """Show a value as text within one line of Markdown: no markup, no HTML, no formula, no cell.

    It is for the middle of a line: a mark that means something only where a line begins stays.
    """
    return _MARKS.sub(r"\\\1", re.sub(r"\s+", " ", str(value)).strip())


def row(cells: Sequence[object]) -> str:
    """A row of a table, its cells shown as they are."""
    return "| " + " | ".join(literal(cell) for cell in cells) + " |\n"
