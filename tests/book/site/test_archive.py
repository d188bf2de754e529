"""The archive is the same bytes every time, whole without a network, or refused in one line."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import zipfile
from urllib.parse import unquote, urlsplit

import pytest
from bs4 import BeautifulSoup

from membership.book import manifest
from membership.book.exhibits.provenance import git
from membership.book.site import archive
from membership.book.site.archive import make_archive
from membership.book.site.build import PDF
from membership.errors import InputError
from tests.book.site import checkouts
from tests.conftest import REPOSITORY

pytestmark = pytest.mark.slow

# Where a page asks for something as it opens; other links are the reader's to follow.
ASKED = {"img": "src", "script": "src", "source": "src", "iframe": "src", "link": "href"}
IN_CSS = re.compile(r"(?:url\(|@import\s+)\s*[\"']?([^\"')]+)")
CONFIG = """\
title: A miniature
logo: book/_static/logo.svg
only_build_toc_files: true
exclude_patterns: ["src/**", "notebooks/**"]
execute: {execute_notebooks: "off"}
parse: {myst_enable_extensions: [dollarmath]}
sphinx:
  extra_extensions: [sphinx-mathjax-offline]
  config:
    html_static_path: [book/_static]
    html_css_files: [custom.css, exhibits.css]
    html_js_files: [page.js, exhibits.js]
"""


def test_the_same_checkout_and_site_give_the_same_bytes(checkout, tmp_path):
    file, digest = make_archive()
    assert file == checkout / "_build" / "membership-0.1.0.zip"
    assert hashlib.sha256(file.read_bytes()).hexdigest() == digest
    for path in checkout.rglob("*.*"):
        os.utime(path, (1e9, 1e9))
    assert make_archive(tmp_path / "again.zip") == (tmp_path / "again.zip", digest)
    (checkout / "_build" / "html" / "index.html").write_text("another")
    assert make_archive(tmp_path / "third.zip")[1] != digest


def test_it_holds_site_and_tracked_files_and_nothing_else(checkout):
    with zipfile.ZipFile(make_archive()[0]) as file:
        entries = {entry.filename: entry for entry in file.infolist()}
    assert list(entries) == sorted(entries)
    made = {"SHA256SUMS", "codecheck.yml", "ro-crate-metadata.json", ".zenodo.json"}
    results = {f.relative_to(checkout) for f in (checkout / "results").rglob("*.*")}
    shown = {f"site/{f}" for f in (*results, PDF, "index.html", "_sources/book/imagenet_recipe.md")}
    tracked = {name for name in checkouts.COPIED if (checkout / name).is_file()}
    assert set(entries) == made | shown | tracked | {str(f) for f in results}
    modes = {name: oct(entry.external_attr >> 16) for name, entry in entries.items()}
    assert {name for name, mode in modes.items() if mode == "0o100755"} == {".ci/run"}
    assert {entry.date_time for entry in entries.values()} == {entries["README.md"].date_time}


def test_its_sums_are_those_of_every_other_file(unpacked):
    check = ["sha256sum", "--check", "--quiet", "--strict", "SHA256SUMS"]
    assert subprocess.run(check, cwd=unpacked, check=False).returncode == 0
    lines = (unpacked / "SHA256SUMS").read_text().splitlines()
    assert len(lines) == len([p for p in unpacked.rglob("*") if p.is_file()]) - 1


PAGE = "book/imagenet_recipe.md"
TABLE = "results/paper/bayes_optimal/bayes-optimal-tab-1.csv"
REFUSED = {
    "_build/html/index.html": (None, "no site has been built; build it with: make book"),
    ".git": (None, "no git checkout with a commit"),
    "README.md": ("changed", r"^README.md is not committed, so"),
    "LICENSE": (None, r"^LICENSE is not committed, so"),
    "src/membership/new.py": ("new", r"^src/membership/new.py is not committed, so"),
    "_build/html/_sources/book/imagenet_recipe.md": (
        "old",
        "shows another book/imagenet_recipe.md",
    ),
    "_build/html/results/paper/bayes_optimal/bayes-optimal-tab-1.csv": (
        "a\n1\n",
        "another results",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_no_archive_can_be_made_of_is_refused(checkout, name):
    content, message = REFUSED[name]
    path = checkout / name
    if content is not None:
        path.write_text(content)
    elif path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
    with pytest.raises(InputError, match=message) as refusal:
        make_archive()
    assert "\n" not in str(refusal.value)
    assert not list((checkout / "_build").glob("*.zip"))


def page(**note):
    whole = {"cells": [], "metadata": {"membership": note}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole)


@pytest.mark.parametrize("own", [[], ["étude.csv"], ["xrays", "étude.csv"]])
def test_a_run_of_own_data_is_packed_only_if_that_is_asked_for(checkout, own):
    sources = checkout / "_build" / "html" / "_sources" / "mine"
    sources.mkdir()
    (sources / "gmip.ipynb").write_text(page(own_data=own))
    if own:
        with pytest.raises(InputError, match=rf"your own data \({', '.join(own)}\).*--own-data"):
            make_archive()
    assert make_archive(own_data=True)[0].is_file()
    manifest.write(
        checkout / "_build/html/results/tiny/gmip",
        [{"written_by": "x", "own_data": own, "files": {"a": "0" * 64}}],
    )
    (sources / "gmip.ipynb").unlink()
    if own:
        with pytest.raises(InputError, match=r"gmip/run\.manifest is of a run of your own data"):
            make_archive()
    else:
        make_archive()


@pytest.mark.parametrize("whose", ["home", "checkout"])
@pytest.mark.parametrize("name", ["index.html", "_sources/mine.ipynb", "results/a.json"])
def test_no_folder_of_this_machine_is_packed(checkout, tmp_path, monkeypatch, whose, name):
    monkeypatch.setenv("HOME", str(tmp_path / "mia"))
    folder = checkout if whose == "checkout" else tmp_path / "mia"
    (checkout / "_build" / "html" / name).write_text(f'"{folder}/thesis/x.csv"')
    with pytest.raises(InputError, match=rf"{re.escape(name)} names a folder of this machine"):
        make_archive(own_data=True)
    (checkout / "_build" / "html" / name).write_text(f'"{folder}-of-another/x.csv"')
    make_archive(own_data=True)


FEW = ("README.md", "src/membership/__main__.py")


@pytest.mark.parametrize(
    ("second", "year"), [(-1, 1980), (86_400, 1980), (10**9, 2001), (2**33, 2107)]
)
def test_a_commit_of_any_date_can_be_packed(checkout, monkeypatch, second, year):
    monkeypatch.setattr(archive, "git", lambda *words: git(*words).split()[0] + f" {second}")
    monkeypatch.setattr(archive, "_tracked", lambda root: dict.fromkeys(FEW, "100644"))
    monkeypatch.setattr(archive, "_require_committed", lambda root: None)
    with zipfile.ZipFile(make_archive()[0]) as file:
        assert {entry.date_time[0] for entry in file.infolist()} == {year}


def test_notes_beside_the_source_are_no_obstacle(checkout):
    before = make_archive()[1]
    (checkout / "notes.txt").write_text("mine")
    assert make_archive()[1] == before


def asked(page):
    """What a page or style sheet asks for as it opens."""
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".css":
        return IN_CSS.findall(text)
    tags = BeautifulSoup(text, "html.parser")
    given = [tag.get(attribute) for name, attribute in ASKED.items() for tag in tags.select(name)]
    return [
        *filter(None, given),
        *(a for s in tags.select("style") for a in IN_CSS.findall(s.text)),
    ]


def incomplete(site):
    """What pages and style sheets ask for that is outside the site or not there."""
    found = []
    pages = [p for p in site.rglob("*.html") if p.parent.name != "_static"]  # the theme's own
    for page in sorted([*pages, *site.rglob("*.css")]):
        for address in asked(page):
            parts = urlsplit(address)
            there = parts.scheme == "data" or (page.parent / unquote(parts.path)).exists()
            if parts.netloc or parts.scheme not in ("", "data") or not there:
                found.append(f"{page.relative_to(site)}: {address}")
    return found


@pytest.fixture(scope="module")
def built(tmp_path_factory, miniature):
    """The archive of a miniature with the book's own theme, built and packed by the commands."""
    project = miniature(tmp_path_factory.mktemp("archive") / "project")
    shutil.copytree(REPOSITORY / "book" / "_static", project.root / "book" / "_static")
    for name in ("CITATION.cff", "pyproject.toml", ".gitignore"):
        shutil.copy(REPOSITORY / name, project.root)
    (project.root / "_config.yml").write_text(CONFIG)
    (project.root / "intro.md").write_text("# A miniature\n\nProse and $a^2$.\n")
    checkouts.commit(project.root)
    assert project.run("build").returncode == 0
    done = project.run("archive", "--output", "one.zip")
    assert done.returncode == 0, done.stderr
    digest = hashlib.sha256((project.root / "one.zip").read_bytes()).hexdigest()
    assert done.stdout == f"{digest}  one.zip\n"
    with zipfile.ZipFile(project.root / "one.zip") as file:
        file.extractall(project.root / "unpacked")
    yield project.root / "unpacked"
    project.end()


def test_the_unpacked_site_asks_for_nothing_that_is_not_in_it(built):
    site = built / "site"
    pages = [asked(p) for p in (site / "intro.html", *(site / "_static").glob("*.css"))]
    assert sum(map(len, pages)) > 20
    assert any("mathjax" in address for address in pages[0])
    assert incomplete(site) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("page.html", '<script src="https://example.org/a.js"></script>'),
        ("page.html", '<img src="//example.org/a.png">'),
        ("page.html", '<img src="gone.png">'),
        ("page.html", "<style>p { background: url('https://example.org/a.png') }</style>"),
        ("page.css", '@import "https://example.org/a.css";'),
    ],
)
def test_a_request_that_leaves_the_site_or_fails_is_found(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    assert len(incomplete(tmp_path)) == 1
