"""`membership clean` never removes what people wrote, whatever MEMBERSHIP_CACHE names."""

import pytest


def content(root):
    found = (p for p in root.rglob("*") if p.is_file() and "__pycache__" not in p.parts)
    return {str(p.relative_to(root)): p.read_bytes() for p in found}


@pytest.mark.parametrize("named", ["src", ".git", "mine"])
def test_a_folder_that_is_no_cache_is_refused_in_one_line(project, named):
    (project.root / ".git").mkdir()
    (project.root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (project.root / "mine").mkdir()
    (project.root / "mine" / "thesis.tex").write_text("years of work")
    before = content(project.root)
    done = project.run("clean", "--cache", MEMBERSHIP_CACHE=named)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith("membership: ")
    assert named in line or named == "."
    assert content(project.root) == before


@pytest.mark.slow
def test_a_cache_that_a_run_made_is_removed(project):
    made = "from membership.training.cache import Cache\nwith Cache().lock('key'): pass\n"
    study = project.root / "src" / "membership" / "book" / "studies" / "demo" / "settings.py"
    text = study.read_text().replace("def perform(settings):", "def perform(settings):\n    work()")
    study.write_text(text + "\n\ndef work():\n" + "".join(f"    {x}\n" for x in made.splitlines()))
    assert project.run("run", "demo", MEMBERSHIP_CACHE="kept").returncode == 0
    assert (project.root / "kept" / "locks" / "key.lock").is_file()
    done = project.run("clean", "--cache", MEMBERSHIP_CACHE="kept")
    assert (done.returncode, done.stderr) == (0, "")
    assert not (project.root / "kept").exists()
