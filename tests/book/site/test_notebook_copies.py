"""The notebooks that people open are written anew, and what people have changed is kept."""

import json
from types import SimpleNamespace

import jupytext
import pytest

from membership import paths
from membership.book.exhibits.exhibit_pages import page_of
from membership.book.exhibits.listing import listed
from membership.book.site import notebook_copies

TEXT = """\
---
kernelspec: {name: python3, display_name: Python 3, language: python}
---
# A demonstration

Of [a page](../page.md).

```{code-cell} ipython3
1 + 1
```
"""


@pytest.fixture
def target(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "project_root", lambda: tmp_path)
    monkeypatch.setattr(notebook_copies, "chapters", lambda: ["demo"])
    monkeypatch.setattr(
        notebook_copies, "source_path", lambda chapter: tmp_path / "notebooks/demo.md"
    )
    paths.atomic_write(tmp_path / "notebooks" / "demo.md", TEXT)
    return tmp_path / "notebooks" / "demo.ipynb"


def renew(target, text=TEXT + "\nMore.\n"):
    target.with_suffix(".md").write_text(text)
    notebook_copies.write_notebooks()
    return target.read_text()


def test_a_newer_text_is_written_and_the_same_one_is_not(target):
    assert notebook_copies.write_notebooks() == [target]
    assert notebook_copies.write_notebooks() == []
    assert "More." in renew(target)


def test_it_is_filled_in_and_written_anew_where_only_the_numbers_are_newer(target, monkeypatch):
    notebook_copies.write_notebooks()
    assert "Of a page." in target.read_text()
    monkeypatch.setattr(notebook_copies, "_inputs_digest", lambda texts: "another")
    assert notebook_copies.write_notebooks() == [target]


def test_a_changed_one_is_kept_without_a_word_where_only_the_numbers_are_newer(
    target, monkeypatch, capsys
):
    notebook_copies.write_notebooks()
    target.write_text(target.read_text().replace("Of a page", "Mine"))
    monkeypatch.setattr(notebook_copies, "_inputs_digest", lambda texts: "another")
    assert notebook_copies.write_notebooks() == []
    assert "Mine" in target.read_text()
    assert capsys.readouterr().err == ""


def edited(page):
    page["cells"].append({"cell_type": "markdown", "id": "m", "metadata": {}, "source": "PRECIOUS"})


def executed(page):
    page["cells"][-1]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "PRECIOUS"}]


def noted(page):
    page["cells"][0]["metadata"]["tags"] = ["PRECIOUS"]


@pytest.mark.parametrize("change", [edited, executed, noted])
@pytest.mark.parametrize("ours", [True, False], ids=["written here", "of an earlier edition"])
def test_what_was_changed_is_kept_and_said_where_the_text_is_newer(target, change, ours, capsys):
    if ours:
        notebook_copies.write_notebooks()
    else:
        jupytext.write(jupytext.read(target.with_suffix(".md")), target)
    page = json.loads(target.read_text())
    change(page)
    if not ours and change is noted:
        page["metadata"]["membership"] = {"page": "another", "source": "another"}
    target.write_text(json.dumps(page))
    before = target.read_bytes()
    if ours:
        assert notebook_copies.write_notebooks() == []
        assert capsys.readouterr().err == ""
    assert "PRECIOUS" in renew(target)
    assert target.read_bytes() == before
    assert capsys.readouterr().err.startswith("notebooks/demo.ipynb was changed, so it stays")


def test_one_of_an_earlier_edition_that_nobody_changed_is_written_anew(target):
    jupytext.write(jupytext.read(target.with_suffix(".md")), target)
    notebook_copies.write_notebooks()
    assert "More." in renew(target)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"cells": null}', '{"metadata": null}'])
def test_what_is_no_notebook_is_kept(target, content):
    target.write_text(content)
    assert renew(target) == content


def test_copies_and_other_notebooks_are_nobody_s_business(target):
    notebook_copies.write_notebooks()
    others = [target.with_name(name) for name in ("demo-copy.ipynb", "mine.ipynb")]
    for other in others:
        other.write_bytes(target.read_bytes())
    target.with_name("mine.md").write_text(TEXT)
    before = target.read_bytes()
    renew(target)
    assert {other.read_bytes() for other in others} == {before}


def test_exercises_are_notebooks_too_of_the_same_bytes_every_time(tmp_path):
    env = SimpleNamespace(
        found_docs={"book/exercises/lood", "book/index"},
        doc2path=lambda page: str(paths.project_root() / f"{page}.md"),
    )
    written = []
    for name in ("one", "two"):
        notebook_copies.write_exercises(SimpleNamespace(env=env, outdir=tmp_path / name), None)
        files = [p for p in (tmp_path / name).rglob("*") if p.is_file()]
        assert [p.name for p in files] == ["lood.ipynb"]
        written.append(files[0].read_bytes())
    assert written[0] == written[1]
    cells = json.loads(written[0])["cells"]
    assert sum(cell["cell_type"] == "code" for cell in cells) >= 3


@pytest.mark.parametrize(("page", "other"), [("iha", "iha_details"), ("iha_details", "iha")])
def test_a_notebook_s_head_says_what_it_makes_where_and_what_follows_a_run(page, other):
    whole = {"cells": [{"cell_type": "markdown", "source": "# Title", "metadata": {}}]}
    head = " ".join(
        notebook_copies.filled(whole, page)["cells"][0]["source"].replace("\n> ", " ").split()
    )
    number = {name: sum(page_of(e["id"]) == name for e in listed("iha")) for name in (page, other)}
    assert f"makes {number[page]} of the chapter's {sum(number.values())} exhibits" in head
    assert f"`{other}.ipynb` makes the other {number[other]}" in head
    assert "`results/<profile>/iha/`" in head
    assert "text does not follow your run" in head
