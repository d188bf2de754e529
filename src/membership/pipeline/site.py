"""Build the site from the written pages and the executed notebooks."""

import os
import re
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

from membership import paths, processes
from membership.errors import InputError, RunError
from membership.pipeline import agreement, benchmarks, markdown, records
from membership.pipeline.layout import executed_path

_NO_RUNS = """\
No chapter has been run here yet. `membership run` runs them all; this page then tells how long
each took, and on what machine.
"""

_RUNS = """\
Wall times of the last finished run of each chapter and profile. A run that finds its trained
models in the cache takes a fraction of the first one's time.

| chapter | profile | seconds | longest section | machine | started |
|---|---|---:|---|---|---|
"""


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
    busy = "the site is being built already; wait for the end of that"
    with paths.locked(root / "book" / "generated" / ".lock", busy):
        return _build(root, chapters, quiet)


def _build(root: Path, chapters: list[str], quiet: bool) -> Path:
    # Here and not above: it needs scipy, and no other command waits for that.
    from membership.pipeline import verdict_errors

    results, site = agreement.agreed(chapters), root / "_build" / "html"
    paths.write_made(root / "book" / "generated" / "run_statistics.md", run_statistics())
    if verdict_errors.PAGE in paths.text_of(root / "_toc.yml"):
        paths.write_made(root / f"{verdict_errors.PAGE}.md", verdict_errors.verdict_errors())
    try:
        for folder in (site, site.with_name(".doctrees")):
            paths.mark(folder)
    except OSError as error:
        kind, place = type(error).__name__, paths.shown(site)
        raise RunError(f"the site did not build: {kind}: {place} cannot be made") from None
    if not quiet:
        print("building the site", file=sys.stderr)
    log = root / "logs" / "site.log"
    code = (
        "from membership.processes import follow_parent; "
        f"follow_parent({os.getpid()}); "
        "from jupyter_book.cli.main import main; main()"
    )
    # Every page anew: on a second build an unchanged page would keep its warnings to itself.
    options = ["build", str(root), "--all", "-n", "-W", "--keep-going"]
    try:
        with processes.supervised() as run:
            status, said = run.finish([sys.executable, "-c", code, *options], root)
    except KeyboardInterrupt:
        raise RunError("the building of the site was interrupted; build it again") from None
    output = re.sub(r"\x1b\[[0-9;]*m", "", said)
    paths.write_made(log, output)
    if status < 0:
        raise RunError(f"the building of the site was killed ({signal.Signals(-status).name})")
    if status:
        raise RunError(
            f"the site did not build: {_first_findings(output)}; the log is {paths.shown(log)}"
        )
    if agreement.agreed(chapters) != results:
        raise RunError("a chapter was run while the site was built; build it again")
    shutil.rmtree(site / "results", ignore_errors=True)
    agreement.copy(results, site / "results")
    return site / "index.html"


def run_statistics() -> str:
    """Write the page of run times as Markdown, from the records under ``runs``."""
    runs = records.read_all()
    body = _RUNS + "".join(map(_row, runs)) if runs else _NO_RUNS
    return f"# Run statistics\n\n{body}{benchmarks.sections()}"


def _row(record: dict[str, Any]) -> str:
    longest = max(record["sections"], key=lambda section: section["seconds"], default=None)
    cells = [
        record["title"],
        record["profile"],
        f"{record['seconds']:.0f}",
        f"{longest['title']} ({longest['seconds']:.0f} s)" if longest else "",
        f"{record['machine']}, {record['cpus']} CPUs, Python {record['python']}",
        record["started"][:10],
    ]
    return markdown.row(cells)


def _require_chapters(root: Path) -> list[str]:
    toc = paths.text_of(root / "_toc.yml")
    listed = re.findall(r"book/chapters/(\w+)", toc)
    missing = [chapter for chapter in listed if not executed_path(chapter).is_file()]
    if missing:
        raise InputError(
            f"no executed notebook for {', '.join(missing)}; make it with: "
            f"membership run {' '.join(missing)}"
        )
    return listed


def _first_findings(output: str, most: int = 3) -> str:
    """Quote the first warnings or errors of a build, else an exception, else its last words."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    found = [line for line in lines if re.search(r"\b(WARNING|ERROR|CRITICAL)\b", line)]
    more = f" (and {len(found) - most} more)" if len(found) > most else ""
    raised = [line for line in lines if re.match(r"[\w.]*(Error|Exception): ", line)]
    words = [line for line in lines if re.search("[A-Za-z]{3}", line)]
    return " | ".join(found[:most] or raised[-1:] or words[-1:]) + more
