"""A checkout that an archive can be made of, and what comes out of its archive."""

import shutil
import zipfile
from pathlib import Path

import pytest

from membership import paths
from membership.book.site.archive import make_archive
from tests.book.site import checkouts


@pytest.fixture(scope="session")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout with one chapter and a built site, which no test changes."""
    return checkouts.make_checkout(tmp_path_factory.mktemp("original") / "checkout")


@pytest.fixture
def checkout(original: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it for one test, as the project in use."""
    root = tmp_path / "checkout"
    shutil.copytree(original, root)
    monkeypatch.setattr(paths, "project_root", lambda: root)
    return root


@pytest.fixture(scope="session")
def unpacked_once(original: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that its archive was unpacked in."""
    folder = tmp_path_factory.mktemp("unpacked")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paths, "project_root", lambda: original)
        archive, _ = make_archive(folder / "archive.zip")
    with zipfile.ZipFile(archive) as file:
        file.extractall(folder / "unpacked")
    return folder / "unpacked"


@pytest.fixture
def unpacked(checkout: Path, unpacked_once: Path) -> Path:
    """The same, beside the checkout in use: tests read it and change nothing."""
    return unpacked_once
