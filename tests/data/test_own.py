"""A reader's own file."""

import numpy as np
import pytest

from membership.data import load, record_digest
from membership.errors import InputError

RNG = np.random.default_rng(0)
PIXELS, Y = RNG.integers(0, 256, (8, 5, 6), dtype=np.uint8), np.arange(8) % 2


@pytest.fixture
def own(tmp_path):
    def write(**arrays):
        np.savez(tmp_path / "mine.npz", **arrays)
        return tmp_path / "mine.npz"

    return write


@pytest.mark.parametrize("as_text", [True, False])
def test_images_of_bytes_are_scaled(own, as_text):
    path = own(x_train=PIXELS[:6], y_train=Y[:6], x_test=PIXELS[6:], y_test=Y[6:])
    dataset = load(str(path) if as_text else path)
    np.testing.assert_array_equal(dataset.x[:, 0], PIXELS.astype(np.float32) / np.float32(255))
    assert (dataset.name, dataset.n_classes, dataset.verified) == ("mine", 2, False)
    assert dataset.official_train.sum() == 6
    assert dataset.digest == record_digest(PIXELS, Y, dataset.official_train)
    assert "mine.npz" in dataset.source


def test_images_of_sixteen_bits_are_scaled(own):
    deep = PIXELS.astype(np.uint16) * 257
    np.testing.assert_allclose(load(own(x=deep, y=Y)).x[:, 0], PIXELS / 255, rtol=1e-6)


def test_bytes_and_floats_in_one_file_are_refused(own):
    halves = {"x_train": PIXELS[:4], "y_train": Y[:4], "x_test": PIXELS[4:] / 255, "y_test": Y[4:]}
    with pytest.raises(InputError, match="images of x_train are uint8 and of x_test float64"):
        load(own(**halves))


def test_floats_and_tables_are_taken_as_they_are_in_the_order_of_the_file(own):
    pictures = PIXELS.astype(float)[..., None]
    np.testing.assert_array_equal(load(own(x=pictures, y=Y)).x[:, 0], pictures[..., 0])
    np.testing.assert_array_equal(load(own(x=PIXELS[:, 0], y=Y)).x, PIXELS[:, 0])


def test_a_path_needs_no_ending(own, tmp_path):
    own(x=PIXELS, y=Y).rename(tmp_path / "mine.data")
    assert len(load(f"{tmp_path}/mine.data")) == 8


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"y": np.zeros(8, dtype=int)}, "every label is 0; give at least two classes"),
        ({"x": PIXELS.astype(np.uint16)}, "are uint16 and none is above 255; give them as bytes"),
        ({"y": Y + 1}, r"the labels are 1, 2 \(up to 2\); number the 2 classes 0 to 1"),
        ({"y": Y * 2}, r"the labels are 0, 2 \(up to 2\)"),
        ({"y": np.array([-1, 0, 1, 2, 3, 4, 5, 6])}, r"-1, 0, 1, 2, 3, 4, \.\.\. \(up to 6\)"),
        ({"x": PIXELS[:0], "y": Y[:0]}, "holds no records"),
        (
            {"x": np.where(PIXELS[3, 0, 0] == PIXELS, np.nan, PIXELS)},
            "NaN, infinity or a number beyond float32, the first",
        ),
        ({"x": PIXELS.astype(float) * 1e300}, "beyond float32"),
        ({"x": np.zeros((8, 4, 4, 7))}, "1 or 3 channels"),
        ({"x": PIXELS.astype(np.int64)}, "images are int64, whose range is not known; give bytes"),
    ],
)
def test_what_no_study_could_use_is_refused(own, arrays, message):
    path = own(**{"x": PIXELS, "y": Y, **arrays})
    with pytest.raises(InputError, match=message) as caught:
        load(path)
    assert "\n" not in str(caught.value)


def test_the_first_bad_record_is_named(own):
    x = np.zeros((8, 3))
    x[[5, 6], 1] = np.nan
    with pytest.raises(InputError, match=r"2 records of x hold NaN, .* the first is record 5"):
        load(own(x=x, y=Y))
