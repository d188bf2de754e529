"""The built site as one PDF, all pages in order but the API reference: ``make pdf``."""

import re
import runpy
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from urllib.parse import unquote, urlsplit

import yaml
from bs4 import BeautifulSoup, Tag
from playwright.sync_api import Browser, Page, Route, sync_playwright

import membership
from membership import paths
from membership.book.site.build import PDF
from membership.errors import InputError

PLACE = "the-book-as-pdf"  # of the link to it, in the first page
ROOT = Path(__file__).resolve().parent.parent
ADDRESS = "http://book.invalid/"
LEFT_OUT = "book/api/"
# What a sheet of paper cannot do, or what stands elsewhere on it: tests and numbers of the overview
# stand in the chapters. Of several runs of an exhibit the first stays, the one of paper size.
DROPPED = (
    ".toctree-wrapper, .copybtn, .visually-hidden, [hidden], script, style, link, source, button, "
    "noscript, .forest-measures, .only-dark, .exhibit-label a, .exhibit-fold, .claims-own, "
    ".exhibit-run ~ .exhibit-run, .o-table details, .claims thead th:nth-of-type(4)"
)
SCALE = 0.8
WIDTH = 822  # pixels of CSS that this scale leaves between the margins of print.css
LOADED = "() => MathJax.startup.promise.then(() => document.fonts.ready).then(() => true)"
PICTURES = """() => Promise.all([...document.images].map(i => i.decode().catch(() => i.src)))
    .then(all => all.filter(Boolean))"""
# What is wider than the sheet is set smaller, since paper does not scroll.
FIT = """() => {
    for (const each of document.querySelectorAll('mjx-container[display="true"], table, pre')) {
        const room = each.parentElement.clientWidth;
        each.classList.toggle('print-tight', each.scrollWidth > 1.3 * room);
        const wide = each.scrollWidth;
        if (room && wide > room + 1) each.style.zoom = Math.max(0.5, room / wide - 0.005);
    }
}"""
NUMBER = """numbers => document.querySelectorAll('.print-contents a').forEach(a => {
    a.nextElementSibling.textContent = numbers[a.hash.slice(1)];
})"""
CHROMIUM_ARGS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync")


def main() -> int:
    """Print the site of this project and link the file from its first page."""
    folder = paths.project_root() / "_build"
    try:
        book = listed(yaml.safe_load((ROOT / "_toc.yml").read_text()))
        with chromium() as browser:
            pages = print_site(folder / "html", book, folder / PDF, browser)
    except InputError as error:
        print(error, file=sys.stderr)
        return 1
    publish(folder / PDF, folder / "html")
    print(f"{folder / PDF} ({pages} pages)")
    return 0


def listed(toc: dict) -> list[tuple[str, list[str]]]:
    """The parts of the book, each with its pages in order."""

    def pages(entries: list[dict]) -> list[str]:
        found = []
        for entry in entries:
            found += [entry["file"], *pages(entry.get("sections", []))]
        return [one for one in found if not one.startswith(LEFT_OUT)]

    parts = [(part["caption"], pages(part["chapters"])) for part in toc["parts"]]
    return [("", [toc["root"]]), *parts]


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser to print with."""
    program = runpy.run_path(str(ROOT / "tests" / "chromium.py"))["find"]()
    if program is None:
        raise InputError("no Chromium to print with; get one with: make browser")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(CHROMIUM_ARGS))
        yield browser
        browser.close()


def print_site(
    site: Path, book: list[tuple[str, list[str]]], target: Path, browser: Browser
) -> int:
    """Write the pages of a built site to one PDF; return how many sheets there are."""
    names = [name for _, pages in book for name in pages]
    missing = [name for name in names if not (site / f"{name}.html").is_file()]
    if missing:
        raise InputError(f"the built site has no page {missing[0]}; build it with: make book")
    printed = from_browser(assembled(site, book), site, browser)
    paths.atomic_write(target, dated(printed))
    return len(sheets(printed))


def assembled(site: Path, book: list[tuple[str, list[str]]]) -> str:
    """All pages as one, with a title page and a table of contents."""
    names = [name for _, pages in book for name in pages]
    articles = {name: article(site, name, names) for name in names}
    contents = "".join(contents_of(part, pages, articles) for part, pages in book)
    whole = "\n".join(str(one) for one in articles.values())
    return f"""<!doctype html>
<html lang="en" data-theme="light" data-mode="light"><head><meta charset="utf-8">
<title>Membership, a companion to five papers</title>
{styles(site, names[0])}
<link rel="stylesheet" href="_static/gmip-calculator.css">
<link rel="stylesheet" href="_static/print.css">
<script>window.MathJax = {{loader: {{load: ["core", "input/tex", "output/chtml"]}},
options: {{processHtmlClass: "tex2jax_process|mathjax_process|math|output_area"}}}}</script>
<script defer src="_static/mathjax/startup.js"></script></head>
<body><main class="bd-main"><div class="bd-content"><div class="bd-article">
{title_page()}
<nav class="print-contents"><h1>Contents</h1>{contents}</nav>
{whole}
</div></div></main></body></html>"""


def title_page() -> str:
    """What the book is, of which day, and what it leaves to the site."""
    return f"""<header class="print-title"><h1>Membership</h1>
<p>A companion to five papers on membership inference</p>
<p>Version {escape(membership.__version__)}, {escape(membership.__date__)}</p>
<p class="print-note">Printed from the book's site. The site has more: each exhibit's numbers as a
table, its data, its record and a citation, runs at other sizes, the code of the notebooks, the
reference of the Python package, and pictures that move. Text, figures and tables are under
CC BY 4.0, the code under the MIT licence.</p></header>"""


def contents_of(part: str, pages: list[str], articles: dict[str, Tag]) -> str:
    """A part's lines of the table of contents; the numbers follow once they are known."""
    lines = "".join(
        f'<li class="{"" if is_chapter(name) else "print-below"}"><a href="#{anchor(name)}">'
        f"{escape(title_of(articles[name]))}</a><span></span></li>"
        for name in pages
    )
    return f"{f'<h2>{escape(part)}</h2>' if part else ''}<ul>{lines}</ul>"


def is_chapter(name: str) -> bool:
    """Tell whether a page stands at the left of the contents."""
    return not re.search(r"_details$|/exercises/|imagenet_recipe|calculator", name)


def title_of(one: Tag) -> str:
    """A page's title."""
    heading = one.find("h1")
    return " ".join(heading.get_text().split()) if heading else one["id"]


def styles(site: Path, name: str) -> str:
    """The links of a page to its style sheets, seen from the top of the site."""
    soup = BeautifulSoup((site / f"{name}.html").read_text(), "html.parser")
    links = [one["href"] for one in soup.select('link[rel="stylesheet"]')]
    return "\n".join(f'<link rel="stylesheet" href="{seen_from_top(one, name)}">' for one in links)


def article(site: Path, name: str, names: list[str]) -> Tag:
    """A page's article, fit for paper: open, without controls, its links within the book."""
    soup = BeautifulSoup((site / f"{name}.html").read_text(), "html.parser")
    found = soup.select_one("article.bd-article")
    for mark in found.select(".headerlink"):
        mark.decompose()
    title = title_of(found)
    for widget in found.select(".game"):
        words = f"This part of “{title}” moves, and is alive on the site: {name}.html"
        widget.replace_with(BeautifulSoup(f'<p class="print-live">{words}</p>', "html.parser"))
    for fold in found.select(".cell details.hide"):  # of code, or of a cell with what it shows
        fold.replace_with(*fold.select(".cell_output"))
    for fold in found.select(".exhibit-fold"):
        keep_exhibit(fold)
    for row in found.select(".claims tr:has(details)"):
        set_test_below(row)
    for one in found.select(DROPPED):
        one.decompose()
    for fold in found.find_all("details"):
        fold["open"] = ""
    for picture in found.find_all("img"):
        picture["src"] = seen_from_top(picture["src"], name)
        picture.attrs.pop("loading", None)
    for one in found.find_all(id=True):
        one["id"] = f"{anchor(name)}--{one['id']}"
    for one in found.find_all(href=True):
        if (within := address(one["href"], name, names)) is None:
            one.name = "span"
            del one["href"]
        else:
            one["href"] = within
    found.name, found["id"] = "section", anchor(name)
    found["class"] = ["print-page"]
    return found


def keep_exhibit(fold: Tag) -> None:
    """Lay open a fold that holds the card's exhibit, with its notes; leave other folds."""
    if fold.summary.get_text(strip=True) != "The numbers behind it":
        return
    is_there = False
    for part in fold.select(":scope > :not(summary, .exhibit-heading)"):
        classes = part.get("class", [])
        if is_there and "exhibit-note" not in classes:
            break
        is_there = is_there or part.name == "figure" or "exhibit-scroll" in classes
        fold.insert_before(part.extract())


def set_test_below(row: Tag) -> None:
    """Give the test of a claim the width of the sheet, in a row of its own."""
    test = row.find("details").extract()
    test.summary.decompose()
    for said in test.find_all("p"):
        if said.get_text().startswith("Your run:"):
            said.decompose()
    below = BeautifulSoup('<tr class="print-test"><td colspan="3"></td></tr>', "html.parser").tr
    below.td.extend(test.find_all("p"))
    row.insert_after(below)


def anchor(name: str) -> str:
    """A page's own anchor, which begins those on it."""
    return name.removeprefix("book/").replace("/", "-")


def seen_from_top(address: str, name: str) -> str:
    """An address on a page, from the top of the site; what lies outside or in the page stays."""
    if re.match(r"[a-z]+:|#", address):
        return address
    parts: list[str] = []
    for part in [*name.split("/")[:-1], *address.split("/")]:
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def address(link: str, name: str, names: list[str]) -> str | None:
    """Where a link leads in print: outside, to a place in the book, or nowhere."""
    if re.match(r"https?:|mailto:", link):
        return link
    page, _, place = seen_from_top(link, name).partition("#")
    target = page.partition("?")[0].removesuffix(".html") if page else name
    if target not in names:
        return None
    return f"#{anchor(target)}--{unquote(place)}" if place else f"#{anchor(target)}"


def from_browser(whole: str, site: Path, browser: Browser) -> bytes:
    """Print a page that takes pictures and styles from a site, page numbers in its contents."""

    def answer(route: Route) -> None:
        path = unquote(urlsplit(route.request.url).path)
        if not route.request.url.startswith(ADDRESS):
            route.abort()
        elif path == "/":
            route.fulfill(body=whole, content_type="text/html")
        elif (file := site / path.removeprefix("/")).is_file():
            route.fulfill(path=file)
        else:
            route.fulfill(status=404)

    page = browser.new_page(viewport={"width": WIDTH, "height": 1100}, color_scheme="light")
    try:
        page.set_default_timeout(600_000)  # milliseconds: hundreds of formulas, on a busy machine
        page.emulate_media(media="print")
        page.route("**/*", answer)
        page.goto(ADDRESS)
        page.wait_for_function(LOADED)
        if lost := page.evaluate(PICTURES):
            raise InputError(f"the site lacks the picture {lost[0].rpartition('/')[2]}")
        page.evaluate(FIT)
        # Two passes: the first tells on which sheet each page begins.
        page.evaluate(NUMBER, places(sheet(page)))
        return sheet(page)
    finally:
        page.close()


def sheet(page: Page) -> bytes:
    """The page as a PDF with an outline."""
    return page.pdf(prefer_css_page_size=True, scale=SCALE, outline=True, tagged=True)


def sheets(pdf: bytes) -> list[bytes]:
    """The page objects of a PDF that Chromium wrote, in order."""
    found = dict(re.findall(rb"\n(\d+) 0 obj\n(.*?)\nendobj", pdf, re.S))

    def below(number: bytes) -> list[bytes]:
        kids = re.search(rb"/Kids\s*\[([^\]]*)\]", found[number])
        if not kids:
            return [number]
        return [one for kid in re.findall(rb"(\d+) 0 R", kids[1]) for one in below(kid)]

    catalog = next(one for one in found.values() if b"/Type /Catalog" in one)
    return below(re.search(rb"/Pages (\d+) 0 R", catalog)[1])


def places(pdf: bytes) -> dict[str, int]:
    """The number of the sheet that each anchor stands on, from the PDF's named destinations."""
    order = {number: i for i, number in enumerate(sheets(pdf), start=1)}
    named = re.findall(rb"/([\w#.-]+) \[(\d+) 0 R\s*/XYZ", pdf)
    return {name.decode(): order[number] for name, number in named if number in order}


def dated(pdf: bytes) -> bytes:
    """The PDF with the date of the version, so that the same site makes the same file."""
    day = membership.__date__.replace("-", "").encode()
    return re.sub(rb"\(D:\d{14}", b"(D:" + day + b"000000", pdf)


def publish(printed: Path, site: Path) -> None:
    """Lay the file beside the site's pages and link it from the first."""
    paths.atomic_write(site / PDF, printed.read_bytes())
    first = site / "book" / "index.html"
    size = f"{printed.stat().st_size / 1e6:.0f} MB"
    made = rf'\g<1><a href="../{PDF}">The whole book as a PDF</a>, {size}.\g<2>'
    text = re.sub(rf'(<p id="{PLACE}">).*?(</p>)', made, first.read_text(), flags=re.S)
    paths.atomic_write(first, text)


if __name__ == "__main__":
    sys.exit(main())
