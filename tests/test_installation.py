"""How an installation gets an extra depends on where it came from."""

import importlib.metadata
import json

import pytest

from membership.installation import with_extra

WHEEL = "membership-0.1.0-py3-none-any.whl"
REPOSITORY = "https://example.org/membership.git"


class Noted:
    """A distribution with what an installer noted, if anything."""

    def __init__(self, origin: dict | None) -> None:
        self.origin = origin

    def read_text(self, name: str) -> str | None:
        assert name == "direct_url.json"
        return None if self.origin is None else json.dumps(self.origin)


@pytest.mark.parametrize(
    ("origin", "command"),
    [
        (
            {"url": f"file:///my%20files/{WHEEL}", "archive_info": {}},
            f"pip install '/my files/{WHEEL}[book]'",
        ),
        (
            {"url": "file:///home/me/clone", "dir_info": {"editable": True}},
            "pip install --editable '/home/me/clone[book]'",
        ),
        (
            {"url": "file:///home/me/clone", "dir_info": {}},
            "pip install '/home/me/clone[book]'",
        ),
        (
            {"url": f"https://example.org/{WHEEL}", "archive_info": {}},
            f"pip install 'membership[book] @ https://example.org/{WHEEL}'",
        ),
        (
            {"url": REPOSITORY, "vcs_info": {"vcs": "git", "commit_id": "abc"}},
            f"pip install 'membership[book] @ git+{REPOSITORY}'",
        ),
        (None, "pip install 'membership[book]', from where membership was installed"),
    ],
)
def test_it_is_installed_from_where_the_package_came(origin, command, monkeypatch):
    monkeypatch.setattr(importlib.metadata, "distribution", lambda _: Noted(origin))
    assert with_extra("book") == command


def test_a_package_that_nobody_installed_says_the_same_as_one_from_an_index(monkeypatch):
    def missing(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "distribution", missing)
    assert with_extra("book").startswith("pip install 'membership[book]', from where")
