"""Build the site from written pages and executed notebooks, with the results that they show."""

import hashlib
import os
import re
import shlex
import shutil
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from membership import paths, processes
from membership.book import manifest
from membership.book.exhibits.exhibit_pages import chapter_of_page, pages_of
from membership.book.exhibits.source import SUFFIX
from membership.book.running.chapter_files import executed_path
from membership.book.running.prose import follow_text
from membership.book.running.up_to_date import ELSEWHERE, read_stamp
from membership.book.site import statistics
from membership.errors import InputError, RunError

PDF = "membership.pdf"  # in the site, of all its pages; workflow/print_book.py makes it


def build_site(*, quiet: bool = False) -> Path:
    """Build the site with every warning an error.

    Parameters
    ----------
    quiet : bool
        Whether to announce nothing.

    Returns
    -------
    Path
        The site's ``index.html``.

    Raises
    ------
    InputError
        This is no clone. A chapter of ``_toc.yml`` has not been run, or a file of its results or
        of the committed ones is not what its run wrote; the line says with which command to mend
        it. Or another build is under way.
    RunError
        Jupyter Book found something wrong; the line quotes it and names the log.
    """
    root = paths.require_clone("the book's pages come")
    chapters = _require_chapters(root)
    # Two builds would write the same pages.
    message = "the site is being built already; wait for the end of that"
    with paths.locked(root / "book" / "generated" / ".lock", message):
        return _build(root, chapters, quiet)


def _build(root: Path, chapters: list[str], quiet: bool) -> Path:
    _take_prose(chapters, quiet)
    results, site = agreed(chapters), root / "_build" / "html"
    generated = {"book/generated/run_statistics": statistics.run_statistics}
    if statistics.VERDICT_ERRORS in paths.text_of(root / "_toc.yml"):
        generated[statistics.VERDICT_ERRORS] = statistics.verdict_errors
    for page, text in generated.items():
        paths.atomic_write(root / f"{page}.md", text())
    try:
        for folder in (site, site.with_name(".doctrees")):
            folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        kind, place = type(error).__name__, paths.shown(site)
        raise RunError(f"the site did not build: {kind}: {place} cannot be made") from None
    if not quiet:
        print("building the site", file=sys.stderr)
    log = root / "logs" / "site.log"
    # Sphinx keeps every page's tree: Python's collector, at its usual pace, looks through all of
    # them again and again.
    code = (
        "import gc; gc.set_threshold(50_000, 20, 100); "
        "from membership.processes import follow_parent; "
        f"follow_parent({os.getpid()}); "
        "from jupyter_book.cli.main import main; main()"
    )
    # Every page anew: on a second build an unchanged page would keep its warnings to itself.
    options = ["build", str(root), "--all", "-n", "-W", "--keep-going"]
    try:
        with processes.supervised() as run:
            status, raw_output = run.finish([sys.executable, "-c", code, *options], root)
    except KeyboardInterrupt:
        raise RunError("the building of the site was interrupted; build it again") from None
    output = re.sub(r"\x1b\[[0-9;]*m", "", raw_output)
    paths.atomic_write(log, output)
    if status < 0:
        raise RunError(f"the building of the site was killed ({signal.Signals(-status).name})")
    if status:
        raise RunError(
            f"the site did not build: {_first_findings(output)}; the log is {paths.shown(log)}"
        )
    if agreed(chapters) != results:
        raise RunError("a chapter was run while the site was built; build it again")
    shutil.rmtree(site / "results", ignore_errors=True)
    copy_agreed(results, site / "results")
    (site / PDF).unlink(missing_ok=True)  # of the pages before
    return site / "index.html"


def _require_chapters(root: Path) -> list[str]:
    toc = paths.text_of(root / "_toc.yml")
    pages = re.findall(r"book/chapters/(\w+)", toc)
    chapters = list(dict.fromkeys(map(chapter_of_page, pages)))
    missing = [
        chapter
        for chapter in chapters
        if not all(executed_path(page).is_file() for page in pages_of(chapter))
    ]
    if missing:
        raise InputError(
            f"no executed notebook for {', '.join(missing)}; make it with: "
            f"membership run {' '.join(missing)}"
        )
    return chapters


def _take_prose(chapters: list[str], quiet: bool) -> None:
    """Let executed notebooks say what their texts say, or name those that cannot."""
    for chapter in chapters:
        older = [page for page in pages_of(chapter) if not follow_text(executed_path(page), page)]
        if older and not quiet:
            names = " and ".join(f"notebooks/{page}.md" for page in older)
            print(
                f"{names}: other code than was run, so the site has the text of that run; "
                f"for today's: {_command(chapter)}",
                file=sys.stderr,
            )


def _first_findings(output: str, most: int = 3) -> str:
    """Quote the first warnings or errors of a build, else an exception, else its last words."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    findings = [line for line in lines if re.search(r"\b(WARNING|ERROR|CRITICAL)\b", line)]
    more = f" (and {len(findings) - most} more)" if len(findings) > most else ""
    exceptions = [line for line in lines if re.match(r"[\w.]*(Error|Exception): ", line)]
    words = [line for line in lines if re.search("[A-Za-z]{3}", line)]
    return " | ".join(findings[:most] or exceptions[-1:] or words[-1:]) + more


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


def copy_agreed(results: list[Agreed], destination: Path) -> None:
    """Put these files where the pages link to them; evidence stays in the clone and the archive.

    Raises
    ------
    RunError
        One of them has changed since it was checked.
    """
    for result in results:
        target = destination / result.folder.parent.name / result.folder.name
        for name, digest in result.files.items():
            if name.endswith(SUFFIX):
                continue
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
