"""Build the site from the written pages and the executed notebooks."""

import os
import re
import shutil
import signal
import sys
from pathlib import Path

from membership import paths, processes
from membership.errors import InputError, RunError
from membership.exhibits.homes import chapter_of_page, pages_of
from membership.running.chapter_files import executed_path
from membership.site import check_results, statistics

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
        A chapter of ``_toc.yml`` has not been run, or a file of its results or of the committed
        ones is not what its run wrote; the line says with which command to mend it. Or another
        build is under way.
    RunError
        Jupyter Book found something wrong; the line quotes it and names the log.
    """
    root = paths.project_root()
    chapters = _require_chapters(root)
    # Two builds would write the same pages.
    message = "the site is being built already; wait for the end of that"
    with paths.locked(root / "book" / "generated" / ".lock", message):
        return _build(root, chapters, quiet)


def _build(root: Path, chapters: list[str], quiet: bool) -> Path:
    results, site = check_results.agreed(chapters), root / "_build" / "html"
    paths.write_made(root / "book" / "generated" / "run_statistics.md", statistics.run_statistics())
    if statistics.VERDICT_ERRORS in paths.text_of(root / "_toc.yml"):
        paths.write_made(root / f"{statistics.VERDICT_ERRORS}.md", statistics.verdict_errors())
    try:
        for folder in (site, site.with_name(".doctrees")):
            paths.mark(folder)
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
    paths.write_made(log, output)
    if status < 0:
        raise RunError(f"the building of the site was killed ({signal.Signals(-status).name})")
    if status:
        raise RunError(
            f"the site did not build: {_first_findings(output)}; the log is {paths.shown(log)}"
        )
    if check_results.agreed(chapters) != results:
        raise RunError("a chapter was run while the site was built; build it again")
    shutil.rmtree(site / "results", ignore_errors=True)
    check_results.copy(results, site / "results")
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


def _first_findings(output: str, most: int = 3) -> str:
    """Quote the first warnings or errors of a build, else an exception, else its last words."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    findings = [line for line in lines if re.search(r"\b(WARNING|ERROR|CRITICAL)\b", line)]
    more = f" (and {len(findings) - most} more)" if len(findings) > most else ""
    exceptions = [line for line in lines if re.match(r"[\w.]*(Error|Exception): ", line)]
    words = [line for line in lines if re.search("[A-Za-z]{3}", line)]
    return " | ".join(findings[:most] or exceptions[-1:] or words[-1:]) + more
