"""A run owns its results: no page ever shows one run's words with another's numbers."""

import dataclasses
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from membership import paths
from membership.book.site import build
from membership.errors import InputError

STUDY = '''

def perform(settings):
    """Three exhibits that say which run they are from, and a fault after the second."""
    for number in (1, 2, 3):
        if number == 3:
            fault(settings)
        name, place = f"demo-tab-{number}", settings.results_dir
        target = files.location(name, "demo", settings.profile, place)
        row = f"{settings.seed},{settings.n_repeats},{content(settings)}\\\\n"
        files.write_together(
            target, {".csv": row.encode(), ".json": json.dumps({"seed": settings.seed}).encode()}
        )


def content(settings):
    named = [settings.dataset, settings.ood_dataset, *settings.also_datasets]
    found = [Path(name.removesuffix("-odd")) for name in named if name]
    return "+".join(hashlib.sha256(path.read_bytes()).hexdigest() for path in found)


def fault(settings):
    root = paths.project_root()
    if settings.act == "refuse":
        raise InputError("parameter 'act' = 'refuse': cannot be done")
    if settings.act == "kill the command":
        os.kill(os.getppid(), 9)
    if settings.act == "wait":
        (root / "waiting").touch()
        while not (root / "go").exists():
            time.sleep(0.05)
    if settings.act == "replace":
        write_data(root / "own.npz", 5)


def write_data(path, seed):
    import numpy as np

    y = np.arange(40) % 2
    np.savez(path, x=np.random.default_rng(seed).random((40, 3)), y=y)
'''
TOC = "format: jb-book\nroot: intro\nchapters:\n- file: book/chapters/demo\n"
CONFIG = """\
title: A miniature
only_build_toc_files: true
exclude_patterns: ["src/**", "notebooks/**"]
execute: {execute_notebooks: "off"}
"""
PAPERMILL = """
import sys, json, jupytext, papermill
jupytext.write(jupytext.read("notebooks/demo.md"), "notebooks/demo.ipynb")
papermill.execute_notebook("notebooks/demo.ipynb", "out.ipynb", json.loads(sys.argv[1]))
"""


@pytest.fixture(scope="module")
def finished(tmp_path_factory, miniature):
    """A project whose chapter was run once, with seed 0 and its own data."""
    root = tmp_path_factory.mktemp("finished") / "project"
    project = miniature(root)
    study = root / "src" / "membership" / "book" / "studies" / "demo" / "settings.py"
    text = study.read_text().replace("def perform", "def _as_it_was")
    text = text.replace("import os\n", "import hashlib\nimport json\nimport os\n", 1)
    text = text.replace("from typing", "from pathlib import Path\nfrom typing", 1)
    fields = '    ood_dataset: str = ""\n    also_datasets: list[str] = []\n\n\ndef _as_it_was'
    study.write_text(text.replace("\n\ndef _as_it_was", fields, 1) + STUDY.replace("\\\\n", "\\n"))
    notebook = root / "notebooks" / "demo.md"
    own = 'seed: int = 0\nood_dataset: str = ""\nalso_datasets: list = []\ndataset: str = ""\n'
    notebook.write_text(notebook.read_text().replace('act: str = ""', own + 'act: str = ""'))
    (root / "_toc.yml").write_text(TOC)
    (root / "_config.yml").write_text(CONFIG)
    (root / "intro.md").write_text("# A miniature\n\nProse.\n")
    write_data(root / "own.npz", 0)
    done = project.run("run", "demo", "--profile", "tiny")
    assert done.returncode == 0, done.stderr
    return project


@pytest.fixture
def project(finished, tmp_path):
    """A copy of it for one test."""
    shutil.copytree(finished.root, tmp_path / "project")
    return dataclasses.replace(finished, root=tmp_path / "project")


def write_data(path: Path, seed: int) -> None:
    y = np.arange(40) % 2
    np.savez(path, x=np.random.default_rng(seed).random((40, 3)), y=y)


def run(project, *arguments: str) -> subprocess.CompletedProcess:
    return project.run("run", "demo", "--profile", "tiny", "--quiet", *arguments)


def results(project) -> dict[str, bytes]:
    folder = project.root / "results" / "tiny" / "demo"
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def hidden(project) -> list[str]:
    """What runs left beside the results, but for the lock."""
    names = [path.name for path in (project.root / "results" / "tiny").iterdir()]
    return sorted(name for name in names if name[0] == "." and not name.endswith(".lock"))


def up_to_date(project, *arguments: str) -> bool:
    done = project.run("run", "demo", "--profile", "tiny", *arguments)
    assert done.returncode == 0, done.stderr
    return "up to date" in done.stderr


def one_line(done: subprocess.CompletedProcess) -> str:
    assert "Traceback" not in done.stderr
    line = done.stderr.strip().splitlines()[-1]
    assert line.startswith("membership: ")
    return line


@pytest.mark.slow
def test_a_killed_run_leaves_the_earlier_results_and_is_cleared_by_the_next(project):
    before = results(project)
    done = run(project, "-p", "seed", "1", "-p", "act", "kill the command")
    assert done.returncode == -9
    deadline = time.monotonic() + 180
    while len(hidden(project)) == 0 and time.monotonic() < deadline:
        time.sleep(0.1)
    assert results(project) == before
    assert up_to_date(project)
    assert run(project, "-p", "seed", "2").returncode == 0
    assert hidden(project) == []
    assert {content[:1] for name, content in results(project).items() if ".csv" in name} == {b"2"}


@pytest.mark.slow
def test_a_refused_run_leaves_the_earlier_results(project):
    before = results(project)
    done = run(project, "-p", "seed", "5", "-p", "act", "refuse")
    assert done.returncode == 2
    assert results(project) == before
    assert hidden(project) == []
    assert up_to_date(project)


@pytest.mark.slow
def test_of_two_runs_at_once_the_second_is_refused(project):
    first = project.start(
        *("run", "demo", "--profile", "tiny", "--quiet"), *("-p", "seed", "3", "-p", "act", "wait")
    )
    deadline = time.monotonic() + 180
    while not (project.root / "waiting").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    second = run(project, "-p", "seed", "4")
    assert second.returncode == 2
    assert "another run is writing to results/tiny/demo; wait for its end" in one_line(second)
    (project.root / "go").touch()
    first.communicate(timeout=180)
    assert first.returncode == 0
    assert {content[:1] for name, content in results(project).items() if ".csv" in name} == {b"3"}


@pytest.mark.slow
def test_replaced_data_of_the_same_size_and_time_are_noticed(project):
    """Whichever parameter names them: each alone in tests/book/running/test_up_to_date.py."""
    first, second, third = (project.root / f"{name}.npz" for name in ("a", "b", "c"))
    for path in (first, second, third):
        write_data(path, 0)
    given = [
        *("-p", "dataset", str(first), "-p", "also_datasets", json.dumps([str(second)])),
        *("-p", "ood_dataset", str(third)),
    ]
    assert not up_to_date(project, *given)
    assert up_to_date(project, *given)
    for replaced in (second, third):
        before, status = results(project), replaced.stat()
        write_data(replaced, 1)
        os.utime(replaced, ns=(status.st_atime_ns, status.st_mtime_ns))
        assert replaced.stat().st_size == status.st_size
        assert not up_to_date(project, *given)
        assert results(project)["demo-tab-1.csv"] != before["demo-tab-1.csv"]


@pytest.mark.slow
def test_data_replaced_during_a_run_drop_it(project):
    before = results(project)
    own = str(project.root / "own.npz")
    done = run(project, "-p", "dataset", own, "-p", "act", "replace")
    assert done.returncode == 1
    assert "a data file was replaced during the run" in one_line(done)
    assert results(project) == before


DAMAGES = {
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-2]),
    "edited": lambda path: path.write_bytes(path.read_bytes().replace(b"0", b"7", 1)),
    "emptied": lambda path: path.write_bytes(b""),
    "gone": lambda path: path.unlink(),
    "exchanged": lambda path: shutil.copy(path.with_name("run.manifest"), path),
}


@pytest.mark.slow
def test_a_damaged_result_is_not_published_and_a_rerun_repairs_it(project, monkeypatch):
    before, folder = results(project), project.root / "results" / "tiny" / "demo"
    monkeypatch.setattr(paths, "project_root", lambda: project.root)
    for name in ("demo-tab-2.csv", "demo-tab-2.json"):
        told = f"results/tiny/demo/{name} is not the file that the page's run wrote"
        for damage in DAMAGES.values():
            damage(folder / name)
            # What the command asks before it builds.
            with pytest.raises(InputError) as refusal:
                build.agreed(["demo"])
            assert told in str(refusal.value)
            assert "run it again: membership run demo -p profile tiny" in str(refusal.value)
            (folder / name).write_bytes(before[name])
        DAMAGES["edited"](folder / name)
        done = project.run("build")
        assert done.returncode == 2
        assert told in one_line(done)
        assert "run it again: membership run demo -p profile tiny" in one_line(done)
        (folder / name).write_bytes(before[name])
    assert not (project.root / "_build").exists()
    assert up_to_date(project)
    for name, damage in (("demo-tab-1.csv", "emptied"), ("demo-tab-2.json", "edited")):
        DAMAGES[damage](folder / name)
    assert not up_to_date(project)
    assert results(project) == before


@pytest.mark.slow
def test_a_page_that_was_changed_is_not_published_and_a_rerun_repairs_it(project):
    project.executed.write_text(project.executed.read_text().replace("repeats: 1", "repeats: 9"))
    done = project.run("build")
    assert done.returncode == 2
    assert "book/chapters/demo.ipynb is not as `membership run` left it" in one_line(done)
    assert not up_to_date(project)
    assert "repeats: 1" in project.executed.read_text()


@pytest.mark.slow
def test_results_of_plain_papermill_are_told_from_those_of_the_page(project):
    """The steps of a reader: run, papermill with another seed, build, run again, build."""
    before = results(project)
    environment = {**os.environ, "PYTHONPATH": str(project.root / "src")}
    subprocess.run(
        [sys.executable, "-c", PAPERMILL, json.dumps({"profile": "tiny", "seed": 9})],
        cwd=project.root,
        env=environment,
        check=True,
        capture_output=True,
    )
    assert results(project)["demo-tab-1.csv"] == b"9,1,\n"
    (noted,) = json.loads(results(project)["run.manifest"])["runs"]
    assert (noted["written_by"], noted["seed"]) == ("a notebook, without `membership run`", 9)

    done = project.run("build")
    assert done.returncode == 2
    said = "demo-tab-1.csv is not the file that the page's run wrote (a notebook, without `membersh"
    assert said in one_line(done)

    assert not up_to_date(project)
    assert results(project) == before
    built = project.run("build")
    assert built.returncode == 0, built.stderr
    site = project.root / "_build" / "html" / "results" / "tiny" / "demo"
    assert {path.name: path.read_bytes() for path in site.iterdir()} == before


@pytest.mark.slow
def test_damaged_committed_results_are_not_published(project):
    paper = project.root / "results" / "paper" / "demo"
    shutil.copytree(project.root / "results" / "tiny" / "demo", paper)
    (project.root / ".git").mkdir()
    assert project.run("seal", "demo").returncode == 0
    shown = paper / "demo-tab-1.json"
    shown.write_text(shown.read_text().replace("0", "1"))
    done = project.run("build")
    assert done.returncode == 2
    assert "results/paper/demo/demo-tab-1.json is not the file that its run wrote" in one_line(done)
    assert one_line(done).endswith("git checkout -- results/paper/demo")
    (project.root / "kernel.pid").unlink(missing_ok=True)
    for once in (run(project), run(project, "--at-once", "2")):
        assert (once.returncode, one_line(once)) == (2, one_line(done))
    shown.write_text(shown.read_text().replace("1", "0"))
    (paper / "demo-tab-9.csv").write_text("of nobody")
    done = project.run("build")
    assert "no run is known to have written results/paper/demo/demo-tab-9.csv" in one_line(done)
