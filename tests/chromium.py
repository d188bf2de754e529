"""Find a Chromium for the tests of the site, or get one. As a program: `make test` runs it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome")
PACKAGE = "chromium"
ADVICE = f"no Chromium: the tests of the site are left out; install the package {PACKAGE!r}"


def find() -> str | None:
    """Where a Chromium lies: on the path, else the one that playwright has downloaded."""
    on_path = next(filter(None, map(shutil.which, NAMES)), None)
    return on_path or _playwrights_own()


def get() -> str | None:
    """Find a Chromium or install one, asking nothing; None where neither is possible."""
    for attempt in (None, _by_playwright(), *_by_package_manager()):
        if attempt:
            print("getting a Chromium:", *attempt[-3:], file=sys.stderr)
            subprocess.run(attempt, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        if found := find():
            return found
    return None


def _playwrights_own() -> str | None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
    return own if Path(own).is_file() else None


def _by_playwright() -> list[str]:
    return [sys.executable, "-m", "playwright", "install", "chromium"]


def _by_package_manager() -> list[list[str]]:
    """Commands that install without a question: as root, or where sudo asks for no password."""
    if not shutil.which("apt-get"):
        return []
    root = [] if os.geteuid() == 0 else ["sudo", "--non-interactive"]
    if root and not shutil.which("sudo"):
        return []
    install = ["apt-get", "install", "--yes", "--quiet", "--no-install-recommends", PACKAGE]
    return [[*root, "apt-get", "update", "--quiet"], [*root, *install]]


if __name__ == "__main__":
    if get() is None:
        print(ADVICE, file=sys.stderr)
