"""Notebooks that people open, of chapters and exercises: prose as on the page, exhibits alone.

A Sphinx extension as well: the site offers them for download.
"""

import hashlib
import itertools
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from membership import paths
from membership.book import manifest
from membership.book.exhibits import provenance
from membership.book.exhibits.exhibit_pages import chapter_of_page, page_of, pages_of, source_path
from membership.book.exhibits.listing import listed
from membership.book.running.chapter_files import chapters
from membership.book.running.up_to_date import note_of, sealed
from membership.book.site.exercises import PAGES
from membership.book.site.plain_markdown import CHAPTERS, NOT_RUN, plain

_ABSENT = """
> Where a number should stand, it says *{mark}*: the numbers of this text are those of the
> full runs, and the run of this one does not lie in `results/paper`.
"""


_HEAD = """
> **A run of this notebook** makes {shown}{others}.
> They land in `results/<profile>/{chapter}/` of the clone, elsewhere of the folder that it runs
> in, or below `results_dir`. Each exhibit shows the full run and then yours. The text does
> not follow your run: its numbers are the paper-size ones.
"""


def setup(app: Any) -> dict[str, Any]:
    """Put notebooks beside the pages of the site; called by Sphinx."""
    app.connect("build-finished", write_exercises)
    app.connect("build-finished", write_downloads)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def write_notebooks() -> list[Path]:
    """Write every chapter's notebooks as ``notebooks/<page>.ipynb`` where there is something newer.

    Their numbers are those of the committed runs, and claims are tested on these: half a minute.

    Returns
    -------
    list of Path
        Those written. One that somebody has changed, or run, stays as it is; where the text is
        newer than it, that is said on stderr.
    """
    targets = []
    pages = list(itertools.chain.from_iterable(map(pages_of, chapters())))
    texts = {page: paths.text_of(source_path(page)) for page in pages}
    inputs_digest = _inputs_digest(texts)
    for page, text in texts.items():
        target = paths.project_root() / "notebooks" / f"{page}.ipynb"
        text_digest, earlier = hashlib.sha256(text.encode()).hexdigest(), _read_notebook(target)
        # What it says that it was made of, changed since or not.
        old_note = (earlier.get("metadata") or {}).get("membership", {})
        if old_note.get("made_of") == inputs_digest:
            continue
        notebook = _as_notebook(text)
        is_unrun_copy = not old_note and _cells(earlier) == _cells(notebook)
        if target.exists() and note_of(target) is None and not is_unrun_copy:
            if old_note.get("source") != text_digest:
                print(
                    f"{paths.shown(target)} was changed, so it stays as it is, though the chapter "
                    "is a newer one; move it away to have that",
                    file=sys.stderr,
                )
            continue
        note = {"source": text_digest, "made_of": inputs_digest}
        paths.atomic_write(target, sealed(json.dumps(filled(notebook, page)), note))
        targets.append(target)
    return targets


def write_downloads(app: Any, exception: Exception | None) -> None:
    """Fill in the executed notebooks that pages offer as theirs; called by Sphinx at its end."""
    if exception is not None:
        return
    for page in itertools.chain.from_iterable(map(pages_of, chapters())):
        target = Path(app.outdir) / "_sources" / "book" / "chapters" / f"{page}.ipynb"
        if target.is_file():
            notebook = json.loads(target.read_text(encoding="utf-8"))
            note = notebook["metadata"].get("membership", {})
            paths.atomic_write(target, sealed(json.dumps(filled(notebook, page)), note))


def filled(whole: dict[str, Any], page: str) -> dict[str, Any]:
    """A notebook, as ``json.loads`` gives it, whose prose and outputs need no site."""
    for cell in whole["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = plain("".join(cell["source"]), CHAPTERS + page)
        for output in cell.get("outputs", ()):
            if {"text/html", provenance.ALONE} <= output.get("data", {}).keys():
                output["data"]["text/html"] = output["data"].pop(provenance.ALONE)
    prose = [cell for cell in whole["cells"] if cell["cell_type"] == "markdown"]
    if prose:
        prose[0]["source"] += _head(page)
    if any(NOT_RUN in cell["source"] for cell in prose):
        prose[0]["source"] += "\n" + _ABSENT.format(mark=NOT_RUN).rstrip()
    return whole


def _head(page: str) -> str:
    """What a run of this notebook makes and what its sibling does, and what follows the run."""
    chapter = chapter_of_page(page)
    by_page = Counter(page_of(one["id"]) for one in listed() if one["chapter"] == chapter)
    others = [f"; `{p}.ipynb` makes the other {n}" for p, n in by_page.items() if p != page]
    if not by_page:
        return ""
    shown = f"{by_page[page]} of the chapter's {by_page.total()} exhibits"
    return "\n" + _HEAD.format(shown=shown, others="".join(others), chapter=chapter).rstrip()


def _inputs_digest(texts: dict[str, str]) -> str:
    """The digest of what the notebooks say: texts, code, what was printed, and committed runs."""
    package = provenance.PACKAGE
    files = [*(paths.results_dir() / "paper").glob(f"*/{manifest.NAME}")]
    files += [*(package / "book" / "published").iterdir(), *package.glob("book/studies/*/*.toml")]
    digests = [manifest.digest_of(file) for file in sorted(files) if file.is_file()]
    inputs = [*texts.values(), provenance.code_digest(), *digests]
    return hashlib.sha256(json.dumps(inputs).encode()).hexdigest()


def _as_notebook(text: str) -> dict[str, Any]:
    import jupytext

    return json.loads(jupytext.writes(jupytext.reads(text, fmt="md:myst"), fmt="ipynb"))


def _cells(document: dict[str, Any]) -> list[tuple[Any, ...]]:
    """What each cell of a notebook says and shows."""
    cells = document.get("cells") or []
    return [(c["cell_type"], "".join(c["source"]), c.get("outputs") or []) for c in cells]


def _read_notebook(notebook: Path) -> dict[str, Any]:
    try:
        document = json.loads(notebook.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def write_exercises(app: Any, exception: Exception | None) -> None:
    """Put each page beside itself as a notebook; called by Sphinx at its end."""
    if exception is not None:
        return
    import jupytext

    for page in sorted(docname for docname in app.env.found_docs if docname.startswith(PAGES)):
        notebook = jupytext.read(app.env.doc2path(page))
        for number, cell in enumerate(notebook.cells):
            if cell.cell_type == "markdown":
                cell.source = plain(cell.source, page)
            cell["id"] = f"cell-{number}"  # not drawn by chance: one source makes the same bytes
        text = jupytext.writes(notebook, fmt="ipynb")
        paths.atomic_write((app.outdir / page).with_suffix(".ipynb"), text)
