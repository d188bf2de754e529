"""A checkout that an archive can be made of, and what comes out of its archive."""

import zipfile
from pathlib import Path

import pytest

from membership import paths
from membership.site.archive import make_archive
from tests.site import checkouts


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with one chapter and a built site, as the project in use."""
    root = checkouts.make_checkout(tmp_path / "checkout")
    monkeypatch.setattr(paths, "project_root", lambda: root)
    return root


@pytest.fixture
def unpacked(checkout: Path, tmp_path: Path) -> Path:
    """The folder that its archive was unpacked in."""
    with zipfile.ZipFile(make_archive()[0]) as file:
        file.extractall(tmp_path / "unpacked")
    return tmp_path / "unpacked"
