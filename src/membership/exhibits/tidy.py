"""An exhibit's table from its rows."""

from collections.abc import Iterable
from typing import Any

import pandas as pd


def tidy(rows: Iterable[dict[str, Any]] | Iterable[pd.DataFrame], attrs: Any) -> pd.DataFrame:
    """Rows, or tables below one another, as one table that says where it comes from."""
    rows = list(rows)
    whole = bool(rows) and isinstance(rows[0], pd.DataFrame)
    table = pd.concat(rows, ignore_index=True) if whole else pd.DataFrame(rows)
    table.attrs = attrs
    return table
