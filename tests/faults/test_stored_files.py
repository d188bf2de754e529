"""Every kind of stored file, damaged: noticed in one line, and a rerun gives the same bytes."""

import dataclasses
import itertools
import json
import os
import shutil
from types import SimpleNamespace

import numpy as np
import pytest

from membership import data, paths
from membership.book import manifest
from membership.book.running import chapter_files, times, up_to_date
from membership.book.site import build, build_site
from membership.book.site.statistics import run_statistics
from membership.errors import InputError

pytestmark = pytest.mark.slow

CONFIG = """\
title: A miniature
only_build_toc_files: true
exclude_patterns: ["src/**", "notebooks/**"]
execute: {execute_notebooks: "off"}
"""
KINDS = (".csv", ".json", ".svg", ".pdf")
STUDY = '''

def perform(settings):
    """One exhibit of every kind twice, and evidence in the results and in the cache."""
    import numpy as np

    from membership import evidence

    for name in ("demo-tab-1", "demo-tab-2"):
        target = files.location(name, "demo", settings.profile, settings.results_dir)
        told = {kind: f"<{name}{kind}>\\n".encode() for kind in (".csv", ".svg", ".pdf")}
        files.write_together(target, {**told, ".json": json.dumps({"name": name}).encode()})
    evidence.gathered("held", held, {}, paths.in_run(target.parent))


def held():
    import numpy as np

    from membership import evidence

    said = {"set": "Digits", "data": {"digits": "ab12"}, "recipe": {"epochs": 3}}
    log_odds = np.random.default_rng(0).normal(2, 3, (3, 50))
    told = {"log_odds": log_odds, "member": log_odds > 2, "test_accuracy": np.arange(3.0)}
    return evidence.dataset("outputs", told, {"record": np.arange(50)}, targets=[0, 1], **said)
'''
PAGE = "book/chapters/demo.ipynb"
RECORD = "runs/tiny/demo.json"
RESULTS = "results/tiny/demo"
STORED = [f"demo-tab-1{kind}" for kind in KINDS] + ["held.evidence", manifest.NAME]


def flipped(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def exchanged(path):
    """With another file of the same kind, or else of another."""
    other = path.with_name(path.name.replace("tab-1", "tab-2"))
    path.write_bytes(other.read_bytes() if other != path else json.dumps({"runs": []}).encode())


DAMAGES = {
    "a flipped bit": flipped,
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-3]),
    "cut in half": lambda path: os.truncate(path, path.stat().st_size // 2),
    "emptied": lambda path: path.write_bytes(b""),
    "an empty list": lambda path: path.write_text("[]"),
    "garbage": lambda path: path.write_bytes(b"\xff" * 999),
    "deep": lambda path: path.write_text("[" * 100_000),
    "gone": lambda path: path.unlink(),
    "exchanged": exchanged,
}
every_damage = pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)


@pytest.fixture(scope="module")
def finished(tmp_path_factory, miniature):
    """A project whose chapter was run once, and the bytes of all that the run has stored."""
    project = miniature(tmp_path_factory.mktemp("stored") / "project")
    study = project.root / "src" / "membership" / "book" / "studies" / "demo" / "settings.py"
    text = study.read_text().replace("def perform", "def _as_it_was")
    study.write_text(text.replace("import os", "import json\nimport os", 1) + STUDY)
    (project.root / "_config.yml").write_text(CONFIG)
    (project.root / "intro.md").write_text("# A miniature\n\nProse.\n")
    (project.root / "_toc.yml").write_text(
        "format: jb-book\nroot: intro\nchapters:\n- file: book/chapters/demo\n"
    )
    done = rerun(project)
    assert (done.returncode, done.stderr) == (0, "")
    return project


@pytest.fixture
def house(finished, tmp_path, monkeypatch):
    """A copy of it for one test, which this process takes for its project."""
    root = tmp_path / "project"
    shutil.copytree(finished.root, root, ignore=shutil.ignore_patterns("src"))
    monkeypatch.setattr(paths, "project_root", lambda: root)
    return root


def rerun(project):
    return project.run("run", "demo", "--profile", "tiny", "--quiet")


def passed_over(mark: str) -> bool:
    """Whether a run with the settings of the one there was would be passed over."""
    settings = SimpleNamespace(chapter="demo", profile="tiny", results_dir="")
    return up_to_date.is_up_to_date(settings, mark)


def noticed(mark: str) -> str:
    """What `build` says, in one line, of a fault that a rerun would repair."""
    assert not passed_over(mark)
    with pytest.raises(InputError) as refusal:
        build.agreed(["demo"])
    assert "\n" not in str(refusal.value)
    assert "membership run demo" in str(refusal.value)
    return str(refusal.value)


def mark_of(root) -> str:
    return json.loads((root / PAGE).read_text())["metadata"]["membership"]["fingerprint"]


@every_damage
@pytest.mark.parametrize("name", STORED)
def test_a_damaged_result_is_noticed(house, name, damage):
    mark = mark_of(house)
    assert passed_over(mark)
    damage(house / RESULTS / name)
    assert f"{RESULTS}/{name} is " in noticed(mark)


@every_damage
def test_a_damaged_page_is_noticed(house, damage):
    mark = mark_of(house)
    damage(house / PAGE)
    if (house / PAGE).exists():
        assert f"{PAGE} is not as `membership run` left it" in noticed(mark)
    assert not passed_over(mark)


def flips(path, step=1):
    """The file with each of its bytes, or every so many, changed in turn, and where."""
    whole = path.read_bytes()
    for position in range(0, len(whole), step):
        content = bytearray(whole)
        content[position] ^= 1
        path.write_bytes(content)
        yield position


def test_any_flipped_bit_of_a_page_is_noticed(house):
    said = json.loads((house / PAGE).read_bytes())
    for position in flips(house / PAGE, 5):
        if up_to_date.read_stamp(up_to_date.executed_path("demo")):
            assert json.loads((house / PAGE).read_bytes()) == said, position


def test_any_flipped_bit_of_a_manifest_is_noticed(house):
    folder = house / RESULTS
    said, files = manifest.read(folder), manifest.listed(folder)
    for position in flips(folder / manifest.NAME):
        if manifest.covers(folder, files):
            assert manifest.read(folder) == said, position


@every_damage
def test_a_damaged_record_of_a_run_is_left_out_with_one_line(house, capsys, damage):
    assert len(times.read_all()) == 1
    damage(house / RECORD)
    left = (house / RECORD).exists()
    assert "No chapter has been run here yet" in run_statistics()
    told = f"{RECORD} is damaged and left out; restore it or delete it\n" if left else ""
    assert capsys.readouterr().err == told


def test_any_flipped_bit_of_a_record_is_noticed(house, capsys):
    (said,) = times.read_all()
    del said["sha256"]
    for position in flips(house / RECORD):
        assert all(said.items() <= one.items() for one in times.read_all()), position
    assert len(capsys.readouterr().err.splitlines()) > 100


@pytest.fixture
def own(tmp_path):
    """A reader's own data, and another file of the same form."""
    for name in ("own-tab-1.npz", "own-tab-2.npz"):
        x = np.random.default_rng(len(name)).random((40, 3))
        np.savez(tmp_path / name, x=x, y=np.arange(40) % 2)
    return tmp_path / "own-tab-1.npz"


# NumPy leaves a zip that it cannot read to the collector of garbage.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("compressed", [False, True])
def test_any_flipped_bit_of_own_data_is_refused_or_changes_nothing(own, compressed):
    if compressed:
        with np.load(own) as arrays:
            np.savez_compressed(own, **dict(arrays))
    first, refusals = data.load(str(own)), []
    for position in flips(own, 3):
        try:
            found = data.load(str(own))
        except InputError as error:
            refusals.append(str(error))
            continue
        assert np.array_equal(found.x, first.x), position
        assert np.array_equal(found.y, first.y), position
    assert len(refusals) > 100
    assert not any("\n" in line for line in refusals)


@pytest.mark.parametrize("damage", [d for d in DAMAGES if d != "exchanged"])
def test_damaged_own_data_are_refused(own, damage):
    DAMAGES[damage](own)
    with pytest.raises(InputError) as refusal:
        data.load(str(own))
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("name", ["notebooks/demo.md", "_toc.yml"])
@pytest.mark.parametrize("damage", ["garbage", "gone", "a folder"])
def test_a_text_of_the_project_that_cannot_be_read_is_named(house, name, damage):
    (house / name).unlink()
    if damage == "garbage":
        (house / name).write_bytes(b"\xff" * 99)
    if damage == "a folder":
        (house / name).mkdir()
    with pytest.raises(InputError, match=f"cannot read {name}: ") as refusal:
        chapter_files.title("demo") if name == "notebooks/demo.md" else build_site()
    assert "\n" not in str(refusal.value)


def test_a_rerun_repairs_whatever_is_damaged(finished, tmp_path):
    """With the real command, all at once: it says what it finds, and ends with the same bytes."""
    root = tmp_path / "project"
    shutil.copytree(finished.root, root)
    project = dataclasses.replace(finished, root=root)
    kept = [root / RESULTS, root / ".cache" / "evidence"]
    before = {path: path.read_bytes() for folder in kept for path in folder.iterdir()}
    for path, damage in zip(sorted(before), itertools.cycle(DAMAGES.values())):
        damage(path)
    whole = json.loads((root / PAGE).read_text())
    for text in ("[]", json.dumps(whole)[:-200]):
        (root / PAGE).write_text(text)
        built = project.run("build")
        assert (built.returncode, len(built.stderr.splitlines())) == (2, 1), built.stderr
        assert f"{PAGE} is not as `membership run` left it" in built.stderr
    done = rerun(project)
    assert (done.returncode, done.stderr) == (0, "")
    assert {path: path.read_bytes() for folder in kept for path in folder.iterdir()} == before
    again = json.loads((root / PAGE).read_text())
    assert [cell["source"] for cell in again["cells"]] == [
        cell["source"] for cell in whole["cells"]
    ]
    assert again["metadata"]["membership"]["files"] == whole["metadata"]["membership"]["files"]
    assert "up to date" in project.run("run", "demo", "--profile", "tiny").stderr
