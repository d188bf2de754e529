"""Running one notebook: what comes out, what is left alone, and how each failure reads."""

import json
import re
from pathlib import Path

import pytest

from membership.book.exhibits import provenance
from membership.book.running import notebook, settings_class
from membership.errors import InputError


def outputs(executed: Path) -> str:
    cells = json.loads(executed.read_text())["cells"]
    return "".join("".join(o.get("text", "")) for c in cells for o in c.get("outputs", []))


def tags_of_injected(executed: Path) -> list[list[str]]:
    cells = json.loads(executed.read_text())["cells"]
    tags = [c["metadata"].get("tags", []) for c in cells]
    return [one for one in tags if "injected-parameters" in one]


def one_line(stderr: str) -> str:
    """The command's own last word, with nothing of Python's stack before it."""
    assert "Traceback" not in stderr
    *_, last = stderr.strip().splitlines()
    assert last.startswith("membership: ")
    return last


@pytest.mark.slow
def test_a_run_leaves_an_executed_notebook_its_record_and_its_exhibit(project):
    done = project.run("run", "demo", "--profile", "tiny", "-p", "n_repeats", "7")
    assert (done.returncode, done.stdout) == (0, f"{project.executed}\n"), done.stderr
    told = [re.sub(r"( +|\d+:\d\d)+", " ", line) for line in done.stderr.splitlines()]
    assert told == [
        "demo (tiny) cell 1 of 5 A demonstration",
        "demo (tiny) cell 4 of 5 The work",
        "demo (tiny) cell 5 of 5 The end",
    ]
    assert "repeats: 7" in outputs(project.executed)

    notebook = json.loads(project.executed.read_text())
    assert tags_of_injected(project.executed) == [["injected-parameters", "hide-input"]]
    assert [*notebook["metadata"]["membership"]["files"]] == ["demo-tab-1.csv"]
    assert "/tmp" not in json.dumps(notebook["metadata"])

    record = json.loads((project.root / "runs" / "tiny" / "demo.json").read_text())
    assert [s["title"] for s in record["sections"]] == ["A demonstration", "The work", "The end"]
    assert record["parameters"]["n_repeats"] == 7
    assert 0 < sum(s["seconds"] for s in record["sections"]) <= record["seconds"]
    assert not (project.root / "logs" / "demo-tiny.log").exists()

    # A second run is passed over until something changes.
    first = project.executed.read_bytes()
    again = project.run("run", "demo", "--profile", "tiny", "-p", "n_repeats", "7")
    assert again.returncode == 0
    assert "demo (tiny): up to date" in again.stderr
    assert project.executed.read_bytes() == first

    given = ("--profile", "tiny", "-p", "n_repeats", "7", "--force", "--quiet")
    forced = project.run("run", "demo", *given)
    assert (forced.returncode, forced.stderr) == (0, "")
    assert project.executed.read_bytes() != first

    changed = project.run("run", "demo", "-p", "n_repeats", "5")
    assert changed.returncode == 0
    assert "repeats: 5" in outputs(project.executed)


@pytest.mark.slow
def test_the_details_are_run_with_their_chapter_and_both_pages_are_of_one_run(project):
    text = (project.root / "notebooks" / "demo.md").read_text()
    text = text.replace("The end", "More").replace("[parameters]", "[parameters, remove-input]")
    (project.root / "notebooks" / "demo_details.md").write_text(text)
    details = project.executed.with_name("demo_details.ipynb")
    command = ("run", "demo", "--profile", "tiny", "-p", "n_repeats", "7")
    done = project.run(*command)
    assert (done.returncode, done.stdout) == (0, f"{project.executed}\n"), done.stderr
    assert all("repeats: 7" in outputs(page) for page in (project.executed, details))
    assert tags_of_injected(details) == [["injected-parameters", "remove-input"]]
    record = json.loads((project.root / "runs" / "tiny" / "demo.json").read_text())
    assert [s["title"] for s in record["sections"]].count("A demonstration") == 2
    assert (
        "up to date"
        in project.run("run", "demo", "--profile", "tiny", "-p", "n_repeats", "7").stderr
    )
    details.unlink()
    again = project.run("run", "demo", "--profile", "tiny", "-p", "n_repeats", "7")
    assert "up to date" not in again.stderr
    assert details.is_file()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("act", "code", "told"),
    [
        ("raise", 1, "failed in 'The work': ArithmeticError: the last line; the log is logs/"),
        ("refuse", 2, "parameter 'act' = 'refuse': cannot be done"),
        (
            "memory",
            1,
            "failed in 'The work': out of memory; free some, or choose a smaller profile",
        ),
        ("die", 1, "failed in 'The work': the kernel died (killed, or out of memory); the log is"),
    ],
)
def test_a_failure_is_one_line_and_keeps_the_earlier_page(project, act, code, told):
    project.executed.parent.mkdir(parents=True)
    project.executed.write_text("the earlier page")
    done = project.run("run", "demo", "-p", "act", act)
    assert done.returncode == code
    assert told in one_line(done.stderr)
    assert project.executed.read_text() == "the earlier page"
    assert [p.name for p in project.executed.parent.iterdir()] == ["demo.ipynb"]
    assert not (project.root / "runs" / "quick" / "demo.json").exists()
    if act == "raise":
        # The failed notebook is kept beside the log until a run succeeds.
        log, notebook = (project.root / "logs" / f"demo-quick.{end}" for end in ("log", "ipynb"))
        assert "ArithmeticError: first line\nthe last line" in log.read_text()
        assert "'act': 'raise'" in log.read_text()
        assert "\x1b" not in log.read_text()
        cells = json.loads(notebook.read_text())["cells"]
        assert any(o for c in cells for o in c.get("outputs", []))
        assert project.run("run", "demo", "--force").returncode == 0
        assert not log.exists()
        assert not notebook.exists()


@pytest.mark.slow
def test_a_kernel_whose_output_comes_late_is_waited_for(project):
    done = project.run("run", "demo", "-p", "act", "stall")
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("in_the_way", ["book", "logs", "runs", "results"])
def test_a_folder_that_cannot_be_written_is_found_before_the_work(project, in_the_way):
    (project.root / in_the_way).write_text("a file where a folder should be")
    done = project.run("run", "demo")
    assert done.returncode == 2
    assert "cannot write" in one_line(done.stderr)
    assert not (project.root / "kernel.pid").exists()


@pytest.mark.slow
def test_paths_are_taken_from_where_the_user_stands_and_told_to_nobody(project, tmp_path):
    elsewhere = tmp_path / "élsewhere"
    elsewhere.mkdir()
    (elsewhere / "été.csv").write_text("a,t\n" + "1,0\n2,1\n" * 20)
    given = ("-p", "results_dir", "mine", "-p", "dataset", "été.csv", "-p", "label", "t")
    done = project.run("run", "demo", *given, cwd=elsewhere)
    assert done.returncode == 0, done.stderr
    manifest = elsewhere / "mine" / "quick" / "demo" / "run.manifest"
    record = project.root / "runs" / "quick" / "demo.json"
    for file in (project.executed, record, manifest):
        assert "lsewhere" not in file.read_text().replace('"elsewhere/"', "")
        assert str(project.root) not in file.read_text()
    assert json.loads(record.read_text())["parameters"]["results_dir"] == "mine"
    note = json.loads(project.executed.read_text())["metadata"]["membership"]
    assert note["own_data"] == ["été.csv"]


@pytest.mark.slow
def test_plain_papermill_finds_a_misspelt_parameter_too(project):
    import os
    import subprocess
    import sys

    script = (
        "import jupytext, papermill; "
        "jupytext.write(jupytext.read('notebooks/demo.md'), 'notebooks/demo.ipynb'); "
        "papermill.execute_notebook('notebooks/demo.ipynb', 'out.ipynb', {'n_repeat': 5})"
    )
    environment = {**os.environ, "PYTHONPATH": str(project.root / "src")}
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=project.root,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "InputError: unknown parameter 'n_repeat'; did you mean 'n_repeats'?" in done.stderr
    assert not (project.root / "kernel.pid").exists()


def test_a_paper_size_run_from_a_changed_tree_is_refused_before_any_work(monkeypatch):
    started = []
    settings = settings_class("lood").from_values({"profile": "paper"})
    monkeypatch.setattr(notebook, "check", lambda *_: settings)
    monkeypatch.setattr(notebook, "fingerprint", lambda *_: "")
    monkeypatch.setattr(notebook, "is_up_to_date", lambda *_: False)
    monkeypatch.setattr(notebook, "_run", lambda *_: started.append("run"))
    monkeypatch.setattr(provenance, "git_commit", lambda: f"abc{provenance.DIRTY}")
    with pytest.raises(InputError, match="profile = 'paper': src or notebooks differ"):
        notebook.run_notebook("lood", {"profile": "paper"}, quiet=True)
    assert started == []
