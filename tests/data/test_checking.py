"""What ``membership data check`` reports."""

import numpy as np
import pytest

from membership.data import check, record_digest
from membership.errors import InputError


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


def test_unknown_name():
    with pytest.raises(InputError, match="did you mean 'mnist'"):
        check("minst")
