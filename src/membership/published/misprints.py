"""Where a paper prints one quantity twice, differently: pairs of its own printed numbers."""

from typing import Any

import pandas as pd

from membership.published.references import notes_of
from membership.published.rows import rows_at
from membership.published.tables import table


def pairs(chapter: str) -> pd.DataFrame:
    """The pairs of printed numbers that a chapter's notes have under ``[[misprints]]``."""
    return pd.DataFrame([_pair(chapter, **pair) for pair in notes_of(chapter)["misprints"]])


def _pair(
    chapter: str, quantity: str, one: dict[str, str], other: dict[str, str], **both: str
) -> dict[str, Any]:
    first, second = (_printed(chapter, **both, **place) for place in (one, other))
    return {
        "quantity": quantity,
        "one place": f"Table {one['table']}",
        "printed": first,
        "other place": f"Table {other['table']}",
        "printed there": second,
        "difference": round(first - second, 6),
    }


def _printed(chapter: str, **where: str) -> float:
    printed = table(f"{chapter}_table{where.pop('table')}")
    return rows_at(printed, **where)["value"].astype(float).item()
