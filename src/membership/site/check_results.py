"""What the site publishes of the results: only files that are what their run wrote."""

import hashlib
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from membership import manifest, paths
from membership.errors import InputError, RunError
from membership.exhibits.homes import pages_of
from membership.running.chapter_files import executed_path
from membership.running.up_to_date import ELSEWHERE, read_stamp

_EXHIBITS = (".csv", ".json", ".svg", ".pdf", ".evidence")


@dataclass(frozen=True)
class Agreed:
    """A folder of results, and the SHA-256 of each of its files that the site carries."""

    folder: Path
    files: dict[str, str]


def agreed(chapters: list[str]) -> list[Agreed]:
    """Check every page against its results, and the committed ones against their manifest."""
    of_pages = [result for chapter in chapters if (result := _of_pages(chapter))]
    committed = [paths.results_dir() / "paper" / chapter for chapter in chapters]
    return of_pages + [_of_committed(folder) for folder in committed if folder.is_dir()]


def copy(results: list[Agreed], destination: Path) -> None:
    """Put these files where the pages link to them.

    Raises
    ------
    RunError
        One of them has changed since it was checked.
    """
    for result in results:
        target = destination / result.folder.parent.name / result.folder.name
        for name, digest in result.files.items():
            try:
                content = (result.folder / name).read_bytes()
            except OSError:
                content = b""
            if hashlib.sha256(content).hexdigest() != digest:
                path = paths.shown(result.folder / name)
                raise RunError(f"{path} was written anew while the site was built; build again")
            paths.atomic_write(target / name, content)
        manifest_file = result.folder / manifest.NAME
        if manifest_file.is_file():
            paths.atomic_write(target / manifest.NAME, manifest_file.read_bytes())


def _of_pages(chapter: str) -> Agreed | None:
    pages = [executed_path(page) for page in pages_of(chapter)]
    note = read_stamp(*pages)
    if note is None:
        changed_page = next((page for page in pages if read_stamp(page) is None), pages[-1])
        raise InputError(
            f"{paths.shown(changed_page)} is not as `membership run` left it; make it again: "
            f"membership run {chapter}"
        )
    if note["results_dir"] == ELSEWHERE:
        return None
    root = paths.project_root() / (note["results_dir"] or "results")
    folder = root / note["profile"] / chapter
    if wrong_names := manifest.wrong(folder, note["files"]):
        raise InputError(
            f"{paths.shown(folder / wrong_names[0])} is not the file that the page's run wrote"
            f"{_writer(folder, wrong_names[0])}; run it again: {_command(chapter)}"
        )
    if not manifest.covers(folder, note["files"]):
        raise InputError(
            f"{paths.shown(folder / manifest.NAME)} is damaged or gone; run it again: "
            f"{_command(chapter)}"
        )
    return (
        Agreed(folder, note["files"]) if root.resolve() == paths.results_dir().resolve() else None
    )


def _of_committed(folder: Path) -> Agreed:
    manifest.require(folder)
    listed, digests = manifest.listed(folder), manifest.digests(folder)
    unlisted = [name for name in digests if name not in listed and Path(name).suffix in _EXHIBITS]
    if unlisted:
        raise InputError(
            f"no run is known to have written {paths.shown(folder / unlisted[0])}; remove it, or "
            f"enter it in {manifest.NAME} if it is meant: membership seal {folder.name}"
        )
    return Agreed(folder, listed)


def _writer(folder: Path, name: str) -> str:
    """Who did write a file, where it was another run."""
    for run in manifest.read_or_none(folder):
        if manifest.digest_of(folder / name) == run["files"].get(name):
            return f" ({run['written_by']} did)"
    return ""


def _command(chapter: str) -> str:
    """The command that ran the page."""
    import nbformat

    page: Any = nbformat.read(executed_path(chapter), as_version=4)
    parameters = page.metadata.get("papermill", {}).get("parameters", {})
    words = ["membership", "run", chapter]
    for name, value in parameters.items():
        text = value if isinstance(value, str) else str(value).replace("'", '"')
        words += ["-p", name, text]
    return shlex.join(words)
