"""Committed evidence without a clone: fetched as it is read, and each file checked."""

import functools
import http.server
import shutil
import threading

import pytest

from membership import attacks, downloads, paths
from membership.book import home
from membership.book.exhibits import Source, declared, fetched
from membership.book.studies.comparison.settings import Settings
from membership.errors import InputError

CHAPTER = "comparison"
NAME = "outputs-fashion-mnist-regularised"
COMMITTED = paths.results_dir() / "paper" / CHAPTER


@pytest.fixture
def mirror(tmp_path, monkeypatch):
    """A copy of the site's results at an address of its own, and no clone."""
    folder = tmp_path / "site" / "results" / "paper" / CHAPTER
    folder.mkdir(parents=True)
    shutil.copy(COMMITTED / f"{NAME}.evidence", folder)
    asked = []

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *words):
            asked.append(self.path)

    monkeypatch.setattr(fetched, "RETRIES", 0)
    monkeypatch.setattr(paths, "checkout", lambda: None)
    monkeypatch.setattr(paths, "shipped", lambda name: COMMITTED.parents[1])
    monkeypatch.setenv("MEMBERSHIP_CACHE", str(tmp_path / "cache"))
    handler = functools.partial(Quiet, directory=tmp_path / "site")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        address = f"http://127.0.0.1:{server.server_port}"
        monkeypatch.setenv(fetched.MIRROR, address)
        yield folder, asked
        server.shutdown()
        thread.join()


def source() -> Source:
    settings = Settings.from_values({"profile": "paper"})
    return fetched.published(settings, declared(CHAPTER))


def test_what_is_read_is_fetched_once_and_is_the_committed_one(mirror):
    found = source().evidence(NAME)
    assert found.attrs["kind"] == "outputs"
    assert "loss" in attacks.score_table(found).score
    source().evidence(NAME)
    assert mirror[1] == [f"/results/paper/{CHAPTER}/{NAME}.evidence"]


def test_another_file_than_the_committed_one_is_refused(mirror):
    (mirror[0] / f"{NAME}.evidence").write_bytes(b"something else")
    with pytest.raises(InputError, match="its hash differs"):
        source().evidence(NAME)
    assert not list(paths.cache_dir().rglob("*.evidence"))


def test_a_copy_without_the_file_or_without_an_answer_is_told(mirror, monkeypatch):
    (mirror[0] / f"{NAME}.evidence").unlink()
    with pytest.raises(InputError, match=r"cannot be fetched \(HTTPError\); .*MEMBERSHIP_MIRROR"):
        source().evidence(NAME)
    monkeypatch.setattr(downloads, "TIMEOUT", 0.2)
    monkeypatch.setenv(fetched.MIRROR, "http://127.0.0.1:9")
    with pytest.raises(InputError, match="cannot be fetched"):
        source().evidence(NAME)


def test_the_book_s_own_address_is_where_it_is_fetched_from(mirror, monkeypatch):
    monkeypatch.delenv(fetched.MIRROR)
    with pytest.raises(InputError, match="comes with a clone of the repository and not with the"):
        source().evidence(NAME)
    monkeypatch.setattr(home, "REPOSITORY", "https://github.com/Owner/membership")
    asked = []
    monkeypatch.setattr(downloads, "fetch", lambda base, *_: asked.append(base) or COMMITTED)
    assert source()._path(NAME) == COMMITTED
    assert asked == ["https://owner.github.io/membership/results/paper/comparison/"]


def test_what_the_book_has_none_of_is_said(mirror):
    with pytest.raises(InputError, match="no evidence 'outputs-of-nothing'"):
        source().evidence("outputs-of-nothing")


def test_in_a_clone_the_committed_file_itself_is_read(monkeypatch):
    monkeypatch.setattr(downloads, "fetch", None)
    assert source().evidence(NAME).attrs["kind"] == "outputs"
