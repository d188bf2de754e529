"""The command's manners: exit codes, one line each, suggestions."""

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from membership.book import cli
from membership.book.running.up_to_date import sealed
from membership.errors import InputError


def refused(project, *arguments: str) -> str:
    """Run a command that must be refused; give back its one line."""
    done = project.run(*arguments)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert not (project.root / "kernel.pid").exists()
    return line


def test_the_first_chapter_s_misspelt_parameter_is_refused(project):
    text = "# A stand-in for the notebook, which is not reached\n"
    (project.root / "notebooks" / "bayes_optimal.md").write_text(text)
    line = refused(project, "run", "bayes_optimal", "-p", "n_repeat", "5")
    assert "unknown parameter 'n_repeat'; did you mean 'n_repeats'?" in line


def test_with_several_chapters_nothing_starts_unless_all_can(project):
    assert "'demi'" in refused(project, "run", "demo", "demi")


@pytest.mark.slow
def test_the_profile_may_come_either_way_and_without_a_chapter_all_are_run(project):
    both = project.run("run", "-p", "profile", "tiny", "--profile", "tiny", "--quiet")
    assert (both.returncode, both.stdout, both.stderr) == (0, f"{project.executed}\n", "")
    assert (project.root / "runs" / "tiny" / "demo.json").is_file()


def test_a_project_without_chapters_says_so(project):
    (project.root / "notebooks" / "demo.md").unlink()
    assert "there is no chapter" in refused(project, "run")


@pytest.mark.slow
def test_list_shows_chapters_and_a_chapter_s_parameters(project):
    everything = project.run("list")
    assert everything.returncode == 0
    assert "A demonstration" in everything.stdout
    one = project.run("list", "demo")
    assert (one.returncode, one.stderr) == (0, "")
    assert all(word in one.stdout for word in ("n_repeats", "how often", "tiny", "quick"))
    assert "Exhibits" not in one.stdout


def test_list_shows_a_chapter_s_exhibits():
    listed = CliRunner().invoke(cli.cli, ["list", "bayes_optimal"])
    assert (listed.exit_code, listed.stderr) == (0, "")
    assert all(word in listed.stdout for word in ("Exhibits", "Control 1", "n_repeats"))
    first, details = listed.stdout.split("notebooks/bayes_optimal_details")
    assert "bayes-optimal-fig-1" in first
    assert "bayes-optimal-ctl-11" in details
    assert "results/PROFILE/bayes_optimal" in details


def test_clean_removes_the_executed_notebook(project):
    project.executed.parent.mkdir(parents=True)
    project.executed.write_text(sealed('{"cells": [], "metadata": {}}', {}))
    done = project.run("clean")
    assert (done.returncode, done.stdout) == (0, f"removed {project.executed}\n")
    assert not project.executed.exists()


def test_check_reports_on_an_embedded_data_set(project):
    done = project.run("data", "check", "digits")
    assert done.returncode == 0, done.stderr
    assert "digits" in done.stdout


def test_folders_in_the_environment_are_taken_from_where_the_user_stands(project, tmp_path):
    (tmp_path / "prepared").mkdir()
    done = project.run("data", "check", "mnist", cwd=tmp_path, MEMBERSHIP_DATA="prepared")
    assert str(tmp_path / "prepared") in done.stderr


def test_help_names_the_commands_and_the_exit_codes(project):
    shown = project.run("--help").stdout
    commands = ("run", "list", "data", "build", "clean")
    assert all(command in shown for command in (*commands, "Exit codes"))


@pytest.mark.parametrize("name", ["{folder}", "../..", ".", "src", "../paper/gmip"])
def test_only_chapters_are_sealed(tmp_path, name):
    (tmp_path / "precious").touch()
    result = CliRunner().invoke(cli.cli, ["seal", "gmip", name.format(folder=tmp_path)])
    assert isinstance(result.exception, InputError)
    assert "unknown chapter" in str(result.exception)
    assert [path.name for path in tmp_path.iterdir()] == ["precious"]


def test_a_backend_of_windows_is_never_asked_for(monkeypatch):
    asked = []
    monkeypatch.setenv("MPLBACKEND", "nonsense")
    monkeypatch.setattr(cli.processes, "raise_on_signals", lambda: None)
    monkeypatch.setattr(cli.cli, "main", lambda **how: asked.append("MPLBACKEND" in os.environ))
    with pytest.raises(SystemExit):
        cli.main()
    assert asked == [False]


@pytest.mark.parametrize("tolerance", ["nan", "inf"])
def test_a_tolerance_that_lets_everything_pass_is_refused(tolerance):
    result = CliRunner().invoke(cli.cli, ["recompute", "gmip", "--check", "--tolerance", tolerance])
    assert isinstance(result.exception, InputError)
    assert f"--tolerance = {tolerance}: expected a number from 0 up" in str(result.exception)


def test_a_path_behind_an_equals_sign_is_the_user_s_own(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{0.1 * i},{i % 2}\n" for i in range(20))
    (tmp_path / "scores.csv").write_text("score,member\n" + rows)
    done = CliRunner().invoke(cli.cli, ["audit", "~/scores.csv", "--output=~/report"])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "report" / "audit.json").is_file()
    assert not (tmp_path / "~").exists()


def test_a_plan_is_written_through_a_link_and_onto_no_device(tmp_path):
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to("target")
    plan = ["plan", "gmip", "--profile", "tiny", "--json"]
    assert CliRunner().invoke(cli.cli, [*plan, str(tmp_path / "link")]).exit_code == 0
    assert (tmp_path / "link").is_symlink()
    assert "pieces" in json.loads((tmp_path / "target").read_text())
    result = CliRunner().invoke(cli.cli, [*plan, "/dev/null"])
    assert "cannot write /dev/null: it is a device; name a plain file" in str(result.exception)
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize("seed", ["-3", "x", "1.5"])
def test_a_seed_that_is_none_is_refused_before_anything_is_read(tmp_path, seed):
    given = ["audit", "absent.csv", "--output", str(tmp_path / "out"), "--seed", seed]
    result = CliRunner().invoke(cli.cli, given)
    assert result.exit_code == 2
    assert "--seed" in result.output
    assert list(tmp_path.iterdir()) == []
