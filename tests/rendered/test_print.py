"""The site on paper: pages printed to a PDF and read back."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from playwright.sync_api import Browser

from membership.book.site.build import PDF
from membership.errors import InputError
from tests.conftest import REPOSITORY
from workflow import print_book

FIRST = "book/index"
CHAPTER = "book/chapters/gmip"
EXCERPT = [("", [FIRST]), ("Chapters", [CHAPTER])]
NAMES = [FIRST, CHAPTER]


@pytest.mark.parametrize(
    ("link", "found"),
    [
        ("../index.html", "#index"),
        ("../index.html#a-section", "#index--a-section"),
        ("../index.html?show=differs", "#index"),
        ("#gmip-fig-1", "#chapters-gmip--gmip-fig-1"),
        ("gmip.html#gmip-fig-1", "#chapters-gmip--gmip-fig-1"),
        ("https://arxiv.org/abs/1", "https://arxiv.org/abs/1"),
        ("../api/attacks.html#membership.attacks.loss", None),
        ("../../results/paper/gmip/gmip-fig-1.csv", None),
    ],
)
def test_a_link_leads_into_the_book_or_outside_or_is_none(link: str, found: str | None) -> None:
    assert print_book.address(link, CHAPTER, NAMES) == found


def test_the_book_has_every_page_but_the_reference_in_order() -> None:
    toc = {
        "root": "book/index",
        "parts": [
            {
                "caption": "Chapters",
                "chapters": [
                    {"file": "book/a", "sections": [{"file": "book/b"}]},
                    {"file": "book/c"},
                    {"file": "book/api/index", "sections": [{"file": "book/api/d"}]},
                ],
            }
        ],
    }
    listed = print_book.listed(toc)
    assert listed == [("", ["book/index"]), ("Chapters", ["book/a", "book/b", "book/c"])]


def test_a_page_that_the_site_lacks_is_named(browser: Browser, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no page book/index; build it with: make book"):
        print_book.print_site(tmp_path, EXCERPT, tmp_path / PDF, browser)


def test_the_first_page_names_the_file_once(tmp_path: Path) -> None:
    first = tmp_path / "site" / "book" / "index.html"
    first.parent.mkdir(parents=True)
    first.write_text(f'<p id="{print_book.PLACE}"></p><p>More.</p>')
    (tmp_path / PDF).write_bytes(b"x" * 2_000_000)
    for _ in range(2):
        print_book.publish(tmp_path / PDF, first.parents[1])
    assert first.read_text().count(f'href="../{PDF}"') == 1
    assert "2 MB" in first.read_text()
    assert (first.parents[1] / PDF).read_bytes() == (tmp_path / PDF).read_bytes()


def test_the_first_page_has_room_for_the_link(site: Path) -> None:
    assert f'id="{print_book.PLACE}"' in (site / f"{FIRST}.html").read_text()


@pytest.mark.slow
def test_every_link_within_the_whole_book_leads_to_a_place_in_it(site: Path) -> None:
    book = print_book.listed(yaml.safe_load((REPOSITORY / "_toc.yml").read_text()))
    whole = print_book.assembled(site, book)
    links = set(re.findall(r' href="#([^"]+)"', whole))
    assert len(links) > 100
    assert links - set(re.findall(r' id="([^"]+)"', whole)) == set()
    assert "highlight-python" in whole  # code that a page shows
    assert "Show code cell source" not in whole


@pytest.fixture(scope="module")
def printed(browser: Browser, site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two pages of the site as a PDF."""
    target = tmp_path_factory.mktemp("printed") / PDF
    sheets = print_book.print_site(site, EXCERPT, target, browser)
    assert sheets == len(print_book.sheets(target.read_bytes()))
    return target


@pytest.mark.slow
def test_the_contents_know_on_which_sheet_a_page_begins(printed: Path) -> None:
    pdf = printed.read_bytes()
    begins = print_book.places(pdf)
    first, chapter = (begins[print_book.anchor(name)] for name in NAMES)
    assert first == 3  # after title and contents
    assert first < chapter <= len(print_book.sheets(pdf))
    assert b"/Outlines" in pdf
    assert b"/StructTreeRoot" in pdf
    assert b"file:" not in pdf
    assert print_book.ADDRESS.encode() not in pdf


@pytest.mark.slow
def test_what_is_printed_reads_as_the_pages_do(printed: Path) -> None:
    if shutil.which("pdftotext") is None:
        pytest.skip("no pdftotext to read a PDF with; install the package 'poppler-utils'")
    done = subprocess.run(
        ["pdftotext", "-layout", printed, "-"], capture_output=True, text=True, check=True
    )
    sheets = done.stdout.split("\f")[:-1]
    begins = print_book.places(printed.read_bytes())
    assert len(sheets) == len(print_book.sheets(printed.read_bytes()))
    for name, title in ((FIRST, "Was this record used"), (CHAPTER, "membership")):
        start = begins[print_book.anchor(name)]
        assert title in " ".join(sheets[start - 1].split())
        assert re.search(rf"\b{start}\b", sheets[1])  # the contents' number
        assert sheets[start - 1].split()[-1] == str(start)  # the number at the sheet's foot
    assert "moves" in done.stdout  # in the widget's place
    for raw in ("{{", "$$", "\\begin", "{doc}", "Cite and download"):
        assert raw not in done.stdout
