"""A reader's own folder of images, one folder a class."""

import numpy as np
import pytest
from PIL import Image

from membership.book import manifest
from membership.data import load
from membership.data.loading import input_files
from membership.errors import InputError

RNG = np.random.default_rng(0)
PIXELS = RNG.integers(0, 256, (6, 5, 4, 3), dtype=np.uint8)


@pytest.fixture
def photos(tmp_path):
    for i, pixels in enumerate(PIXELS):
        folder = tmp_path / "photos" / ("cat", "dog")[i % 2]
        folder.mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).save(folder / f"{i}.png")
    return tmp_path / "photos"


def test_images_are_records_and_folders_are_classes(photos):
    found = load(photos)
    order = [0, 2, 4, 1, 3, 5]
    expected = PIXELS[order].transpose(0, 3, 1, 2) / np.float32(255)
    np.testing.assert_array_equal(found.x, expected.astype(np.float32))
    np.testing.assert_array_equal(found.y, [0, 0, 0, 1, 1, 1])
    assert (found.name, found.n_classes) == ("photos", 2)
    assert load(f"{photos}/").digest == found.digest
    assert "folder photos, 6 records" in found.source


def test_grey_images_have_one_channel(photos):
    for path in photos.rglob("*.png"):
        Image.open(path).convert("L").save(path)
    assert load(photos).x.shape == (6, 1, 5, 4)


def test_sixteen_bits_are_scaled_by_their_range(photos):
    rng = np.random.default_rng(1)
    deep = {path: rng.integers(0, 65536, (5, 4)) for path in sorted(photos.rglob("*.png"))}
    for path, pixels in deep.items():
        Image.fromarray(pixels.astype(np.uint16)).save(path)
    wanted = np.stack(list(deep.values())) / 65535
    np.testing.assert_allclose(load(photos).x[:, 0], wanted, rtol=1e-6)
    grey = rng.integers(0, 256, (5, 4), dtype=np.uint8)
    Image.fromarray(grey).save(next(iter(deep)))
    np.testing.assert_allclose(load(photos).x[0, 0], grey / 255, rtol=1e-6)
    np.testing.assert_allclose(load(photos).x[1:, 0], wanted[1:], rtol=1e-6)
    Image.fromarray(PIXELS[0]).save(next(iter(deep)))
    np.testing.assert_allclose(load(photos).x[0], PIXELS[0].transpose(2, 0, 1) / 255, rtol=1e-6)


@pytest.mark.parametrize(
    ("mode", "colour", "expected"),
    [("1", 1, 255), ("P", 0, 0), ("LA", (9, 255), 9), ("CMYK", (0, 0, 0, 255), 0)],
)
def test_other_modes_are_read_in_their_colours(photos, mode, colour, expected):
    for path in photos.rglob("*.png"):
        Image.new(mode, (4, 5), colour).save(path, "JPEG" if mode == "CMYK" else "PNG")
    np.testing.assert_allclose(load(photos).x, expected / 255, atol=1e-6)


@pytest.mark.parametrize(
    ("mode", "colour", "message"),
    [("RGBA", (9, 9, 9, 30), "transparent in places"), ("F", 0.5, "mode F"), ("I", 7, "mode I")],
)
def test_what_has_no_known_colour_is_refused(photos, mode, colour, message):
    Image.new(mode, (4, 5), colour).save(photos / "cat/2.png", "TIFF" if mode in "FI" else "PNG")
    with pytest.raises(InputError, match=f"cat/2.png is .*{message}"):
        load(photos)


def test_a_folder_whose_name_ends_like_a_change_is_that_folder(photos):
    plain = load(photos)
    for ending in ("-odd", "-standardised"):
        again = photos.rename(photos.with_name(f"cats{ending}"))
        for address in (again, f"{again}/", str(again)):
            found = load(address)
            assert (found.name, found.digest) == (f"cats{ending}", plain.digest)
        photos = again


def test_a_changed_image_is_another_input(photos):
    assert input_files({"dataset": str(photos)}) == [photos]
    before = manifest.digest_of(photos)
    assert manifest.digest_of(photos) == before
    Image.new("RGB", (4, 5)).save(photos / "cat" / "0.png")
    assert manifest.digest_of(photos) != before


def test_images_of_different_sizes_are_refused(photos):
    Image.new("RGB", (9, 7)).save(photos / "dog" / "3.png")
    with pytest.raises(InputError, match=r"dog/3.png has 9 x 7 pixels and cat/0.png 4 x 5; bring"):
        load(photos)


def test_a_folder_without_classes_is_refused(photos):
    with pytest.raises(InputError, match="0 class folders; expected two or more"):
        load(photos / "cat")


def test_an_own_file_is_never_taken_for_a_public_set(tmp_path):
    np.savez(tmp_path / "digits.npz", x=RNG.normal(size=(6, 3)), y=np.arange(6) % 2)
    assert load(tmp_path / "digits.npz").name == "own-digits"
