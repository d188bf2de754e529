"""Evidence on disk: it comes back, it is the same bytes twice, and no file does harm."""

import hashlib
import io
import json
import random
import struct
import tracemalloc
import zipfile
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from membership import evidence
from membership.errors import InputError
from membership.evidence import files
from membership.evidence.files import decode, encode, size_of
from tests.evidence.examples import ORIGIN, measured, outputs


@pytest.fixture
def path(tmp_path):
    return tmp_path / "new" / "digits.evidence"


@pytest.mark.parametrize("make", [outputs, measured])
def test_what_is_written_comes_back(path, make):
    assert evidence.save(path, make()) == path
    assert evidence.load(path).identical(make())
    assert evidence.digest(evidence.load(path)) == evidence.digest(make())


@pytest.mark.slow
@given(st.data())
def test_any_evidence_comes_back(data):
    shape = data.draw(arrays.array_shapes(min_dims=2, max_dims=2, max_side=6))
    log_odds = data.draw(arrays.arrays("float64", shape, elements=st.floats(-3e38, 3e38)))
    member = data.draw(arrays.arrays("bool", shape))
    words = data.draw(st.lists(st.text(max_size=5), min_size=shape[0], max_size=shape[0]))
    note = data.draw(
        st.recursive(
            st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=4),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner),
            max_leaves=5,
        )
    )
    words = [word.replace("\0", "") for word in words]
    made = evidence.dataset(
        "outputs",
        {"log_odds": log_odds, "member": member},
        {"model": words},
        targets=[0],
        note=note,
        **ORIGIN,
    )
    found = files.from_bytes(files.to_bytes(made))
    assert found.identical(made)
    assert found.attrs == made.attrs
    assert files.to_bytes(found) == files.to_bytes(made)


@pytest.mark.slow
def test_written_twice_are_the_same_bytes(path):
    first = evidence.save(path, outputs(128, 3000)).read_bytes()
    backwards = outputs(128, 3000)[["test_accuracy", "member", "log_odds"]]
    assert evidence.save(path, backwards).read_bytes() == first
    assert evidence.save(path, evidence.load(path)).read_bytes() == first


def test_the_digest_is_that_of_the_content(path):
    whole = outputs()
    found = evidence.digest(whole)
    for changed in (
        whole.assign_attrs(targets=[1, 0]),
        whole.assign(member=~whole["member"]),
        whole.assign_coords(record=whole["record"] + 1),
        whole.rename(log_odds="hinge").assign(log_odds=whole["log_odds"]),
    ):
        assert evidence.digest(changed) != found
    assert len(found) == 64


def test_large_arrays_are_packed_by_lzma_and_smaller(path):
    made = outputs(8, 20_000)
    # Truth is stored as bits.
    assert made["log_odds"].nbytes >= files.LARGE > made["member"].nbytes / 8
    assert evidence.load(evidence.save(path, made)).identical(made)
    with zipfile.ZipFile(path) as archive:
        packed = {one.filename: one for one in archive.infolist()}
        content = archive.read("log_odds")
    assert packed["log_odds"].compress_type == zipfile.ZIP_LZMA
    assert packed["member"].compress_type == zipfile.ZIP_DEFLATED
    assert packed["log_odds"].compress_size < len(zlib.compress(content, 6))


def test_a_window_that_takes_all_memory_is_refused(path):
    whole = files.to_bytes(outputs(16, 20_000))
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        start = archive.getinfo("log_odds").header_offset
    # The last five bytes before the packed content: a byte of settings and the window.
    place = start + 30 + len("log_odds") + 5
    window = struct.unpack_from("<I", whole, place)[0]
    assert 0 < window <= files.MOST_WINDOW
    body = bytearray(whole[:-64])
    struct.pack_into("<I", body, place, 2**32 - 1)
    tracemalloc.start()
    with pytest.raises(InputError, match="'log_odds' asks for more memory"):
        files.from_bytes(signed(bytes(body)))
    assert tracemalloc.get_traced_memory()[1] < 2**25
    tracemalloc.stop()


def test_a_zip_program_can_look_inside(path):
    evidence.save(path, outputs())
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        header = json.loads(archive.read("header.json"))
    assert header["attributes"]["set"] == "Digits"
    assert header["variables"]["member"] == {
        "dims": ["model", "record"],
        "dtype": "bool",
        "shape": [3, 50],
    }


def test_every_flipped_byte_is_seen(path):
    whole = evidence.save(path, outputs()).read_bytes()
    rng = random.Random(0)
    refused = 0
    for _ in range(400):
        damaged = bytearray(whole)
        damaged[rng.randrange(len(whole))] ^= rng.randrange(1, 256)
        path.write_bytes(damaged)
        with pytest.raises(InputError) as error:
            evidence.load(path)
        assert "\n" not in str(error.value)
        assert str(path) in str(error.value)
        refused += 1
    assert refused == 400


def test_every_missing_end_is_seen():
    whole = files.to_bytes(outputs())
    for length in (*range(0, len(whole), 7), len(whole) - 1):
        with pytest.raises(InputError):
            files.from_bytes(whole[:length])
    with pytest.raises(InputError):
        files.from_bytes(whole + b"\0")


def forged(header: object, parts: dict[str, bytes]) -> bytes:
    """A file with a digest that fits, whatever it holds."""
    whole = io.BytesIO()
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.comment = b"0" * 64
        for name, content in {"header.json": text, **parts}.items():
            archive.writestr(name, content)
    return signed(whole.getvalue()[:-64])


def signed(body: bytes) -> bytes:
    return body + hashlib.sha256(body).hexdigest().encode()


def _good() -> tuple[dict, dict[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(files.to_bytes(outputs()))) as archive:
        header = json.loads(archive.read("header.json"))
        return header, {n: archive.read(n) for n in archive.namelist() if n != "header.json"}


def test_what_forging_changes_alone_is_read():
    assert files.from_bytes(forged(*_good())).identical(outputs())


def _with(path: list, value: object) -> bytes:
    header, parts = _good()
    place = header
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return forged(header, parts)


@pytest.mark.parametrize(
    ("where", "value"),
    [
        (["variables", "log_odds", "shape"], [10**12, 10**6]),
        (["variables", "log_odds", "shape"], [-3, -50]),
        (["variables", "log_odds", "shape"], [3.0, 50]),
        (["variables", "log_odds", "shape"], [True, 150]),
        (["variables", "log_odds", "shape"], "150"),
        (["variables", "log_odds", "shape"], [2, 50]),
        (["variables", "log_odds", "dtype"], "object"),
        (["variables", "log_odds", "dtype"], "float64"),
        (["variables", "log_odds", "dtype"], ["float32"]),
        (["variables", "log_odds", "dims"], ["model", "model"]),
        (["variables", "log_odds", "dims"], [{}, "record"]),
        (["variables", "log_odds", "dims"], ["../model", "record"]),
        (["variables", "log_odds"], []),
        (["variables", "more"], {"dims": ["x"], "shape": [1], "dtype": "uint8"}),
        (["variables", "record"], {"dims": ["record"], "shape": [2], "dtype": "str"}),
        (["variables"], ["log_odds"]),
        (["attributes", "kind"], "os.system"),
        (["attributes", "kind"], ["outputs"]),
        (["attributes"], [1, 2]),
        (["attributes"], {}),
        (["format"], "membership-evidence 2"),
    ],
)
def test_a_header_made_to_deceive_is_refused_in_one_line(where, value):
    with pytest.raises(InputError) as error:
        files.from_bytes(_with(where, value))
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 400


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"[]",
        b"{",
        b"\xff\xfe",
        b'{"format": NaN}',
        b'{"format": ' + b"9" * 10_000 + b"}",
        b"[" * 100_000,
        b'{"format": "membership-evidence 1"}',
    ],
)
def test_a_header_that_is_none_is_refused_in_one_line(header):
    with pytest.raises(InputError) as error:
        files.from_bytes(forged(header, {}))
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 400


def _words(words: list) -> bytes:
    header, parts = _good()
    header["variables"]["model"] = {
        "dims": ["model"],
        "shape": [3],
        "dtype": "str",
        "words": words,
    }
    return forged(header, parts)


def test_words_are_words_and_not_too_long():
    assert files.from_bytes(_words(["a", "b", "c"]))["model"].values.tolist() == ["a", "b", "c"]
    for words in (["a", "b"], ["a", "b", 1], "ab", ["a", "b", "c" * 9_000_000]):
        with pytest.raises(InputError):
            files.from_bytes(_words(words))


def test_no_memory_is_taken_for_what_a_file_declares_too_large():
    header, parts = _good()
    header["variables"]["log_odds"]["shape"] = [1 << 20, 1 << 9]
    bomb = bytes(1 << 26)
    files_made = [forged(header, parts), forged(*_with_bomb(bomb))]
    for made in files_made:
        tracemalloc.start()
        with pytest.raises(InputError):
            files.from_bytes(made)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 1 << 23


def _with_bomb(content: bytes) -> tuple[dict, dict[str, bytes]]:
    """A part that unpacks to far more than its array takes."""
    header, parts = _good()
    return header, {**parts, "log_odds": content}


def test_a_part_that_holds_more_than_it_declares_is_refused():
    header, parts = _good()
    made = forged(header, {**parts, "log_odds": parts["log_odds"] + bytes(1000)})
    true, false = len(parts["log_odds"]) + 1000, len(parts["log_odds"])
    body = made[:-64].replace(struct.pack("<I", true), struct.pack("<I", false))
    assert body != made[:-64]
    with pytest.raises(InputError):
        files.from_bytes(signed(body))


def test_where_nothing_can_be_read_the_file_is_named(tmp_path):
    with pytest.raises(InputError, match=r"cannot read .*none\.evidence: No such file"):
        evidence.load(tmp_path / "none.evidence")
    with pytest.raises(InputError, match="cannot read"):
        evidence.load(tmp_path)
    with pytest.raises(InputError, match="ends in"):
        evidence.save(tmp_path / "digits.nc", outputs())
    text = tmp_path / "text.evidence"
    text.write_text("log_odds,member\n1,0\n")
    with pytest.raises(InputError, match="no evidence, or damaged"):
        evidence.load(text)


@pytest.mark.slow
def test_a_file_is_no_larger_than_its_numbers_need(path):
    # 17 of 32 bits of a number and one of the truth, and what the exponents save.
    made = outputs(128, 4000)
    count = made["log_odds"].size
    assert evidence.save(path, made).stat().st_size < count * 2.7
    assert np.isfinite(evidence.load(path)["log_odds"]).all()


@given(st.data())
def test_every_bit_comes_back(data):
    dtype = data.draw(st.sampled_from(["float32", "float64", "int32", "uint8", "bool"]))
    shape = data.draw(arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5))
    values = data.draw(arrays.arrays(dtype, shape))
    payload = encode(values)
    assert len(payload) == size_of(dtype, shape)
    found = decode(payload, dtype, shape)
    assert found.dtype == values.dtype
    assert found.shape == values.shape
    assert found.tobytes() == values.tobytes()


def test_bytes_of_one_place_lie_together():
    values = np.array([0x01020304, 0x11121314], dtype=np.int32)
    assert encode(values).hex() == "0414031302120111"
    assert encode(values.astype(">i4")) == encode(values)


def test_a_truth_value_takes_a_bit():
    assert encode(np.array([True, False, False, True] + [False] * 5)) == bytes([0b1001, 0])


def test_a_payload_of_another_length_is_refused():
    with pytest.raises(InputError, match="7 bytes for an array of float32"):
        decode(bytes(7), "float32", (2,))


@pytest.mark.parametrize("extra", [b"", b"\x99\x99\x04\x00abcd"])
def test_a_window_is_found_behind_whatever_a_member_says_more(extra):
    content = io.BytesIO()
    member = zipfile.ZipInfo("log_odds")
    member.compress_type, member.extra = zipfile.ZIP_LZMA, extra
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr(member, bytes(1000))
    with zipfile.ZipFile(content) as archive:
        # What LZMA's own settings take: 8 MiB.
        assert files._window(archive, archive.getinfo("log_odds")) == 2**23


def test_what_all_arrays_take_is_counted_together(monkeypatch):
    made = outputs()
    whole = files.to_bytes(made)
    largest = max(one.size * one.dtype.itemsize for one in made.variables.values())
    monkeypatch.setattr(files, "MOST_ARRAYS", largest)
    with pytest.raises(InputError, match="it declares"):
        files.from_bytes(whole)
