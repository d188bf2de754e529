"""Getting a browser for the tests of the site."""

import stat
from pathlib import Path

import pytest

from tests import chromium


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty path, and no browser of playwright's own."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(chromium, "_playwrights_own", lambda: None)
    return tmp_path


def program(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def test_one_on_the_path_is_taken(bare: Path) -> None:
    program(bare, "chromium-browser", "exit 0")
    assert chromium.find() == str(bare / "chromium-browser")


def test_playwrights_own_comes_second(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chromium, "_playwrights_own", lambda: "/own/chrome")
    assert chromium.find() == "/own/chrome"
    program(bare, "chromium", "exit 0")
    assert chromium.find() == str(bare / "chromium")


def test_the_package_manager_is_asked_when_playwright_has_none(
    bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chromium.os, "geteuid", lambda: 0)
    monkeypatch.setattr(chromium, "_by_playwright", lambda: ["/bin/false"])
    made = bare / "chromium"
    installs = f'[ "$1" = install ] && printf "#!/bin/sh" > {made} && /bin/chmod +x {made}'
    program(bare, "apt-get", installs)
    assert chromium.get() == str(made)


def test_sudo_is_never_allowed_to_ask(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chromium.os, "geteuid", lambda: 1000)
    program(bare, "apt-get", "exit 1")
    assert chromium._by_package_manager() == []
    program(bare, "sudo", "exit 1")
    assert all(c[:2] == ["sudo", "--non-interactive"] for c in chromium._by_package_manager())


def test_where_neither_works_there_is_none(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chromium, "_by_playwright", lambda: ["/bin/false"])
    assert chromium.get() is None
