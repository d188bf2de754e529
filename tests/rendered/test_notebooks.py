"""The notebooks that the site offers show what its pages show, wherever they are opened."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup

from membership.book import running
from membership.book.exhibits import provenance
from membership.book.exhibits.exhibit_pages import pages_of
from tests.book.site.test_plain_markdown import LEFT

PAGES = [page for chapter in running.chapters() for page in pages_of(chapter)]
_SHOWN = re.compile(r"chapter\.(show|gallery|claims)\(")


def notebook(file: Path) -> tuple[str, list[dict[str, Any]]]:
    """The prose of a notebook, and its code cells."""
    cells = json.loads(file.read_text())["cells"]
    prose = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    return "\n\n".join(prose), [cell for cell in cells if cell["cell_type"] == "code"]


@pytest.mark.parametrize("page", PAGES)
def test_a_downloaded_chapter_has_its_numbers_and_its_exhibits(page: str, site: Path) -> None:
    prose, code = notebook(site / "_sources" / "book" / "chapters" / f"{page}.ipynb")
    assert LEFT.findall(prose) == []
    kinds = set()
    for cell in code:
        calls = _SHOWN.findall("".join(cell["source"]))
        outputs = [one["data"] for one in cell["outputs"] if "text/html" in one.get("data", {})]
        for call, forms in zip(calls, outputs, strict=True):
            assert provenance.ALONE not in forms
            shown = BeautifulSoup("".join(forms["text/html"]), "html.parser")
            assert shown.table
            assert not shown.select("svg, link, style, script, [href]")
            images = shown.find_all("img")
            assert {image["src"][:26] for image in images} <= {"data:image/svg+xml;base64,"}
            kinds |= {call, *(["picture"] if images else [])}
    assert {"show", "picture"} <= kinds


@pytest.mark.parametrize("page", PAGES)
def test_theorems_and_formulas_have_the_page_s_numbers(page: str, site: Path) -> None:
    prose, _ = notebook(site / "_sources" / "book" / "chapters" / f"{page}.ipynb")
    html = (site / "book" / "chapters" / f"{page}.html").read_text()
    shown = BeautifulSoup(html, "html.parser").select("article")[0]
    titles = [one.get_text().strip() for one in shown.select(".admonition-title .caption-number")]
    assert re.findall(r"^\*\*(\w+ \d+\.\d+)\*\* \(", prose, re.MULTILINE) == titles
    formulas = [re.sub(r"[^\d.]", "", one.get_text()) for one in shown.select(".eqno")]
    assert re.findall(r"\\tag\{(.*?)\}", prose) == formulas


def test_exercises_are_filled_in_too(site: Path) -> None:
    files = list((site / "book" / "exercises").glob("*.ipynb"))
    assert len(files) >= 5
    assert [LEFT.findall(notebook(file)[0]) for file in files] == [[]] * len(files)
