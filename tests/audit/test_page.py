"""The page on audits: its commands and its Python, as printed."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from membership import paths
from membership.cli import cli

PAGE = paths.project_root() / "book" / "audit.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def example(folder: Path) -> None:
    """The page's own two lines, often enough for an audit."""
    head, *lines = blocks("text")[0].splitlines()
    (folder / "scores.csv").write_text("\n".join([head, *lines * 20]) + "\n")


def test_the_command_on_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    example(tmp_path)
    program, *arguments = shlex.split(blocks("bash")[0])
    assert program == "membership"
    done = CliRunner().invoke(cli, arguments)
    assert done.exit_code == 0, done.output
    assert (tmp_path / "report" / "audit.html").is_file()


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
