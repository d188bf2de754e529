import platform
import subprocess

import numpy as np
import pytest

import membership
from membership.book.exhibits import provenance


def git(folder, *arguments):
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def checkout(tmp_path):
    source = tmp_path / "src" / "membership"
    source.mkdir(parents=True)
    (source / "a.py").write_text("x = 1\n")
    git(tmp_path, "init", "-q")
    return tmp_path


def test_versions_are_those_in_use():
    found = provenance.versions()
    assert found["python"] == platform.python_version()
    assert found["numpy"] == np.__version__
    assert found["membership"] == membership.__version__


def test_the_code_digest_sees_contents_and_names(tmp_path):
    (tmp_path / "a.py").write_text("x = 1\n")
    before = provenance.code_digest(tmp_path)
    (tmp_path / "notes.txt").write_text("not code")
    assert provenance.code_digest(tmp_path) == before
    (tmp_path / "a.py").write_text("x = 2\n")
    changed = provenance.code_digest(tmp_path)
    (tmp_path / "a.py").rename(tmp_path / "b.py")
    assert len({before, changed, provenance.code_digest(tmp_path)}) == 3


def test_no_commit_outside_a_checkout(tmp_path, checkout):
    assert provenance.git_commit(tmp_path / "nowhere") == ""
    assert provenance.git_commit(checkout) == ""
    git(checkout, "add", ".")
    git(checkout, "commit", "-q", "-m", "one")
    # A folder inside some other project's checkout is not a checkout of ours.
    assert provenance.git_commit(checkout / "src") == ""


def test_the_commit_and_whether_the_sources_differ_from_it(checkout):
    git(checkout, "add", ".")
    git(checkout, "commit", "-q", "-m", "one")
    commit = provenance.git_commit(checkout)
    assert len(commit) == 40
    (checkout / "results").mkdir()
    (checkout / "results" / "x.csv").write_text("1\n")
    assert provenance.git_commit(checkout) == commit
    (checkout / "src" / "membership" / "a.py").write_text("x = 2\n")
    assert provenance.git_commit(checkout) == f"{commit}-dirty"


def test_without_git_a_checkout_is_still_one(checkout, tmp_path_factory, monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert provenance.git_commit(checkout) == provenance.UNREAD
    assert provenance.git_commit(tmp_path_factory.mktemp("no checkout")) == ""


def test_another_user_s_clone_has_its_commit(checkout, monkeypatch):
    git(checkout, "add", ".")
    git(checkout, "commit", "-q", "-m", "one")
    commit = provenance.git_commit(checkout)
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    assert provenance.git_commit(checkout) == commit != ""


def test_no_program_of_the_clone_s_configuration_is_started(checkout):
    git(checkout, "add", ".")
    git(checkout, "commit", "-q", "-m", "one")
    git(checkout, "config", "core.fsmonitor", f"touch {checkout / 'started'}; false")
    assert provenance.git_commit(checkout)
    assert not (checkout / "started").exists()
