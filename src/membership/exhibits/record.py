"""The JSON record of one exhibit: everything that determines it, and how it was judged."""

import hashlib
import math
from typing import Any, Protocol

import pandas as pd

from membership.errors import InputError
from membership.exhibits import provenance
from membership.exhibits.listing import find

# Where and how fast a run was made, not what it computed: two runs of the same seed in different
# folders, or on a different number of cores, have the same record.
_INCIDENTAL = ("results_dir", "data_root", "n_jobs")
_STATED = ("data", "deviations", "comparable", "device")


class Settings(Protocol):
    """What an exhibit needs to know of a chapter's settings."""

    chapter: str
    profile: str
    results_dir: str
    seed: int

    def parameters(self) -> dict[str, Any]:
        """The resolved parameters as plain JSON values."""
        ...


def build(
    exhibit_id: str,
    table: pd.DataFrame,
    csv: bytes,
    settings: Settings,
    comparison: pd.DataFrame | None,
) -> dict[str, Any]:
    """Describe a run's exhibit; no date and no seconds, so that the same run gives the same bytes.

    Parameters
    ----------
    exhibit_id : str
        Such as ``"bayes-optimal-tab-1"``.
    table : pandas.DataFrame
        The tidy table; its ``attrs`` state ``data``, ``deviations``, ``comparable`` and
        ``device``, and may hold a ``note``, and ``timing`` where it reports wall times, so
        that a second run differs.
    csv : bytes
        The table as it is saved.
    settings : Settings
        The run's settings.
    comparison : pandas.DataFrame, optional
        What `membership.published.compare` made of the table.

    Returns
    -------
    dict
        Plain JSON values.

    Raises
    ------
    InputError
        The exhibit is unknown or another chapter's, or the table's attributes are incomplete.
    """
    exhibit = find(exhibit_id)
    if exhibit["chapter"] != settings.chapter:
        raise InputError(
            f"{exhibit_id!r} belongs to chapter {exhibit['chapter']!r}, "
            f"and these settings to {settings.chapter!r}"
        )
    missing = [key for key in _STATED if key not in table.attrs]
    if missing:
        raise InputError(f"the table of {exhibit_id!r} lacks attrs {missing}; a study states them")
    return {
        **exhibit,
        "profile": settings.profile,
        "parameters": {
            key: value for key, value in settings.parameters().items() if key not in _INCIDENTAL
        },
        "seed": settings.seed,
        **{key: table.attrs[key] for key in _STATED},
        "note": table.attrs.get("note", ""),
        "timing": bool(table.attrs.get("timing", False)),
        "versions": provenance.versions(),
        "commit": provenance.git_commit(),
        "code_sha256": provenance.code_digest(),
        "csv_sha256": hashlib.sha256(csv).hexdigest(),
        "comparison": None if comparison is None else _rows(comparison),
        "tolerance": None if comparison is None else comparison.attrs["tolerance"],
    }


def comparison_of(record: dict[str, Any]) -> pd.DataFrame | None:
    """The comparison that a record holds, in the columns of `membership.published.compare`."""
    if record["comparison"] is None:
        return None
    frame = pd.DataFrame(record["comparison"]["rows"], columns=record["comparison"]["columns"])
    frame["published"] = frame["published"].astype(float)
    return frame


def _rows(comparison: pd.DataFrame) -> dict[str, list]:
    """Rows by name, and the columns' order, which JSON's sorted keys would lose."""
    return {
        "columns": list(comparison.columns),
        "rows": [
            {key: _plain(value) for key, value in row.items()}
            for row in comparison.to_dict(orient="records")
        ],
    }


def _plain(value: Any) -> Any:
    """A table's cell as a JSON value; a missing number is null."""
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, float):
        return float(f"{value:.10g}") if math.isfinite(value) else None
    return value
