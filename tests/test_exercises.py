"""The solutions of the exercises run, each by itself, and what they assert holds."""

import io
from contextlib import redirect_stdout
from pathlib import Path

import jupytext
import pytest

from membership.book.site import exercises

FOLDER = Path(__file__).parents[1] / "book" / "exercises"
# A chapter that somebody begins has none yet.
CHAPTERS = sorted(page.stem for page in FOLDER.glob("*.md"))
SOLUTIONS = [
    pytest.param(cell.source, id=f"{page.stem}-{number}")
    for page in sorted(FOLDER.glob("*.md"))
    for number, cell in enumerate(
        (one for one in jupytext.read(page).cells if one.cell_type == "code"), start=1
    )
]


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_chapter_has_three_to_five_exercises_with_solutions(chapter):
    assert {*CHAPTERS} >= {"bayes_optimal", "iha", "bmia", "gmip", "lood"}
    cells = jupytext.read(FOLDER / f"{chapter}.md").cells
    asked = [line for one in cells for line in one.source.splitlines() if line.startswith("## ")]
    code = [one for one in cells if one.cell_type == "code"]
    assert 3 <= len(asked) == len(code) <= 5
    assert all(one.metadata["tags"] == ["hide-input"] for one in code)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_exercise_says_how_hard_it_is_and_each_level_has_one(chapter):
    text = (FOLDER / f"{chapter}.md").read_text(encoding="utf-8")
    lines = exercises.levels(chapter).splitlines()
    assert [line.partition(":")[0] for line in lines] == ["- *Easy*", "- *Medium*", "- *Hard*"]
    assert all(f"exercises/{chapter}.md#" in line for line in lines)
    titles = [line.removeprefix("## ") for line in text.splitlines() if line.startswith("## ")]
    assert sum(f"[{title}]" in line for line in lines for title in titles) == len(titles)


@pytest.mark.slow
@pytest.mark.parametrize("source", SOLUTIONS)
def test_the_solution_runs_says_something_and_finds_what_it_asserts(source):
    with redirect_stdout(io.StringIO()) as said:
        exec(compile(source, "solution", "exec"), {})
    assert said.getvalue().strip()
    assert "assert " in source
