"""How long a chapter is: every page shows the committed full runs first, at any profile."""

from collections.abc import Callable

import pytest

from membership.book import running
from membership.book.exhibits.exhibit_pages import pages_of
from membership.book.exhibits.layout import MOST_ROWS
from tests.rendered.reading import HEIGHTS, PHONE, WIDE, Reading

# Pixels, at the width of a common laptop: a chapter that is read to its end, and any other page.
READ_TO_ITS_END, TALLEST = 12_000, 21_500
# In sight, cards among them; a number is no word.
MOST_WORDS = 3500
# Screens before a reader meets the first picture.
PATIENCE = 1.5
PAGES = [page for chapter in running.chapters() for page in pages_of(chapter)]
DIVIDED = [chapter for chapter in running.chapters() if len(pages_of(chapter)) > 1]
Reader = Callable[[str, int], Reading]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_with_closed_folds_is_not_too_long(name: str, reading: Reader):
    found = reading(f"book/chapters/{name}.html", WIDE).sizes
    assert found["cards"] > 0
    assert found["page"] <= (READ_TO_ITS_END if name in DIVIDED else TALLEST)
    assert found["rows"] <= MOST_ROWS
    # A first page may have pictures alone.
    assert found["rows"] > 0 or name in DIVIDED


@pytest.mark.parametrize("name", DIVIDED)
def test_a_first_page_has_not_too_many_words(name: str, reading: Reader):
    assert 1000 < reading(f"book/chapters/{name}.html", WIDE).sizes["words"] <= MOST_WORDS


@pytest.mark.parametrize("width", [WIDE, PHONE], ids=["wide", "phone"])
@pytest.mark.parametrize("chapter", DIVIDED)
def test_a_chapter_shows_its_first_picture_early(chapter: str, width: int, reading: Reader):
    found = reading(f"book/chapters/{chapter}.html", width).sizes
    assert 0 < found["picture"] <= PATIENCE * HEIGHTS[width]
