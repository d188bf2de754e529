"""Arrays as bytes and back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from membership.errors import InputError
from membership.evidence.encoding import decode, encode, size_of

DTYPES = ("float32", "float64", "int32", "uint8", "bool")


@given(st.data())
def test_every_bit_comes_back(data):
    dtype = data.draw(st.sampled_from(DTYPES))
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
