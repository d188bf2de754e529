"""A wheel holds what a chapter needs outside the repository; an sdist what a wheel is made from."""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from membership import __version__
from membership.book.exhibits import declared
from membership.book.exhibits.exhibit_pages import chapter_of_page

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
SOURCE = ("src", "notebooks", "data", "tests", "benchmarks", "recipes", "book")
CHECKSUMS = "results/paper/comparison/run.manifest"
CODE = "from setuptools import build_meta as b; b.build_sdist('dist'); b.build_wheel('dist')"


@pytest.fixture(scope="module")
def dist(tmp_path_factory) -> Path:
    """Both, made from a copy: a build leaves files beside its sources."""
    copy = tmp_path_factory.mktemp("source")
    unwanted = shutil.ignore_patterns("*.ipynb", "__pycache__", "chapters", "generated", "*.npz")
    for name in SOURCE:
        shutil.copytree(ROOT / name, copy / name, ignore=unwanted)
    (copy / CHECKSUMS).parent.mkdir(parents=True)
    shutil.copy(ROOT / CHECKSUMS, copy / CHECKSUMS)
    for file in ROOT.iterdir():
        if file.is_file():
            shutil.copy(file, copy)
    done = subprocess.run([sys.executable, "-c", CODE], cwd=copy, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return copy / "dist"


@pytest.fixture(scope="module")
def installed(dist, tmp_path_factory) -> Path:
    """The wheel's content, as pip unpacks it."""
    folder = tmp_path_factory.mktemp("installed")
    (wheel,) = dist.glob("*.whl")
    with zipfile.ZipFile(wheel) as opened:
        opened.extractall(folder)
    return folder


def test_the_wheel_has_every_file_of_the_package_and_what_it_ships(dist, installed):
    assert (dist / f"membership-{__version__}-py3-none-any.whl").is_file()
    package = ROOT / "src" / "membership"
    for file in package.rglob("*"):
        if file.is_file() and file.suffix != ".pyc":
            inside = installed / "membership" / file.relative_to(package)
            assert inside.read_bytes() == file.read_bytes(), file
    shipped = installed / "membership" / "shipped"
    for folder, pattern in (("notebooks", "*.md"), ("data", "*.toml"), ("data", "*.csv")):
        wanted = {path.name for path in (ROOT / folder).glob(pattern)}
        assert wanted
        assert {path.name for path in (shipped / folder).glob(pattern)} == wanted
    assert (shipped / CHECKSUMS).read_bytes() == (ROOT / CHECKSUMS).read_bytes()


def test_the_sdist_has_what_the_wheel_is_made_from_and_the_tests(dist):
    (archive,) = dist.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
    tracked = ["setup.py", "pyproject.toml", "Makefile", "requirements.lock", "CHANGELOG.md"]
    tracked += ["_toc.yml", "data/registry.toml", "notebooks/iha.md", "tests/conftest.py"]
    tracked += ["book/rerun.md", "src/membership/py.typed"]
    assert [name for name in tracked if name not in names] == []
    assert [name for name in names if name.startswith("results/") and "." in name] == [CHECKSUMS]


@pytest.fixture
def run(installed, tmp_path):
    """A function that runs the installed command in an empty folder."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MEMBERSHIP_")}

    def run(*arguments: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [sys.executable, "-P", "-m", "membership", *arguments],
            cwd=tmp_path,
            env={**environment, "PYTHONPATH": str(installed)},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


@pytest.mark.parametrize(
    ("chapter", "smaller"), [("loss_enough", ["-p", "n_games", "2"]), ("comparison", [])]
)
def test_a_chapter_runs_in_an_empty_folder(chapter, smaller, run, tmp_path):
    done = run("run", chapter, "--profile", "tiny", *smaller, "--quiet")
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()) == tmp_path / "book" / "chapters" / f"{chapter}.ipynb"
    results = tmp_path / "results" / "tiny" / chapter
    assert {file.stem for file in results.glob("*.json")} == {one.id for one in declared(chapter)}
    # Only the second one gathers what its numbers come from.
    assert bool([*results.glob("*.evidence")]) == (chapter == "comparison")


def test_the_bench_at_paper_size_asks_for_the_book_s_evidence(run, tmp_path):
    done = run("bench", "lira", "--profile", "paper")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "comes with a clone of the repository and not with the wheel" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", [["recompute", "gmip"], ["build"], ["archive"]])
def test_what_needs_a_clone_says_so(command, run, tmp_path):
    done = run(*command)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "come with a clone of the repository and not with the wheel" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_installed_command_finds_chapters_and_registry_in_an_empty_folder(run, tmp_path):
    listed = run("list")
    assert listed.returncode == 0, listed.stderr
    pages = {chapter_of_page(path.stem) for path in (ROOT / "notebooks").glob("*.md")}
    assert pages <= set(listed.stdout.split())
    missing = run("data", "check", "mnist")
    assert "mnist.npz is not in" in missing.stderr
    assert str(tmp_path / "data") in missing.stderr
    unplayed = run("run", "iha", "--profile", "tiny", "-p", "n_model", "3")
    assert "did you mean 'n_models'" in unplayed.stderr
    assert list(tmp_path.iterdir()) == []
