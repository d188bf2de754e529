"""The site is built whole or the line says what is missing or wrong."""

import json
import subprocess

import pytest
from bs4 import BeautifulSoup
from filelock import FileLock
from markdown_it.renderer import RendererHTML
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser

from membership import paths
from membership.book.site import build_site
from membership.book.site.build import PDF
from membership.book.site.statistics import run_statistics
from membership.errors import InputError

pytestmark = pytest.mark.slow

CONFIG = """\
title: A miniature
only_build_toc_files: true
exclude_patterns: ["src/**", "notebooks/**"]
execute: {execute_notebooks: "off"}
"""


@pytest.fixture
def book(project):
    (project.root / "_config.yml").write_text(CONFIG)
    (project.root / "intro.md").write_text("# A miniature\n\nProse.\n")
    (project.root / "_toc.yml").write_text(
        "format: jb-book\nroot: intro\nchapters:\n- file: book/generated/run_statistics\n"
    )
    return project


def test_a_site_is_built_with_the_results_of_its_pages_beside_them(book):
    toc = book.root / "_toc.yml"
    toc.write_text(toc.read_text() + "- file: book/chapters/demo\n")
    assert book.run("run", "demo").returncode == 0
    paths.atomic_write(book.root / "results" / "tiny" / "demo" / "of-no-page.csv", "n\n1\n")
    site = book.root / "_build" / "html"
    paths.atomic_write(site / PDF, "of the pages before")
    done = book.run("build")
    assert done.returncode == 0, done.stderr
    assert not (site / PDF).exists()
    assert done.stdout.splitlines()[-1] == str(site / "index.html")
    assert (site / "index.html").is_file()
    copied = {p.relative_to(site).as_posix() for p in (site / "results").rglob("*") if p.is_file()}
    assert copied == {f"results/quick/demo/{name}" for name in ("demo-tab-1.csv", "run.manifest")}
    assert (site / "results" / "quick" / "demo" / "demo-tab-1.csv").read_text() == "n_repeats,2\n"
    page = (site / "book" / "generated" / "run_statistics.html").read_text()
    assert "A demonstration" in page


def test_a_prose_edit_is_published_and_other_code_is_named_with_the_run_that_it_takes(book):
    toc, text = book.root / "_toc.yml", book.root / "notebooks" / "demo.md"
    toc.write_text(toc.read_text() + "- file: book/chapters/demo\n")
    assert book.run("run", "demo", "-p", "n_repeats", "7").returncode == 0
    page = book.root / "_build" / "html" / "book" / "chapters" / "demo.html"

    text.write_text(text.read_text().replace("## The end", "Prose of today.\n\n## The end"))
    done = book.run("build")
    assert (done.returncode, done.stderr) == (0, "building the site\n")
    assert "Prose of today." in page.read_text()
    assert "repeats: 7" in page.read_text()
    assert "up to date" in book.run("run", "demo", "-p", "n_repeats", "7").stderr

    text.write_text(text.read_text().replace("of today", "of tomorrow").replace("(sett", "( sett"))
    done = book.run("build")
    assert done.returncode == 0
    assert done.stderr.splitlines()[0] == (
        "notebooks/demo.md: other code than was run, so the site has the text of that run; "
        "for today's: membership run demo -p n_repeats 7"
    )
    assert "Prose of today." in page.read_text()


def test_a_warning_stops_the_build_and_is_quoted_every_time(book):
    (book.root / "intro.md").write_text("# A miniature\n\n{ref}`nowhere`\n")
    for _ in range(2):
        done = book.run("build")
        assert done.returncode == 1
        assert "Traceback" not in done.stderr
        last = done.stderr.splitlines()[-1]
        assert last.startswith("membership: the site did not build: ")
        assert "nowhere" in last
        assert last.endswith("the log is logs/site.log")


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("printf 'x: [' >> _config.yml", "did not build: yaml.parser.ParserError"),
        ("rm -rf _build; touch _build", "did not build: NotADirectoryError"),
    ],
)
def test_what_stops_sphinx_before_a_page_is_quoted(book, fault, told):
    subprocess.run(["bash", "-c", fault], cwd=book.root, check=True)
    done = book.run("build")
    assert done.returncode == 1
    assert told in done.stderr.splitlines()[-1]


def test_of_two_builds_at_once_the_second_is_refused(book):
    with FileLock(book.root / "book" / "generated" / ".lock"):
        done = book.run("build")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "the site is being built already" in done.stderr


def test_a_chapter_that_was_not_run_is_named_with_the_command_that_runs_it(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "project_root", lambda: tmp_path)
    (tmp_path / "_toc.yml").write_text("root: i\nchapters:\n- file: book/chapters/demo\n")
    with pytest.raises(InputError, match=r"no executed notebook for demo; .* membership run demo"):
        build_site(quiet=True)


def test_the_statistics_page_shows_each_run(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "project_root", lambda: tmp_path)
    record = {
        "title": "A | demonstration",
        "profile": "tiny",
        "seconds": 12.4,
        "sections": [{"title": "One", "seconds": 2.0}, {"title": "Two", "seconds": 9.6}],
        "machine": "A processor",
        "cpus": 2,
        "python": "3.11.7",
        "started": "2026-11-21T09:00:00+00:00",
    }
    paths.atomic_write(tmp_path / "runs" / "tiny" / "demo.json", json.dumps(record))
    assert run_statistics().splitlines()[-1] == (
        "| A \\| demonstration | tiny | 12 | Two (10 s) | A processor, 2 CPUs, Python 3.11.7 "
        "| 2026-11-21 |"
    )


HOSTILE = "x | <script>alert(1)</script> [a](javascript:b) ![i](//c) $y$ `z` {raw}`d`\n\n# e"


def test_nothing_from_a_record_is_markup(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "project_root", lambda: tmp_path)
    words = dict.fromkeys(("title", "profile", "machine", "python", "started"), HOSTILE)
    sections = [{"title": HOSTILE, "seconds": 1}]
    run = {**words, "seconds": 1, "cpus": HOSTILE, "sections": sections}
    paths.atomic_write(tmp_path / "runs" / "tiny" / "demo.json", json.dumps(run))
    table = {"name": HOSTILE, "rows": [{HOSTILE: HOSTILE}], "machine": HOSTILE, "cpus": 2}
    paths.atomic_write(tmp_path / "runs" / "benchmark-x.json", json.dumps(table))
    page = run_statistics()
    config = MdParserConfig(enable_extensions={"dollarmath", "colon_fence", "substitution"})
    html = create_md_parser(config, RendererHTML).render(page)
    rendered = BeautifulSoup(html, "html.parser")
    marked = {element.name for element in rendered.find_all()}
    assert not marked & {"script", "a", "img", "h3"}
    assert [h.get_text() for h in rendered.find_all("h1")] == ["Run statistics"]
    assert rendered.get_text().count("<script>alert(1)</script>") == 10
    assert "{raw}`d`" in rendered.get_text()
    assert [len(r.find_all("td")) for r in rendered.find_all("tr") if r.find("td")] == [6, 1]
