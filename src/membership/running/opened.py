"""The notebooks that people open: each chapter's text as ``notebooks/<chapter>.ipynb``."""

import hashlib
import itertools
import json
import sys
from pathlib import Path
from typing import Any

from membership import paths
from membership.exhibits.homes import pages_of
from membership.running.chapter_files import chapters, source_path
from membership.running.up_to_date import note_of, sealed


def write_notebooks() -> list[Path]:
    """Write every chapter's notebooks anew where their text is a newer one.

    Returns
    -------
    list of Path
        Those written. One that somebody has changed, or run, stays as it is; where the text is
        newer than it, that is said on stderr.
    """
    written = []
    for name in itertools.chain.from_iterable(map(pages_of, chapters())):
        text = paths.text_of(source_path(name))
        target = paths.project_root() / "notebooks" / f"{name}.ipynb"
        source = hashlib.sha256(text.encode()).hexdigest()
        if _source_of(target) == source:
            continue
        page = _as_notebook(text)
        if target.exists() and note_of(target) is None and not _is_as(page, target):
            print(
                f"{paths.shown(target)} was changed, so it stays as it is, though the chapter is a "
                "newer one; move it away to have that",
                file=sys.stderr,
            )
            continue
        paths.atomic_write(target, sealed(page, {"source": source}))
        written.append(target)
    return written


def _as_notebook(text: str) -> str:
    import jupytext

    return jupytext.writes(jupytext.reads(text, fmt="md:myst"), fmt="ipynb")


def _source_of(notebook: Path) -> str | None:
    """The digest of the text that a notebook says it was made from, changed since or not."""
    return (_read(notebook).get("metadata") or {}).get("membership", {}).get("source")


def _is_as(page: str, notebook: Path) -> bool:
    """Whether a notebook without our note holds just these cells, and no output."""

    def cells(whole: dict[str, Any]) -> list[tuple[Any, ...]]:
        found = whole.get("cells") or []
        return [(c["cell_type"], "".join(c["source"]), c.get("outputs") or []) for c in found]

    whole = _read(notebook)
    noted = (whole.get("metadata") or {}).get("membership")
    return not noted and bool(whole) and cells(whole) == cells(json.loads(page))


def _read(notebook: Path) -> dict[str, Any]:
    try:
        whole = json.loads(notebook.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return whole if isinstance(whole, dict) else {}
