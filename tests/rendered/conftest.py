"""The built site, served from this machine, and a browser to read it with."""

import fcntl
import functools
import http.server
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from membership import paths
from tests import chromium
from tests.rendered.reading import PATIENCE, Kept, Reading, read

CHROMIUM_ARGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
NOT_COPIED = ("_build", "logs", "runs", "chapters", "generated", "*.ipynb", "__pycache__", ".*")
COPIED = ("_config.yml", "_toc.yml", "book", "notebooks", "results/paper", "src")
expect.set_options(timeout=PATIENCE)
# What a page can be given anew, as the browser has it by default.
LOOK = {"viewport": {"width": 1280, "height": 720}}
LOOK |= {"color_scheme": "light", "reduced_motion": "no-preference"}
FORGET = "() => { try { localStorage.clear(); sessionStorage.clear(); } catch { /* no site's */ } }"
# Old addresses, which forward to where a page is now.
_FORWARDS = paths.project_root() / "book" / "_moved"
MOVED = sorted(p.relative_to(_FORWARDS).as_posix() for p in _FORWARDS.rglob("*.html"))
DESCRIPTIONS_OF_DATA = ("*.csv", "*.md", "*.toml")
BUILD = """
import sys
from pathlib import Path
import membership
from membership.book import running, site
assert Path(membership.__file__).is_relative_to(Path.cwd()), membership.__file__
running.run_side_by_side(running.chapters(), ["--profile", "tiny", "--quiet"], 2)
site.build_site(quiet=True)
"""


def copy_project(destination: Path) -> None:
    """Copy what the book is made of, so that no test touches the user's runs or site."""
    root = paths.project_root()
    ignore = shutil.ignore_patterns(*NOT_COPIED)
    described = [f for kind in DESCRIPTIONS_OF_DATA for f in (root / "data").glob(kind)]
    for source in [*(root / name for name in COPIED), *described]:
        target = destination / source.relative_to(root)
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=ignore)
        elif source.is_file():
            shutil.copy2(source, target)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built site: `MEMBERSHIP_SITE` if set, else built here at `tiny`."""
    if named := os.environ.get("MEMBERSHIP_SITE"):
        return Path(named).resolve()
    here = tmp_path_factory.getbasetemp()
    # Test processes side by side have folders beside each other, and one site.
    root = (here.parent if "PYTEST_XDIST_WORKER" in os.environ else here) / "project"
    with (root.parent / "project.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not root.exists():
            copy_project(root)
            build(root)
    html = root / "_build" / "html"
    assert (html / "index.html").is_file(), f"no site: {_why(root).read_text()}"
    return html


def build(root: Path) -> None:
    """Run every chapter of a copy at `tiny`, two at a time, and build its site."""
    environment = {**os.environ, "PYTHONPATH": str(root / "src")}
    done = subprocess.run(
        [sys.executable, "-c", BUILD], cwd=root, env=environment, capture_output=True, text=True
    )
    # Every test that needs the site says why there is none, not the first alone.
    _why(root).write_text(done.stderr[-1000:])
    assert done.returncode == 0, done.stderr[-3000:]


def _why(root: Path) -> Path:
    return root / "stderr.txt"


@pytest.fixture(scope="session")
def pages(site: Path) -> list[str]:
    """Every page of the site, as a path relative to it; the theme's own templates left out."""
    found = {p.relative_to(site) for p in site.rglob("*.html")} - {Path(old) for old in MOVED}
    return sorted(p.as_posix() for p in found if p.parts[0] not in ("_static", "results"))


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture(scope="session")
def address(site: Path) -> Iterator[str]:
    """The address the site is served at."""
    handler = functools.partial(_Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A headless Chromium; without one the tests are skipped, but never in CI."""
    program = chromium.find()
    if program is None:
        if os.environ.get("CI"):
            pytest.fail(chromium.ADVICE)
        pytest.skip(chromium.ADVICE)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=program, args=list(CHROMIUM_ARGS), timeout=PATIENCE
        )
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def kept() -> Kept:
    """What was found where every page was visited before: nothing is read again."""
    return Kept()


@pytest.fixture(scope="session")
def reading(browser: Browser, address: str, kept: Kept) -> Callable[[str, int], Reading]:
    """A function that reads a page of the site at a width, once for all tests that ask."""
    page = browser.new_page()
    page.set_default_timeout(PATIENCE)

    def reading(name: str, width: int) -> Reading:
        if (name, width) not in kept.readings:
            kept.readings[name, width] = read(page, f"{address}/{name}", width)
        return kept.readings[name, width]

    return reading


@pytest.fixture(scope="session")
def parked() -> dict[tuple, list[Page]]:
    """Pages that no test uses now, by what cannot be changed about them."""
    return {}


@pytest.fixture
def open_page(browser: Browser, parked: dict[tuple, list[Page]]) -> Iterator[Callable[..., Page]]:
    """A function that opens an empty page with the given options of a browser context.

    A new page is a new process that has compiled nothing, a second of work: one that an earlier
    test has left is emptied and taken again, unless the page is to be `fresh`.
    """
    opened: list[tuple[Page, list[Page] | None]] = []

    def opener(*, fresh: bool = False, **options: object) -> Page:
        look = LOOK | {name: options.pop(name) for name in LOOK.keys() & options}
        waiting = None if fresh else parked.setdefault(tuple(sorted(options.items())), [])
        page = waiting.pop() if waiting else browser.new_page(**options)
        opened.append((page, waiting))
        page.set_default_timeout(PATIENCE)
        page.set_viewport_size(look.pop("viewport"))
        page.emulate_media(media="null", **look)
        return page

    yield opener
    for page, waiting in opened:
        if waiting is None:
            page.close()
        else:
            park(page)
            waiting.append(page)


def park(page: Page) -> None:
    """Leave nothing of a test in a page: no choice of a reader's, no place of the mouse."""
    page.evaluate(FORGET)
    page.mouse.move(0, 0)
    page.goto("about:blank")
