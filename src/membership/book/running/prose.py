"""The prose of an executed notebook, which follows its text without a run."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from membership import paths
from membership.book.running.up_to_date import note_of, sealed, text_notebook

# What a run adds to the metadata of a cell.
_OF_THE_RUN = ("execution", "papermill")


def follow_text(executed: Path, page: str) -> bool:
    """Let a page say what its text says today, where its code is what was run.

    Parameters
    ----------
    executed : Path
        The executed notebook; one that is not as a run left it stays as it is.
    page : str
        Whose text.

    Returns
    -------
    bool
        False where the text has other code than was run: then the page keeps its older prose.
    """
    note = note_of(executed)
    if note is None:
        return True
    whole = json.loads(executed.read_text(encoding="utf-8"))
    text, run = text_notebook(page).cells, whole["cells"]
    if _code(text) != _code(run):
        return False
    if _said(text) != _said(run):
        whole["cells"] = list(_joined(text, run))
        del note["page"]
        paths.atomic_write(executed, sealed(json.dumps(whole), note))
    return True


def _joined(text: list[Any], run: list[dict[str, Any]]) -> Iterable[dict[str, Any]]:
    """The cells of a text, each with what it showed as it ran, and those that were injected."""
    ran = iter([cell for cell in run if cell["cell_type"] == "code"])
    for cell in text:
        if cell.cell_type != "code":
            yield dict(cell)
            continue
        for shown in ran:
            if not _is_injected(shown):
                of_run = {k: v for k, v in shown["metadata"].items() if k in _OF_THE_RUN}
                yield {**shown, "metadata": {**cell.metadata, **of_run}}
                break
            yield shown


def _code(cells: list[Any]) -> list[str]:
    return [said[1] for said in _said(cells) if said[0] == "code"]


def _said(cells: list[Any]) -> list[tuple[str, str, dict[str, Any]]]:
    """Kind, source and metadata of the cells that the text has, too."""
    return [
        (
            cell["cell_type"],
            "".join(cell["source"]),
            # papermill gives tags to all cells
            {k: v for k, v in cell["metadata"].items() if k not in _OF_THE_RUN and v != []},
        )
        for cell in cells
        if not _is_injected(cell)
    ]


def _is_injected(cell: dict[str, Any]) -> bool:
    return "injected-parameters" in cell["metadata"].get("tags", [])
