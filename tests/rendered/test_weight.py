"""What a browser loads of a page that is opened and read to its end."""

from collections.abc import Callable
from pathlib import Path

import pytest

from membership.book import running
from membership.book.exhibits.exhibit_pages import pages_of
from tests.rendered.reading import PHONE, WIDE, Reading

# Bytes as they lie on disk. What the landing page loads all pages load, and a browser keeps it.
SHARED, HEAVIEST = 3_000_000, 2_000_000
CHAPTERS = [page for chapter in running.chapters() for page in pages_of(chapter)]
PAGES = (*(f"chapters/{page}" for page in CHAPTERS), "verdicts", "audit", "game")
Reader = Callable[[str, int], Reading]


@pytest.mark.parametrize("width", [PHONE, WIDE])
@pytest.mark.parametrize("name", PAGES)
def test_no_page_is_heavy(name: str, width: int, site: Path, address: str, reading: Reader):
    shared = reading("index.html", width).files(site, address)
    own = reading(f"book/{name}.html", width).files(site, address)
    assert any(file.endswith(".css") for file in shared)
    assert f"book/{name}.html" in own
    own = {file: size for file, size in own.items() if file not in shared}
    assert sum(shared.values()) < SHARED, heaviest(shared)
    assert sum(own.values()) < HEAVIEST, heaviest(own)


def heaviest(sizes: dict[str, int]) -> str:
    return f"{sum(sizes.values()):,} bytes: {sorted(sizes.items(), key=lambda item: -item[1])[:5]}"


def test_a_phone_loads_the_narrow_drawings_only(reading: Reader):
    found = reading("book/chapters/lood.html", PHONE)
    drawn = [url for url in found.asked if "/results/" in url]
    assert len(found.shown) > 5
    assert set(found.shown) <= set(drawn)
    assert {url.endswith(".narrow.svg") for url in drawn} == {True}
