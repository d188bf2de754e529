"""Pages of exercises: what solutions print stands on them."""

import pytest

from membership import paths
from membership.book.site import exercises

EXERCISES = """# Exercises

```{code-cell} ipython3
:tags: [hide-input]

total = sum(range(5))
print(f"total {total}")
```

:::{dropdown} What to look for
Text.
:::
"""


def test_what_a_solution_prints_stands_folded_below_it():
    source = [EXERCISES]
    exercises.show_outputs(None, "book/exercises/toy", source)
    output = ":::{dropdown} What the solution prints\n```text\ntotal 10\n```\n:::"
    assert source[0] == EXERCISES.replace("```\n\n:::", f"```\n\n{output}\n\n:::", 1)


def test_other_pages_stay_and_a_solution_that_fails_is_not_hidden():
    source = [EXERCISES]
    exercises.show_outputs(None, "book/index", source)
    assert source == [EXERCISES]
    with pytest.raises(ZeroDivisionError):
        exercises.with_outputs(EXERCISES.replace("sum(range(5))", "1 / 0"))


def test_every_solution_of_the_book_is_found(monkeypatch):
    monkeypatch.setattr(exercises, "printed", lambda solution: "printed")
    for path in (paths.project_root() / "book" / "exercises").glob("*.md"):
        text = path.read_text(encoding="utf-8")
        shown = exercises.with_outputs(text)
        assert shown.count("What the solution prints") == text.count("{code-cell}") >= 3
