"""On which page of its chapter an exhibit is found."""

import pytest

from membership import paths
from membership.book.exhibits import exhibit_pages

FIRST = """
```{code-cell} ipython3
chapter.show("iha-tab-2")
```
"""
DETAILS = """
The text names "iha-tab-2", and `chapter.show("iha-tab-9")`.

```{code-cell} ipython3
:tags: [hide-input]

chapter.claims()
```

```{code-cell} ipython3
chapter.show("iha-ctl-1")
chapter.gallery("iha-fig-1", "iha-ctl-11")
```
"""


def forget():
    """Have the texts read anew."""
    exhibit_pages._code.cache_clear()
    exhibit_pages._showing.cache_clear()


@pytest.fixture
def notebooks(tmp_path, monkeypatch):
    """A folder of texts in the place of the project's."""
    monkeypatch.setattr(paths, "shipped", lambda name: tmp_path / name)
    forget()
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "iha.md").write_text(FIRST)
    yield tmp_path / "notebooks"
    forget()


def test_a_chapter_of_one_page_has_everything_there(notebooks):
    assert exhibit_pages.pages_of("iha") == ("iha",)
    assert exhibit_pages.page_of("iha-ctl-1") == exhibit_pages.claims_page("iha") == "iha"


def test_the_details_have_what_their_code_shows(notebooks):
    (notebooks / "iha_details.md").write_text(DETAILS)
    assert exhibit_pages.pages_of("iha") == ("iha", "iha_details")
    assert exhibit_pages.claims_page("iha") == "iha_details"
    on_details = ["iha-ctl-1", "iha-fig-1", "iha-ctl-11"]
    assert [exhibit_pages.page_of(name) for name in on_details] == ["iha_details"] * 3
    assert [exhibit_pages.page_of(name) for name in ("iha-tab-2", "iha-tab-9")] == ["iha", "iha"]
    assert exhibit_pages.chapter_of_page("iha_details") == "iha"
