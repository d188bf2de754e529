"""A page says what its text says where only prose has changed, and otherwise what was run."""

import json

import jupytext
import pytest

from membership import paths
from membership.book.running import up_to_date
from membership.book.running.prose import follow_text
from membership.errors import InputError

TEXT = """\
# A chapter

Its prose.

```{code-cell} ipython3
:tags: [parameters, remove-input]

seed: int = 0
```

```{code-cell} ipython3
---
mystnb: {code_prompt_show: "A table"}
tags: [hide-cell]
---
print(seed)
```

The end.
"""


@pytest.fixture
def text(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "project_root", lambda: tmp_path)
    monkeypatch.setattr(paths, "shipped", lambda name: tmp_path / name)
    file = tmp_path / "notebooks" / "demo.md"
    file.parent.mkdir()
    file.write_text(TEXT)
    return file


@pytest.fixture
def executed(text, tmp_path):
    """As a run leaves it: papermill's cell and metadata are between those of the text."""
    whole = json.loads(jupytext.writes(up_to_date.text_notebook("demo"), fmt="ipynb"))
    for number, cell in enumerate(whole["cells"]):
        cell["metadata"]["papermill"] = {"duration": number}
        cell["metadata"].setdefault("tags", [])
    injected = {"cell_type": "code", "source": "seed = 3", "outputs": [], "execution_count": 2}
    injected |= {"metadata": {"tags": ["injected-parameters", "remove-input"]}, "id": "injected"}
    whole["cells"].insert(2, injected)
    whole["cells"][3]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "3\n"}]
    executed = tmp_path / "demo.ipynb"
    executed.write_text(up_to_date.sealed(json.dumps(whole), {"chapter": "demo", "files": {}}))
    return executed


def cells(executed):
    return json.loads(executed.read_text())["cells"]


def sources(executed):
    return ["".join(cell["source"]) for cell in cells(executed)]


def test_a_page_whose_text_is_the_same_keeps_its_bytes(executed):
    before = executed.read_bytes()
    assert follow_text(executed, "demo")
    assert executed.read_bytes() == before


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Its prose.", "Other prose.\n\n+++\n\nIn two cells."),
        ("The end.", ""),
        ("# A chapter", "# A chapter renamed"),
        ("A table", "A table with its name"),
        ("hide-cell", "remove-input"),
    ],
)
def test_prose_and_what_is_said_of_cells_follow_the_text_and_outputs_stay(text, executed, old, new):
    before = executed.read_bytes()
    text.write_text(TEXT.replace(old, new))
    assert follow_text(executed, "demo")
    expected = [cell.source for cell in up_to_date.text_notebook("demo").cells]
    place = 1 + next(i for i, source in enumerate(expected) if source.startswith("seed: int"))
    assert sources(executed) == [*expected[:place], "seed = 3", *expected[place:]]
    assert [c["outputs"][0]["text"] for c in cells(executed) if c.get("outputs")] == ["3\n"]
    assert up_to_date.note_of(executed) is not None
    text.write_text(TEXT)
    assert follow_text(executed, "demo")
    assert sources(executed) == ["".join(cell["source"]) for cell in json.loads(before)["cells"]]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["Unix", "Windows", "old Mac"])
def test_it_follows_texts_as_editors_leave_them(text, executed, encoding, end):
    new = TEXT.replace("Its prose", "Prose of Köln").replace("\n", end)
    text.write_bytes(new.encode(encoding))
    assert follow_text(executed, "demo")
    assert sources(executed)[0] == "# A chapter\n\nProse of Köln."


def test_a_text_whose_head_cannot_be_read_is_named(text, executed):
    text.write_text("---\ntitle: [x\n---\n" + TEXT)
    with pytest.raises(
        InputError, match=r"^notebooks/demo.md is no notebook, mend its head"
    ) as told:
        follow_text(executed, "demo")
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("print(seed)", "print(seed + 1)"),
        ("seed: int = 0", "seed: int = 0  # other words"),
        ("The end.", "```{code-cell}\n1\n```\n"),
    ],
)
def test_a_page_whose_text_has_other_code_stays_as_it_was_run(text, executed, old, new):
    before = executed.read_bytes()
    text.write_text(TEXT.replace(old, new).replace("Its prose", "Other prose"))
    assert not follow_text(executed, "demo")
    assert executed.read_bytes() == before


def test_a_page_that_somebody_has_changed_is_left(text, executed):
    executed.write_text(executed.read_text().replace("Its prose", "My own"))
    text.write_text(TEXT.replace("Its prose", "Other prose"))
    before = executed.read_bytes()
    assert follow_text(executed, "demo")
    assert executed.read_bytes() == before
