"""The template chapter, started in a copy of the project, runs, is judged and passes its test."""

import json
import os
import re
import shutil
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from membership import paths

ROOT = Path(__file__).parents[1]
PARTS = ("src", "notebooks", "data", "template", "_toc.yml", "_config.yml", "pyproject.toml")
PARTS += ("tests/book/exhibits/of_the_papers.csv",)


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    root = tmp_path_factory.mktemp("project")
    for part in PARTS:
        if (ROOT / part).is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "*.ipynb", "*.npz", "raw")
            shutil.copytree(ROOT / part, root / part, ignore=ignored)
        else:
            (root / part).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / part, root / part)
    return root


def run(copy, *command):
    """In the copy: its own package, its own results, data from where they are."""
    env = {
        **os.environ,
        "PYTHONPATH": str(copy / "src"),
        "MEMBERSHIP_CACHE": str(copy / ".cache"),
        "OMP_NUM_THREADS": "1",
    }
    return subprocess.run(
        [sys.executable, *command], cwd=copy, env=env, capture_output=True, text=True
    )


def printed():
    """What the page's commands give to Python, for a chapter called mine."""
    page = (ROOT / "book" / "bring-paper.md").read_text()
    fences = re.findall(r"^```bash\n(.*?)^```", page, re.M | re.S)
    lines = "".join(fences).replace("my_paper", "mine").splitlines()
    start, train, test = (line.split() for line in lines)
    return start[1:], ["-m", *train], [*test[1:], "-q", "-p", "no:cacheprovider"]


def starter(root):
    spec = spec_from_file_location("start_chapter", root / "template" / "start_chapter.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def snapshot(root):
    return {str(p): p.read_bytes() for p in root.rglob("*") if p.is_file() and p.suffix != ".pyc"}


REFUSED = {
    "yeom2018 My-Paper": "NAME is 'My-Paper'",
    "yeom2018 class": "NAME is 'class': give 40 small letters at most",
    "yeom2018 data_settings": "src/membership/book/studies/data_settings.py is there already",
    "yeom2018 lood": "src/membership/book/studies/lood/__init__.py is there already",
    "nobody1999 mine": "KEY is 'nobody1999': enter the paper in references.bib first",
    "clopper1934 mine": "KEY is 'clopper1934': its entry lacks eprint",
    f"yeom2018 {'a' * 300}": "give 40 small letters at most",
    "yeom2018": "KEY NAME",
}


@pytest.mark.parametrize("given", REFUSED)
def test_what_cannot_be_started_is_refused_and_nothing_is_written(copy, given):
    before = snapshot(copy)
    done = run(copy, "template/start_chapter.py", *given.split())
    assert done.returncode == 1
    assert REFUSED[given] in done.stderr
    assert snapshot(copy) == before


@pytest.mark.slow
def test_the_page_s_commands_start_a_chapter_that_runs_is_judged_and_passes_its_test(copy):
    start, train, test = printed()
    done = run(copy, *start)
    assert done.returncode == 0, done.stderr
    texts = [(copy / line).read_text() for line in done.stdout.split()]
    assert len(texts) == 11
    assert "writes eleven files" in (ROOT / "book" / "bring-paper.md").read_text()
    assert not any("my_paper" in text or "my-paper" in text for text in texts)
    assert "      - file: book/chapters/mine\n" in (copy / "_toc.yml").read_text()
    listed = (copy / "tests" / "book" / "exhibits" / "of_the_papers.csv").read_text()
    assert "\nmine,mine-tab-1,Table 1,table\n" in listed

    done = run(copy, *train)
    assert done.returncode == 0, done.stderr
    records = (copy / "results" / "tiny" / "mine").glob("mine-*.json")
    assert {json.loads(one.read_text())["id"] for one in records} == {"mine-tab-1", "mine-ctl-1"}
    notebook = (copy / "book" / "chapters" / "mine.ipynb").read_text()
    assert "not comparable" in notebook
    assert "other data" in notebook  # Digits are not MNIST.
    assert "mine-c01" in notebook
    assert "supported" in notebook  # The identity is, at any size.

    done = run(copy, *test)
    assert done.returncode == 0, done.stdout


def test_every_line_that_is_listed_has_its_place():
    starter_of = starter(ROOT)
    for place, (beside, _) in starter_of.LINES.items():
        assert (paths.project_root() / place).read_text().count(beside) == 1, place
