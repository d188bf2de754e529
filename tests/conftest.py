"""A miniature of the project, with one chapter that does what a test asks of it."""

import gc
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

import hypothesis
import pytest

# A machine that is busy with other work is no fault of what is tested.
hypothesis.settings.register_profile(
    "patient", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("patient")

REPOSITORY = Path(__file__).parents[1]

# Folders whose tests share what takes minutes to make.
TOGETHER = ("tests/book/studies",)

# What builds the whole site and runs every chapter once more: it takes longest of all.
FIRST = "tests/rendered/test_chapter.py"

# What reads that site: once it is there, file by file, and every page first, for minutes.
READERS = "tests/rendered/"
EVERY_PAGE = "tests/rendered/test_pages.py"

# Tests of pages that are read to their ends: once for all of them.
READ = ("pages", "figures", "length", "weight")

# Tests of what the site lists: each needs every claim's outcome.
SITE_TABLES = ("finding", "overview", "substitutions")

# Files that share what takes long to make: pages read to their ends; every claim's outcome.
SHARING = (
    tuple(f"tests/rendered/test_{one}.py" for one in READ),
    tuple(f"tests/book/site/test_{one}.py" for one in SITE_TABLES),
)

# What takes minutes in one file or folder: begun late, it would have one process end alone.
LONG = ("tests/book/cli", "tests/faults", "tests/book/running", "tests/book/site", "tests/training")


def together(place: str) -> str:
    """The tests that one process runs: a file's, or a folder's where the folder shares much."""
    folder = place.rpartition("/")[0]
    shared = next((files[0] for files in SHARING if place in files), place)
    return folder if folder.startswith(TOGETHER) else shared


# Without xdist there is no such hook.
@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Share the tests among processes by what belongs together."""
    from xdist.scheduler import LoadScopeScheduling

    class Scheduler(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return together(nodeid.split("::")[0])

    return Scheduler(config, log)


def needs_the_site(nodeid: str) -> bool:
    """Whether a test looks at the whole site, which takes minutes to build."""
    return nodeid.startswith(READERS)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not even import what `make test-fast` leaves out whole."""
    if config.option.markexpr != "not slow" or collection_path.suffix != ".py":
        return None
    return needs_the_site(collection_path.relative_to(REPOSITORY).as_posix()) or None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs the site as slow, and begin with what takes longest."""
    for item in items:
        if needs_the_site(item.nodeid):
            item.add_marker(pytest.mark.slow)
    items.sort(key=lambda item: rank(item.nodeid))


def pytest_collection_finish() -> None:
    """Let the collector look at what tests make, not at all that was imported for them as well."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)


@pytest.fixture
def no_accelerator(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the tests' own device, which stays in a process and which DataParallel cannot use."""
    module = import_module("torch.nn.parallel.data_parallel")
    monkeypatch.setattr(module, "_get_available_device_type", lambda: None)


def rank(nodeid: str) -> int:
    """When a test's turn comes: what makes the site, what is long, what reads it, the rest."""
    if nodeid.startswith(FIRST):
        return 0
    if nodeid.startswith((*TOGETHER, *LONG)):
        return 1
    if nodeid.startswith(READERS):
        return 2 if nodeid.startswith(EVERY_PAGE) else 3
    return 4


NOTEBOOK = """\
---
kernelspec: {name: python3, display_name: Python 3, language: python}
---
# A demonstration

```{code-cell} ipython3
:tags: [parameters]

profile: str = "quick"  # sizes of the run: tiny, quick, paper
n_repeats: int = 0  # how often; 0: the profile's
act: str = ""  # what the second cell does
```

```{code-cell} ipython3
from membership.book.studies.demo.settings import Settings, perform

settings = Settings.from_notebook(globals())
```

## The work

```{code-cell} ipython3
perform(settings)
```

## The end

```{code-cell} ipython3
print("repeats:", settings.n_repeats)
```
"""

SETTINGS = '''\
"""Settings of a chapter that exists in tests only."""

import os
import sys
import time
from typing import Any, ClassVar

from pydantic import Field

from membership import paths, processes
from membership.errors import InputError
from membership.book.exhibits import files
from membership.book.settings import ChapterSettings


class Settings(ChapterSettings):
    chapter: ClassVar[str] = "demo"
    profiles: ClassVar[dict[str, dict[str, Any]]] = {
        "tiny": {"n_repeats": 1},
        "quick": {"n_repeats": 2},
    }
    n_repeats: int = Field(0, ge=0, description="how often; 0: the profile's")
    act: str = Field("", description="what the second cell does")

    def check_data(self):
        from membership import data

        if self.dataset:
            data.outline(self.dataset, self.data_root or None)


def perform(settings):
    exhibit = files.location("demo-tab-1", "demo", settings.profile, settings.results_dir)
    files.write_together(exhibit, {".csv": f"n_repeats,{settings.n_repeats}\\n".encode()})
    paths.atomic_write(paths.project_root() / "kernel.pid", str(os.getpid()))
    if settings.act == "raise":
        raise ArithmeticError("first line\\nthe last line")
    if settings.act == "refuse":
        raise InputError("parameter 'act' = 'refuse': cannot be done")
    if settings.act == "memory":
        bytearray(2**60)
    if settings.act == "die":
        os.kill(os.getpid(), 9)
    if settings.act == "sleep":
        time.sleep(120)
    while settings.act == "wait" and not (paths.project_root() / "go").exists():
        time.sleep(0.05)
    if settings.act == "stall":  # what the kernel prints comes late, as on a busy machine
        from IPython import get_ipython

        sys.stdout.flush_timeout = sys.stderr.flush_timeout = 0
        get_ipython().kernel.iopub_thread.io_loop.add_callback(time.sleep, 6)
    if settings.act == "write":
        while True:
            paths.atomic_write(paths.in_run(exhibit), os.urandom(2**22))
            paths.atomic_write(
                paths.made_cache_dir() / "models" / "key.safetensors", os.urandom(2**22)
            )
    if settings.act == "threads":
        threads = os.environ["OMP_NUM_THREADS"]
        paths.atomic_write(paths.project_root() / "threads", threads)
    if settings.act == "train":
        train()


def train():
    """Keep two workers of joblib, one of them busy, with an array that lies in a file for them."""
    import joblib
    import numpy as np

    zeros = np.zeros(2**18)
    processes.workers(2)(joblib.delayed(work)(zeros, name) for name in ("one", "two"))


def work(zeros, name):
    paths.atomic_write(paths.project_root() / f"worker-{name}.pid", str(os.getpid()))
    while True:
        zeros.sum()
        time.sleep(0.1 if name == "two" else 0)
'''


def _hear_signals() -> None:
    """A shell's job in the background ignores Ctrl-C, and hands that on to all it starts."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


@dataclass(frozen=True)
class Project:
    """A project of its own in a temporary folder, with the package under test inside."""

    root: Path
    started: list[subprocess.Popen] = field(default_factory=list, repr=False, compare=False)

    @property
    def executed(self) -> Path:
        return self.root / "book" / "chapters" / "demo.ipynb"

    def start(self, *arguments: str, cwd: Path | None = None, **variables: str) -> subprocess.Popen:
        """Start the ``membership`` command of this project."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith("MEMBERSHIP_")}
        environment |= {"PYTHONPATH": str(self.root / "src"), **variables}
        process = subprocess.Popen(
            [sys.executable, "-m", "membership", *arguments],
            cwd=cwd or self.root,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=_hear_signals,
        )
        self.started.append(process)
        return process

    def end(self) -> None:
        """Leave no command of this project behind, whatever became of its test."""
        for process in self.started:
            process.kill()
            process.communicate()

    def run(
        self, *arguments: str, cwd: Path | None = None, **variables: str
    ) -> subprocess.CompletedProcess:
        """Run the command to its end; output and exit code are the test's to judge."""
        process = self.start(*arguments, cwd=cwd, **variables)
        try:
            out, err = process.communicate(timeout=300)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            raise
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def make_project(root: Path) -> Project:
    """Make the miniature: the package, one chapter called ``demo``, and an empty book."""
    # What another process is compiling at this moment has a name that will not last.
    passing = shutil.ignore_patterns("*.pyc.*")
    shutil.copytree(REPOSITORY / "src" / "membership", root / "src" / "membership", ignore=passing)
    study = root / "src" / "membership" / "book" / "studies" / "demo"
    study.mkdir()
    (study / "__init__.py").write_text("")
    (study / "settings.py").write_text(SETTINGS)
    (root / "notebooks").mkdir()
    (root / "notebooks" / "demo.md").write_text(NOTEBOOK)
    (root / "data").mkdir()
    shutil.copy(REPOSITORY / "data" / "registry.toml", root / "data")
    (root / "_toc.yml").write_text("format: jb-book\nroot: intro\n")
    return Project(root)


@pytest.fixture(scope="session")
def miniature() -> Callable[[Path], Project]:
    """A function that makes a project of its own in a folder that is not there yet."""
    return make_project


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """A project of its own for one test."""
    made = make_project(tmp_path / "project")
    yield made
    made.end()


@pytest.fixture
def two_chapters(project: Project) -> Project:
    """The miniature with a second chapter, ``other``, that does the same."""
    studies, notebooks = project.root / "src/membership/book/studies", project.root / "notebooks"
    shutil.copytree(studies / "demo", studies / "other")
    settings = SETTINGS.replace('"demo', '"other')
    (studies / "other" / "settings.py").write_text(settings)
    (notebooks / "other.md").write_text(NOTEBOOK.replace("studies.demo", "studies.other"))
    return project
