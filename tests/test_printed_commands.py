"""The commands of the README and of the pages, as printed, up to the work that they start."""

import os
import re
import shlex
import subprocess
from pathlib import Path

import jupytext
import numpy as np
import pytest
from click.testing import CliRunner

from membership.book import cli, running, site
from membership.book.running import many_runs as sweeps
from recipes.imagenet import __main__ as imagenet

ROOT = Path(__file__).parents[1]
PAGES = (
    *("README.md", "book/rerun.md", "book/bulk.md", "book/gmip_calculator.md"),
    *("book/imagenet_recipe.md", "book/add-attack.md", "notebooks/bmia_details.md"),
)
# Run in tests/test_worked_pages.py, tests/audit/test_page.py and tests/test_bring_paper.py.
ELSEWHERE = {"book/own-data.md", "book/audit.md", "book/bring-paper.md"}
# What a reader's shell does by itself, or what needs a browser.
SHELL = ("source", "sha256sum", "docker", "cp")


def printed(page: str) -> list[str]:
    """The commands in a page's fences, one each: comments dropped, continued lines joined."""
    fences = re.findall(r"^```bash\n(.*?)^```", (ROOT / page).read_text(), re.M | re.S)
    lines = "".join(fences).replace("\\\n", " ").splitlines()
    return [" ".join(shlex.split(line, comments=True)) and line for line in lines if words(line)]


def words(command: str) -> list[str]:
    return shlex.split(command, comments=True)


ALL = [pytest.param(one, id=f"{page}: {one[:60]}") for page in PAGES for one in printed(page)]


def of(program: str) -> list:
    """The printed commands of a program, whatever is set for it in front."""
    return [one for one in ALL if program in without_variables(one.values[0])[:1]]


def without_variables(command: str) -> list[str]:
    given = words(command)
    while given and re.fullmatch(r"[A-Z_]+=.*", given[0]):
        given = given[1:]
    return [Path(given[0]).name, *given[1:]] if given else []


def test_no_page_that_prints_commands_is_left_out():
    pages = [*ROOT.glob("*.md"), *ROOT.glob("book/**/*.md"), *ROOT.glob("notebooks/*.md")]
    pages = [page for page in pages if not {"generated", "chapters"} & set(page.parts)]
    found = {str(page.relative_to(ROOT)) for page in pages if "```bash\n" in page.read_text()}
    assert found == {*PAGES, *ELSEWHERE}


def test_every_printed_command_is_of_a_kind_that_is_tried_here():
    known = {"make", "membership", "papermill", "python", "pip", "jupyter", *SHELL}
    assert {without_variables(one.values[0])[0] for one in ALL} <= known
    assert len(of("membership")) > 10
    assert len(of("make")) > 5


@pytest.mark.parametrize("command", of("make"))
def test_make_knows_what_is_printed(command):
    _, *arguments = without_variables(command)
    plain = {k: v for k, v in os.environ.items() if not k.startswith("MAKE")}
    done = subprocess.run(
        ["make", "--dry-run", *arguments], cwd=ROOT, env=plain, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture
def reader(tmp_path, monkeypatch):
    """A folder with the files that the pages speak of; what would take long is only checked."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(4000, 20)).astype("float32")
    (tmp_path / "path" / "to").mkdir(parents=True)
    np.savez(tmp_path / "path" / "to" / "own.npz", x=x, y=(x[:, 0] > 0).astype(int))
    rows = "\n".join(f"{score},{score > 0:d}" for score in rng.normal(size=200))
    (tmp_path / "scores.csv").write_text(f"score,member\n{rows}\n")
    monkeypatch.chdir(tmp_path)

    def named(chapter, parameters, **_):
        running.settings_class(chapter).from_values(parameters)
        return Path("a page")

    monkeypatch.setattr(running, "check", named)
    monkeypatch.setattr(running, "run_notebook", named)
    monkeypatch.setattr(running, "run_side_by_side", lambda *_: None)
    monkeypatch.setattr(site, "build_site", lambda: Path("a site"))
    monkeypatch.setattr(running, "clean", lambda **_: [])
    monkeypatch.setattr("membership.book.site.archive.make_archive", lambda _: (Path("a"), "b"))
    monkeypatch.setattr("membership.book.manifest.seal", lambda folder: folder)
    monkeypatch.setattr(
        sweeps, "run_sweep", lambda points, *_, **__: [(p, "not run") for p in points]
    )
    monkeypatch.setattr("membership.book.running.compare.saved", lambda path: path)
    monkeypatch.setattr("membership.book.running.compare.compare", lambda *_: exit_well())
    monkeypatch.setattr("membership.book.running.gathering_plan.gatherer", lambda *_: exit_well())
    # The pages' own attacks are in no registry, and their module and evidence are made elsewhere.
    board = "membership.book.studies.comparison.leaderboard"
    monkeypatch.setattr(f"{board}.require", lambda _: exit_well())
    monkeypatch.setattr("membership.book.cli.audits.import_attacks", of_a_module)
    return tmp_path


def of_a_module(modules):
    if modules:
        assert modules == ("my_attacks.py",)
        exit_well()


def exit_well():
    raise SystemExit(0)


@pytest.mark.slow
@pytest.mark.parametrize("command", of("membership"))
def test_the_command_takes_what_is_printed(command, reader):
    _, *arguments = without_variables(command)
    done = CliRunner().invoke(cli.cli, [one for one in arguments if one != "<id>"])
    if arguments[0] == "sweep":  # every run of it was planned, and none was started
        assert "runs failed" in done.output
        assert done.output.count("not run") > 1
    else:
        assert done.exit_code == 0, done.output or done.exception


@pytest.mark.parametrize("command", of("papermill"))
def test_the_notebook_has_the_parameters_that_papermill_is_given(command):
    _, source, _, *rest = without_variables(command)
    text = ROOT / Path(source).with_suffix(".md")
    notebook = jupytext.reads(text.read_text(), "md:myst")
    cell = next(c for c in notebook.cells if "parameters" in c.metadata.get("tags", []))
    names = {rest[place + 1] for place, word in enumerate(rest) if word == "-p"}
    assert names
    assert names <= set(re.findall(r"^(\w+):", cell.source, re.M))


@pytest.mark.parametrize("command", of("python"))
def test_the_program_has_the_options_that_are_printed(command):
    _, _, program, *arguments = without_variables(command)
    assert program == imagenet.__package__
    given = vars(imagenet._parser().parse_args(arguments))
    assert given["epochs"] == int(arguments[arguments.index("--epochs") + 1])
