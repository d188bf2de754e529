"""What a run saves of an exhibit: its table, its picture, and what it takes to repeat it."""

import hashlib
from typing import Any

import pandas as pd

from membership.errors import InputError
from membership.exhibits import files, provenance
from membership.exhibits.declaration import Exhibit
from membership.exhibits.files import ATTRIBUTES, NARROW

# Two runs of one state of the evidence may differ in these and still be the same run.
_CIRCUMSTANCES = ("commit", "versions")


def record(
    exhibit: Exhibit, table: pd.DataFrame, settings: Any, evidence: dict[str, str]
) -> dict[str, Any]:
    """What is needed to cite and repeat an exhibit; no verdicts, no date, no seconds."""
    return {
        "chapter": exhibit.chapter,
        "id": exhibit.id,
        "label": exhibit.label,
        "kind": exhibit.kind,
        "content": exhibit.content,
        "profile": settings.profile,
        "seed": settings.seed,
        **{key: table.attrs.get(key, value) for key, value in ATTRIBUTES.items()},
        "evidence": evidence,
        "versions": provenance.versions(),
        "commit": provenance.git_commit(),
        "csv_sha256": hashlib.sha256(files.csv_bytes(table)).hexdigest(),
    }


def contents(exhibit: Exhibit, table: pd.DataFrame, described: dict[str, Any]) -> dict[str, bytes]:
    """The files of an exhibit by suffix.

    Raises
    ------
    InputError
        The table is empty.
    """
    if table.empty:
        raise InputError(f"the table of {exhibit.id!r} is empty; give at least one row")
    by_suffix = {".csv": files.csv_bytes(table), ".json": files.json_bytes(described)}
    if exhibit.draw is not None:
        # Here and not above: what only lists or cites exhibits should not wait for matplotlib.
        from membership import plots

        with plots.style():
            figure = exhibit.draw(table)
            by_suffix |= {f".{kind}": plots.save_bytes(figure, kind) for kind in ("svg", "pdf")}
        with plots.narrow():
            by_suffix[NARROW] = plots.save_bytes(exhibit.draw(table), "svg")
    return by_suffix


def save(exhibit: Exhibit, table: pd.DataFrame, settings: Any, evidence: dict[str, str]) -> None:
    """Write the files of an exhibit, all or none.

    Where the run saved before differs in nothing but the commit and the libraries' versions, its
    record stays: what was made is the same. A commit that nobody can check out gives way.
    """
    described = record(exhibit, table, settings, evidence)
    before = _saved(exhibit, settings)
    kept = {key: before[key] for key in _CIRCUMSTANCES if key in before}
    if before == described | kept and not before.get("commit", "").endswith(provenance.DIRTY):
        described = before
    target = files.location(exhibit.id, exhibit.chapter, settings.profile, settings.results_dir)
    files.write_together(target, contents(exhibit, table, described))


def _saved(exhibit: Exhibit, settings: Any) -> dict[str, Any]:
    """The record of the run before; empty where there is none that can be read."""
    try:
        saved = files.load(exhibit.id, settings.profile, settings.results_dir)
    except InputError:
        return {}
    return saved[1] if saved else {}
