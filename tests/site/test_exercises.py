import json
from types import SimpleNamespace

import pytest

from membership import paths
from membership.site import exercises

PAGE = """# Exercises

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
    source = [PAGE]
    exercises.show_outputs(None, "book/exercises/toy", source)
    output = ":::{dropdown} What the solution prints\n```text\ntotal 10\n```\n:::"
    assert source[0] == PAGE.replace("```\n\n:::", f"```\n\n{output}\n\n:::", 1)


def test_other_pages_stay_and_a_solution_that_fails_is_not_hidden():
    source = [PAGE]
    exercises.show_outputs(None, "book/index", source)
    assert source == [PAGE]
    with pytest.raises(ZeroDivisionError):
        exercises.with_outputs(PAGE.replace("sum(range(5))", "1 / 0"))


def test_every_solution_of_the_book_is_found(monkeypatch):
    monkeypatch.setattr(exercises, "printed", lambda solution: "printed")
    for path in (paths.project_root() / "book" / "exercises").glob("*.md"):
        text = path.read_text(encoding="utf-8")
        shown = exercises.with_outputs(text)
        assert shown.count("What the solution prints") == text.count("{code-cell}") >= 3


def test_exercises_are_notebooks_too_of_the_same_bytes_every_time(tmp_path):
    env = SimpleNamespace(
        found_docs={"book/exercises/lood", "book/index"},
        doc2path=lambda page: str(paths.project_root() / f"{page}.md"),
    )
    written = []
    for name in ("one", "two"):
        exercises.write_notebooks(SimpleNamespace(env=env, outdir=tmp_path / name), None)
        files = [p for p in (tmp_path / name).rglob("*") if p.is_file()]
        assert [p.name for p in files] == ["lood.ipynb"]
        written.append(files[0].read_bytes())
    assert written[0] == written[1]
    cells = json.loads(written[0])["cells"]
    assert sum(cell["cell_type"] == "code" for cell in cells) >= 3
