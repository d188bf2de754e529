"""A checkout with one chapter's committed results and a site, for the tests of the archive."""

import shutil
import subprocess
from pathlib import Path

from membership.book.site.build import PDF
from tests.conftest import REPOSITORY

CHAPTER = "bayes_optimal"
COPIED = (
    "_toc.yml",
    ".ci/run",
    ".gitignore",
    "CITATION.cff",
    "LICENSE",
    "README.md",
    "pyproject.toml",
    "requirements.lock",
    "book/imagenet_recipe.md",
    f"notebooks/{CHAPTER}.md",
    f"results/paper/{CHAPTER}",
    f"runs/paper/{CHAPTER}.json",
    "src/membership/__init__.py",
    "src/membership/__main__.py",
)
# A commit needs a name, whoever runs the tests.
COMMIT = ("-c", "user.name=Nobody", "-c", "user.email=nobody@example.org", "commit", "--quiet")


def git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(root), *arguments], check=True, capture_output=True)


def commit(root: Path) -> None:
    """Commit everything, in a repository that is made where there is none."""
    git(root, "init", "--quiet")
    git(root, "add", "--all")
    git(root, *COMMIT, "--message", "All")


def make_checkout(root: Path) -> Path:
    """The checkout, and a site of one page with the committed results."""
    for name in COPIED:
        target = root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (REPOSITORY / name).is_dir():
            shutil.copytree(REPOSITORY / name, target, ignore=shutil.ignore_patterns(".*"))
        else:
            shutil.copy(REPOSITORY / name, target)
    commit(root)
    site = root / "_build" / "html"
    shutil.copytree(root / "results", site / "results")
    (site / "_sources" / "book").mkdir(parents=True)
    shutil.copy(root / "book" / "imagenet_recipe.md", site / "_sources" / "book")
    (site / "index.html").write_text("<!DOCTYPE html><title>A site</title>")
    (site / PDF).write_bytes(b"%PDF-1.4, of all pages")
    (site / ".buildinfo").write_text("of the last build")
    (root / ".venv").mkdir()
    (root / ".venv" / "pyvenv.cfg").write_text("home = /usr/bin")
    return root
