"""A name becomes a data set: found, downloaded, converted, verified, refused; what `check` says."""

import functools
import hashlib
import http.server
import socket
import threading

import numpy as np
import pytest

from membership import downloads
from membership.data import (
    UnverifiedDataWarning,
    check,
    fetch,
    load,
    public,
    record_digest,
    simulate_purchase,
)
from membership.errors import InputError

NOBODY = "http://127.0.0.1:9/"


@pytest.fixture
def server(tmp_path):
    """Serve a folder at an address of its own."""
    folder = tmp_path / "upstream"
    folder.mkdir()

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Quiet, directory=folder)
    ) as httpd:
        thread = threading.Thread(target=httpd.serve_forever, args=(0.01,))
        thread.start()
        yield folder, f"http://127.0.0.1:{httpd.server_port}/"
        httpd.shutdown()
        thread.join()


@pytest.fixture
def location(server, write_registry, write_tar, tiny_table, monkeypatch):
    """Register ``toy``, whose upstream is an archive of Location-30's format."""
    monkeypatch.setattr(public, "RETRIES", 0)
    folder, address = server
    x, y = tiny_table
    text = "".join(
        f"{label + 1},{','.join(map(str, row))}\n" for row, label in zip(x, y, strict=True)
    )
    archive = folder / "dataset_location.tgz"
    write_tar(archive, {"bangkok": text.encode()})

    def register(mirrors=(address,), digest=None, known=None):
        hashed = hashlib.sha256(archive.read_bytes()).hexdigest()
        files = {archive.name: f"sha256:{hashed}" if known is None else known}
        digest = record_digest(x, y) if digest is None else digest
        return write_registry(
            toy={
                "parser": "location30",
                "mirrors": list(mirrors),
                "files": files,
                "digest": digest,
                "stand_in": "purchase_like",
            }
        )

    return register


def test_a_download_is_converted_once_and_found_afterwards(location, server, tiny_table):
    data_folder = location(mirrors=(NOBODY, server[1]))
    dataset = load("toy")
    assert dataset.verified
    assert sorted(map(tuple, dataset.x)) == sorted(map(tuple, tiny_table[0].astype(float)))
    assert sorted(path.name for path in data_folder.iterdir()) == [
        "downloads", "registry.toml", "toy.npz",
    ]  # fmt: skip
    assert list((data_folder / "downloads").iterdir()) == []
    for file in server[0].iterdir():
        file.unlink()
    again = load("toy")
    np.testing.assert_array_equal(again.x, dataset.x)
    np.testing.assert_array_equal(again.y, dataset.y)
    assert fetch("toy") == data_folder / "toy.npz"


def test_a_prepared_file_gives_the_same_order_as_the_download(location, tmp_path, tiny_table):
    location()
    downloaded = load("toy")
    order = np.random.default_rng(0).permutation(30)
    x, y = (array[order] for array in tiny_table)
    np.savez(tmp_path / "toy.npz", x=x, y=y)
    prepared = load("toy", root=tmp_path)
    np.testing.assert_array_equal(prepared.x, downloaded.x)
    np.testing.assert_array_equal(prepared.y, downloaded.y)


def test_a_whole_download_is_not_fetched_again(location, server, write_tar):
    data_folder = location()
    kept = data_folder / "downloads" / "toy"
    kept.mkdir(parents=True)
    (server[0] / "dataset_location.tgz").rename(kept / "dataset_location.tgz")
    assert load("toy").verified


@pytest.mark.parametrize("content", [b"<html>not found</html>", None])
def test_a_bad_download_without_a_published_hash_is_not_kept(location, server, write_tar, content):
    data_folder = location(known="")
    archive = server[0] / "dataset_location.tgz"
    good = archive.read_bytes()
    if content is None:  # whole, but of other records
        write_tar(archive, {"bangkok": b"1,0,1\n2,1,0\n"})
    else:
        archive.write_bytes(content)
    with pytest.raises(InputError):
        load("toy")
    assert list((data_folder / "downloads").iterdir()) == []
    archive.write_bytes(good)
    assert load("toy").verified


def test_a_server_that_keeps_silent_is_left_after_the_timeout(location, monkeypatch):
    monkeypatch.setattr(downloads, "TIMEOUT", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        location(mirrors=(f"http://127.0.0.1:{silent.getsockname()[1]}/",))
        with pytest.raises(InputError, match=r"\(no answer within 0.2 s, ReadTimeout\)"):
            load("toy")


def test_without_a_network_the_message_says_what_would_do(location, capfd):
    data_folder = location(mirrors=(NOBODY,))
    with pytest.raises(InputError) as caught:
        load("toy")
    message = str(caught.value)
    assert f"toy.npz is not in {data_folder}" in message
    assert f"{NOBODY}dataset_location.tgz (ConnectionError)" in message
    assert "the embedded 'purchase_like'" in message
    assert "\n" not in message
    assert not (data_folder / "toy.npz").exists()


def test_a_download_with_another_hash_is_refused(location):
    data_folder = location(known="sha256:" + "0" * 64)
    with pytest.raises(InputError, match=r"from .*tgz \(another file than the published one"):
        load("toy")
    assert [path.name for path in (data_folder / "downloads" / "toy").iterdir()] == []


def test_a_download_with_other_records_is_refused(location):
    data_folder = location(digest="0" * 64)
    with pytest.raises(InputError, match="does not hold the public records of toy"):
        load("toy")
    assert not (data_folder / "toy.npz").exists()


def test_a_download_of_another_format_is_refused(location, server):
    (server[0] / "dataset_location.tgz").write_bytes(b"<html>moved</html>")
    location()
    with pytest.raises(InputError, match=r"cannot read the upstream files of toy in .*delete"):
        load("toy")


def test_no_digest_is_said_when_loading(location):
    location(digest="")
    with pytest.warns(UnverifiedDataWarning, match="toy is unverified"):
        dataset = load("toy")
    assert not dataset.verified
    assert check("toy").status == "unverified"


def test_a_set_without_upstream_says_so(write_registry):
    write_registry(toy={"stand_in": "digits"})
    with pytest.raises(InputError, match="comes as a prepared file only; put it there, or take"):
        load("toy")


def test_a_prepared_file_with_other_records_is_refused_not_replaced(location, tiny_table):
    data_folder = location()
    x, y = tiny_table
    np.savez(data_folder / "toy.npz", x=x[::-1], y=y)
    with pytest.raises(InputError, match=r"toy\.npz does not hold the public records"):
        load("toy")


def test_digits_are_embedded_and_verified():
    dataset = load("digits")
    assert dataset.x.shape == (1797, 1, 8, 8)
    assert (dataset.x.min(), dataset.x.max()) == (0.0, 1.0)
    assert dataset.verified
    assert np.unique(dataset.x * 16).tolist() == list(range(17))


def test_purchase_like_has_a_default_size_and_takes_another():
    dataset = load("purchase_like:40")
    np.testing.assert_array_equal(dataset.x, simulate_purchase(40, seed=0).x)
    assert len(load("purchase_like")) == 10_000


@pytest.mark.parametrize("name", ["purchase_like:", "purchase_like:0", "purchase_like:1e4"])
def test_a_wrong_size_is_refused(name):
    with pytest.raises(InputError, match="1 to 2,000,000 after the colon, as in purchase_like"):
        load(name)


@pytest.mark.parametrize("name", ["digits", "purchase_like", "purchase_like:50"])
def test_nothing_to_fetch(name):
    with pytest.raises(InputError, match="is embedded: there is nothing to fetch"):
        fetch(name)


def test_ok_unverified_wrong_and_missing(write_registry, tiny_table):
    x, y = tiny_table
    digest = record_digest(x, y)
    folder = write_registry(toy={"digest": digest}, bare={}, gone={}, broken={})
    np.savez(folder / "toy.npz", x=x, y=y)
    np.savez(folder / "bare.npz", x=x, y=y)
    (folder / "broken.npz").write_bytes(b"PK")
    assert str(check("toy")) == f"toy: ok: {folder}/toy.npz: {digest}"
    assert (check("bare").status, check("bare").detail) == ("unverified", digest)
    assert check("gone").status == "missing"
    assert "gone.npz is not in" in str(check("gone"))
    assert check("broken").status == "wrong"
    np.savez(folder / "toy.npz", x=x + 1, y=y)
    assert check("toy").status == "wrong"
    assert "does not hold the public records" in check("toy").detail
    assert "\n" not in str(check("toy"))


def test_embedded_sets():
    assert check("digits").status == "ok"
    assert check("purchase_like:70").status == "simulated"
    assert "70 records" in str(check("purchase_like:70"))
