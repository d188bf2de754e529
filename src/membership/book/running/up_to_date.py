"""Whether an executed notebook still says what a new run would say."""

import contextlib
import hashlib
import json
import os
import re
from importlib import metadata
from pathlib import Path
from typing import Any

import membership
from membership import paths
from membership.addresses import own_data
from membership.book import manifest
from membership.book.exhibits import provenance
from membership.book.exhibits.exhibit_pages import pages_of, source_path
from membership.book.running.chapter_files import chapters, executed_path, results_path
from membership.book.settings import ChapterSettings
from membership.errors import InputError

# What has no part in a notebook: the rooms that run it and show it.
_AFTERWARDS = ("audit", "book/running", "book/site", "book/cli")
# Extras that no number depends on: what builds pages, opens them, and tests.
_NO_NUMBERS = re.compile("extra == .(book|lab|test)\\b")
# Of results that lie outside the project; no page says where.
ELSEWHERE = "elsewhere/"
_PACKAGE_DATA = {".csv", ".toml", ".bib", ".html"}
_PROJECT_FILES = ("requirements.lock", "data/*.toml", "data/*.csv")


def fingerprint(settings: ChapterSettings) -> str:
    """Digest everything that determines a chapter's executed notebook.

    That is the resolved parameters, the code (see `_code`), the libraries that are installed, the
    content of the data files, and the committed paper-size results that the chapter shows beside
    its own.
    """
    committed = paths.project_root() / "results" / "paper" / settings.chapter
    shown = sorted(committed.glob("*.*")) if settings.profile != "paper" else []
    parts = {
        "parameters": settings.parameters(),
        "code": _code(settings),
        "libraries": _libraries(),
        "committed": {f.name: manifest.digest_of(f) for f in shown},
        "data": data_digests(settings),
    }
    return _digest(json.dumps(parts, sort_keys=True).encode())


def _code(settings: ChapterSettings) -> dict[str, str]:
    """Digests of what computes: the notebook's code, package, and the project's own data.

    An edit of prose, of another chapter, or of what only runs and shows chapters, changes nothing.
    """
    root, package = paths.project_root(), Path(membership.__file__).resolve().parent
    notebooks = [text_notebook(page) for page in pages_of(settings.chapter)]
    cells = [c.source for notebook in notebooks for c in notebook.cells if c.cell_type == "code"]
    other_chapters = [
        f"book/studies/{chapter}" for chapter in chapters() if chapter != settings.chapter
    ]
    files = [f for f in package.rglob("*") if f.suffix in _PACKAGE_DATA]
    files += [f for pattern in _PROJECT_FILES for f in root.glob(pattern)]
    return {
        "notebooks": _digest(json.dumps(cells).encode()),
        "code": provenance.code_digest(package, (*_AFTERWARDS, *other_chapters)),
        **{os.path.relpath(f, root): _digest(f.read_bytes()) for f in sorted(files)},
    }


def text_notebook(page: str) -> Any:
    """A page's text as a notebook."""
    import jupytext
    import yaml

    source = source_path(page)
    try:
        return jupytext.reads(paths.text_of(source), fmt="md:myst")
    except yaml.YAMLError as error:
        why = " ".join(str(error).split())
        raise InputError(f"{paths.shown(source)} is no notebook, mend its head: {why}") from None


def _libraries() -> dict[str, str]:
    """The versions of what the package asks for, as installed, and of Python."""
    by_name = provenance.versions()
    with contextlib.suppress(metadata.PackageNotFoundError):
        for line in metadata.requires("membership") or ():
            name = re.match(r"[\w.-]+", line)
            if name and not _NO_NUMBERS.search(line):
                with contextlib.suppress(metadata.PackageNotFoundError):
                    by_name[name[0]] = metadata.version(name[0])
    return by_name


def data_digests(settings: ChapterSettings) -> dict[str, str | None]:
    """The SHA-256 of every file that the run may read its data from, by path."""
    from membership.data.loading import input_files

    files = input_files(settings.parameters(), settings.further_data)
    return {str(file): manifest.digest_of(file) for file in files}


def stamp(settings: ChapterSettings, mark: str, files: dict[str, str]) -> dict[str, Any]:
    """What an executed notebook says of itself: what it was made from, and what it wrote."""
    return {
        "chapter": settings.chapter,
        "profile": settings.profile,
        "results_dir": _relative(settings.results_dir),
        "own_data": own_data(settings.parameters()),
        "fingerprint": mark,
        "files": files,
    }


def _relative(named: str) -> str:
    """A results folder as the page may say it: from the project, or that it lies elsewhere."""
    if not named:
        return ""
    root, folder = paths.project_root().resolve(), Path(named).resolve()
    return str(folder.relative_to(root)) if folder.is_relative_to(root) else ELSEWHERE


def sealed(page: str, note: dict[str, Any]) -> str:
    """A notebook with a note of ours, which holds the digest of the whole: see `is_unchanged`."""
    whole = json.loads(page)
    whole["metadata"]["membership"] = dict(note)
    whole["metadata"]["membership"]["page"] = _digest_of_page(whole)
    return json.dumps(whole, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def is_unchanged(notebook: Path) -> bool:
    """Whether a notebook is one that was written here, and as it was written."""
    return note_of(notebook) is not None


def read_stamp(*pages: Path) -> dict[str, Any] | None:
    """The note of one run's executed notebooks.

    None where one of them has none, was changed, or is of another run.
    """
    notes = [dict(note_of(page) or {}) for page in pages]
    for note in notes:
        note.pop("page", None)
    first = notes[0]
    whole = {"profile", "results_dir", "fingerprint", "files"} <= first.keys()
    one_run = all(note == first for note in notes)
    return first if whole and one_run and manifest.is_listing(first["files"]) else None


def note_of(notebook: Path) -> dict[str, Any] | None:
    """What a notebook as `sealed` has left it says of itself; None of any other."""
    try:
        page = json.loads(notebook.read_text(encoding="utf-8"))
        note = page["metadata"]["membership"]
        return note if note["page"] == _digest_of_page(page) else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def is_up_to_date(settings: ChapterSettings, mark: str, *pages: Path) -> bool:
    """Whether executed notebooks, the book's own by default, carry this fingerprint.

    And whether what they wrote lies there.
    """
    note = read_stamp(*(pages or map(executed_path, pages_of(settings.chapter))))
    if note is None or note["fingerprint"] != mark:
        return False
    folder, files = results_path(settings), note["files"]
    return not manifest.wrong(folder, files) and manifest.covers(folder, files)


def _digest_of_page(page: dict[str, Any]) -> str:
    """The digest of a notebook with its note, but for the digest that the note holds."""
    note = {k: v for k, v in page["metadata"]["membership"].items() if k != "page"}
    metadata = {**page["metadata"], "membership": note}
    return _digest(json.dumps({**page, "metadata": metadata}, sort_keys=True).encode())


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
