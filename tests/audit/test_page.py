"""The pages on audits: their commands and their Python, as printed."""

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from membership import attacks, audit, paths
from membership.book.cli import cli

PAGE = paths.project_root() / "book" / "audit.md"


def blocks(language: str, page: Path = PAGE) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


def example(folder: Path) -> None:
    """The page's own two lines, often enough for an audit."""
    head, *lines = blocks("text")[0].splitlines()
    named = [f"{line}{i}" for i in range(20) for line in lines]  # a record is named once
    (folder / "scores.csv").write_text("\n".join([head, *named]) + "\n")


def test_the_command_on_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    example(tmp_path)
    program, *arguments = shlex.split(blocks("bash")[0])
    assert program == "membership"
    done = CliRunner().invoke(cli, arguments)
    assert done.exit_code == 0, done.output
    assert (tmp_path / "report" / "audit.html").is_file()


def test_the_attacks_on_the_page_are_compared(tmp_path: Path) -> None:
    head, *lines = blocks("text")[1].splitlines()
    (tmp_path / "scores.csv").write_text("\n".join([head, *lines * 20]) + "\n")
    found = audit.read_scores(tmp_path / "scores.csv")
    assert list(found.score) == ["loss", "lira", "rmia"]


def test_the_python_on_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    member = np.arange(200) < 100
    names = {"score": rng.normal(size=200) + member, "member": member}
    exec(blocks("python")[0], names)
    assert "epsilon" not in capsys.readouterr().err
    assert (tmp_path / "report" / "audit.json").is_file()
    assert names["report"]["auc"]["value"] > 0.5
    exec(blocks("python")[1], names)
    assert capsys.readouterr().out.startswith("lira {'value': ")


@pytest.mark.slow
def test_the_page_on_a_model_of_ones_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)
    code = blocks("python", PAGE.with_name("audit-model.md"))
    assert sum(line.strip() != "" for line in code[0].splitlines()) <= 40
    names: dict = {}
    for block in code:
        exec(block, names)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 6
    assert lines[4].startswith("Models were asked for classes alone")
    assert {"loss", "attack-p"} <= {one["name"] for one in names["alone"]["attacks"]}
    report = names["report"]
    found = {one["name"]: one["auc"]["value"] for one in report["attacks"]}
    assert {"loss", "lira", "rmia", "attack-p"} <= set(found)
    assert found["lira"] > 0.5
    assert any("One target" in text for text in report["warnings"])
    assert names["forest"]["targets"] == 2
    assert names["seen"]["member"][0].values.sum() == 700
    assert {"loss", "lira"} <= {one["name"] for one in names["loaders"]["attacks"]}
    (command,) = (block for block in blocks("bash") if ".evidence" in block)
    program, action, file, *rest = shlex.split(command)
    Path(file).parent.mkdir(parents=True)
    Path("digits.evidence").rename(file)
    first = json.loads((tmp_path / "report" / "audit.json").read_text())
    (tmp_path / "report" / "audit.json").unlink()
    done = CliRunner().invoke(cli, [action, file, *rest])
    assert (program, done.exit_code) == ("membership", 0), done.output
    again = json.loads((tmp_path / "report" / "audit.json").read_text())
    assert again["provenance"].pop("command") is not None
    assert {**again, "provenance": None} == {**first, "provenance": None}


EXAMPLES = blocks("python", PAGE.with_name("audit-examples.md"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "code",
    EXAMPLES,
    ids=["perceptron", "text", "lstm", "forest", "regression", "checkpoints", "service"],
)
def test_an_example_is_audited_from_end_to_end(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    assert sum(line.strip() != "" for line in code.splitlines()) < 40
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    exec(code, names)
    areas, bounds = capsys.readouterr().out.splitlines()
    report = json.loads((tmp_path / "report" / "audit.json").read_text())
    best = report["attacks"][0]
    assert best["name"] in {"difference"} | set(attacks.registry())
    assert f"{best['auc']} {best['tpr_at_fpr'][-1]}" in areas
    assert bounds == f"{report['epsilon_lower_bound']} {report['mu_lower_bound']}"
    # Each of these models overfits, and its audit proves that.
    assert best["auc"]["low"] > 0.5
    assert best["tpr_at_fpr"][-1]["low"] > 0.1
    assert best["tpr_at_fpr"][-1]["measured"]
    assert report["mu_lower_bound"]["value"] > 0
    assert report["epsilon_lower_bound"]["value"] > 0
    assert (tmp_path / "report" / "audit.html").is_file()
