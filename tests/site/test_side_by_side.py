"""Several processes make the same pages as one, and none keeps a warning to itself."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

CONFIG = """\
extensions = ["myst_parser", "membership.site.side_by_side"]
root_doc = "index"
numfig = True
"""
PAGES = [f"page{number}" for number in range(8)]
THEOREM = """\
# A page

```{prf:theorem} A name
:label: statement

What holds.
```
"""


@pytest.fixture
def book(tmp_path):
    """A book whose every page refers to a theorem of its last one."""
    source = tmp_path / "source"
    source.mkdir()
    (source / "conf.py").write_text(CONFIG)
    toc = "\n".join(["```{toctree}", ":numbered:", *PAGES, "```"])
    (source / "index.md").write_text(f"# A miniature\n\n{toc}\n")
    for page in PAGES:
        (source / f"{page}.md").write_text(f"# Of {page}\n\nBy {{prf:ref}}`statement`.\n")
    (source / f"{PAGES[-1]}.md").write_text(THEOREM)
    return source


def sphinx(source, cores):
    """Build a book on so many cores: what Sphinx said, and the HTML of each page."""
    output = source.with_name(f"html-{cores}")
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "--keep-going", str(source), str(output)],
        env={**os.environ, "OMP_NUM_THREADS": str(cores)},
        capture_output=True,
        text=True,
        check=False,
    )
    return done, {page: (output / f"{page}.html").read_text() for page in PAGES}


def test_two_processes_make_what_one_makes(book):
    (one, by_one), (two, by_two) = sphinx(book, 1), sphinx(book, 2)
    assert (one.returncode, two.returncode) == (0, 0), one.stderr + two.stderr
    assert "Theorem 8.1" in by_one[PAGES[0]]
    assert by_one == by_two


@pytest.mark.parametrize("page", [PAGES[0], PAGES[-2]])
def test_a_warning_in_any_process_stops_the_build(book, page):
    text = "# A page\n\n{prf:ref}`nowhere`\n\n![none](absent.png)\n"
    (book / f"{page}.md").write_text(text)
    done, _ = sphinx(book, 2)
    assert done.returncode == 1
    assert "nowhere" in done.stderr
    assert "absent.png" in done.stderr
