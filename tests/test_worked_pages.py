"""The pages for people with data, a model or an attack of their own: what they print."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner

from membership import attacks, data, evidence, paths
from membership.book.cli import cli
from membership.book.running import notebook
from membership.errors import InputError

ROOT = paths.project_root()
registry = sys.modules["membership.attacks.registry"]
BOOK = ROOT / "book"
PAGES = (
    "own-data",
    "audit-model",
    "audit",
    "audit-examples",
    "score-one-record",
    "opacus",
    "add-attack",
)


def blocks(language: str, page: str) -> list[str]:
    text = (BOOK / f"{page}.md").read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def commands(page: str) -> list[list[str]]:
    lines = "".join(blocks("bash", page)).splitlines()
    return [shlex.split(line) for line in lines if line.strip()]


def test_every_block_of_python_is_run_by_a_test():
    found = {page: len(blocks("python", page)) for page in PAGES}
    # The pages on audits have theirs in tests/audit/test_page.py.
    assert found == {
        "own-data": 2,
        "audit-model": 5,
        "audit": 2,
        "audit-examples": 7,
        "score-one-record": 2,
        "opacus": 4,
        "add-attack": 5,
    }


def test_results_are_read_back(capsys, tmp_path):
    (block,) = blocks("python", "rerun")
    names: dict = {}
    exec(block, names)
    assert names["record"]["id"] == "bayes-optimal-tab-1"
    load = names["exhibits"].load
    assert load("bayes-optimal-tab-1", "tiny", tmp_path) is None
    with pytest.raises(InputError, match="is no folder"):
        load("bayes-optimal-tab-1", "tiny", tmp_path / "nowhere")


def test_one_record_is_scored(capsys):
    names: dict = {}
    for block in blocks("python", "score-one-record"):
        exec(block, names)
    said = capsys.readouterr().out
    assert re.match(r"record 5: score [+-]\d+\.\d\d, above \d+% of the non-members\n", said)
    assert names["score"].shape == names["wine"].y.shape
    assert (names["member"].sum(axis=0) == 8).all()
    np.testing.assert_allclose(
        names["signals"].probability(names["logits"], None, [1, 0])[0],
        1 / (1 + np.exp([-2.0, -1.0])),
    )


# Opacus says that its noise is for experiments, and uses hooks of torch that warn.
@pytest.mark.filterwarnings("ignore:Secure RNG", "ignore:Using a non-full backward hook")
@pytest.mark.filterwarnings("ignore:Full backward hook is firing")
def test_a_training_with_opacus_is_accounted_for_and_audited(capsys):
    pytest.importorskip("opacus")
    names: dict = {}
    for block in blocks("python", "opacus"):
        exec(block, names)
    promised, median, proved = (names[name] for name in ("promised", "median", "proved"))
    # Opacus reports the upper end of an error bar of 0.01.
    assert 0 < names["engine"].get_epsilon(1e-5) - promised.epsilon < 0.02
    assert promised.differential.limit == pytest.approx(names["limit"], rel=1e-9)
    assert promised.differential.mu > names["limit"]
    # The step published is the noisy sum of clipped gradients over the mean batch.
    rates = names["engine"].accountant.history
    assert rates == [(names["SIGMA"], pytest.approx(names["RATE"]), 20)]
    assert names["measured"].rank <= 118
    assert median > 0
    assert names["bound"].membership.auc <= promised.differential.auc
    auc = names["metrics"].auc(names["score"], names["member"])
    assert 0.52 < auc < promised.differential.auc
    assert 0 < proved < promised.epsilon
    assert "by Opacus" in capsys.readouterr().out


def test_an_attack_of_ones_own_is_put_beside_the_others(capsys):
    names: dict = {}
    script, _, function, *_ = blocks("python", "add-attack")
    exec(script, names)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("above the median")
    assert {"LOSS", "LiRA", "Attack-R"} <= {line[:32].strip() for line in lines}
    score = names["mine"].on(names["observed"], target=1)
    assert score.shape == names["seen"].member.shape
    assert attacks.requirements([names["mine"]])["attack"].tolist() == ["above the median"]
    assert "above-median" not in attacks.registry()
    exec(function, names)
    gap = names["median_gap"]([1.0, 2.0], [[0.0, 5.0], [1.0, 1.0], [4.0, 0.0]])
    np.testing.assert_array_equal(gap, [0.0, 1.0])


def test_the_page_s_module_reaches_an_audit_by_the_command(tmp_path, monkeypatch):
    script, module, *_ = blocks("python", "add-attack")
    (tmp_path / "my_attacks.py").write_text(module)
    names: dict = {}
    exec(script, names)
    evidence.save(tmp_path / "mine.evidence", names["observed"])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(registry, "ATTACKS", dict(registry.ATTACKS))
    (words,) = (words for words in commands("add-attack") if "audit" in words)
    done = CliRunner().invoke(cli, words[1:])
    assert done.exit_code == 0, (done.output, done.exception)
    report = json.loads((tmp_path / "report" / "audit.json").read_text())
    assert "above-median" in {one["name"] for one in report["attacks"]}
    assert report["provenance"]["command"].endswith(" --import=my_attacks.py")


def added(root):
    """A copy of the project in which the page's attack is entered as the page says."""
    ignored = shutil.ignore_patterns("__pycache__", "*.npz", "raw")
    for part in ("src", "tests/attacks", "tests/evidence"):
        shutil.copytree(ROOT / part, root / part, ignore=ignored)
    for part in ("book/glossary.md", "tests/test_extremes.py", "tests/test_docstrings.py"):
        (root / part).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / part, root / part)
    shutil.copy(ROOT / "pyproject.toml", root)
    _, _, function, entry, tests = blocks("python", "add-attack")
    folder = root / "src" / "membership" / "attacks"
    (folder / "median_gap.py").write_text(f"{function}\n\n{entry}")
    with (folder / "__init__.py").open("a") as rooms:
        rooms.write("from membership.attacks.median_gap import median_gap\n")
        rooms.write("__all__ += ['median_gap']\n")
    slow, call = tests.splitlines()
    for file, line in (("attacks/slow.py", slow), ("test_extremes.py", call)):
        place = root / "tests" / file
        text = place.read_text()
        table = line.partition("[")[0]
        start = text.index(f"\n{table}")
        end = text.index("\n}\n", start) + 3
        place.write_text(f"{text[:end]}{line}\n{text[end:]}")
    return root


@pytest.mark.slow
def test_the_page_s_attack_passes_the_project_s_own_tests(tmp_path):
    root = added(tmp_path)
    files = ("attacks/test_registry.py", "test_extremes.py", "test_docstrings.py")
    chosen = "median or (public and tried) or has_one"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", chosen]
        + [f"tests/{file}" for file in files],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root / "src")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) >= 13, done.stdout


@pytest.fixture
def own_files(tmp_path, monkeypatch):
    """What the page on own data makes, in the working folder."""
    monkeypatch.chdir(tmp_path)
    for block in blocks("python", "own-data"):
        exec(block, {})
    return tmp_path


def test_the_files_that_the_page_makes_are_data_sets(own_files):
    assert data.load(own_files / "own.npz").x.shape == (2000, 20)
    wine = data.load(own_files / "wine.csv", label="target")
    np.testing.assert_allclose(wine.x, data.load(own_files / "wine.npz").x, rtol=1e-6)
    np.testing.assert_array_equal(wine.y, data.load(own_files / "wine.npz").y)


@pytest.mark.slow
@pytest.mark.parametrize("words", commands("own-data"), ids=" ".join)
def test_a_command_on_own_data_gets_as_far_as_its_notebook(own_files, monkeypatch, words):
    """A whole run of each takes minutes: tests/book/studies computes what is particular to it."""
    started = []
    monkeypatch.setenv("MEMBERSHIP_CACHE", str(own_files / "cache"))
    monkeypatch.setattr(notebook, "results_path", lambda settings: own_files / "results")
    monkeypatch.setattr(notebook, "_run", lambda settings, *_: started.append(settings))
    monkeypatch.setattr("membership.book.site.build_site", lambda: started.append(None))
    program, *arguments = words
    assert program == "membership"
    done = CliRunner().invoke(cli, arguments)
    assert done.exit_code == 0, (done.output, done.exception)
    assert len(started) == 1
