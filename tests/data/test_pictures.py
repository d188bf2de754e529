"""Folders of images: their order, labels, digest, decoding, and every way they can be unusable."""

import numpy as np
import pytest
from PIL import Image

from membership.data.pictures import list_images
from membership.errors import InputError


def _save(path, colour, mode="RGB", size=(6, 5)):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new(mode, size, colour).save(path, "PNG")
    return path


@pytest.fixture
def folder(tmp_path):
    for name in ("n02/b.png", "n01/c.PNG", "n01/a.png"):
        _save(tmp_path / name, (10, 20, 30))
    (tmp_path / "n01" / "notes.txt").write_text("not an image")
    (tmp_path / "n01" / ".hidden.png").write_text("not an image")
    (tmp_path / ".git").mkdir()
    return tmp_path


def test_files_are_sorted_and_labelled_by_their_folder(folder):
    images = list_images(folder)
    assert images.files.tolist() == ["n01/a.png", "n01/c.PNG", "n02/b.png"]
    assert images.y.tolist() == [0, 0, 1]
    assert images.y.dtype == np.int64
    assert images.classes == ("n01", "n02")
    assert len(images) == 3


def test_digest_follows_names_and_sizes_and_not_the_place(folder, tmp_path_factory):
    first = list_images(folder).digest
    copy = tmp_path_factory.mktemp("copy")
    for name in ("n01/a.png", "n01/c.PNG", "n02/b.png"):
        _save(copy / name, (10, 20, 30))
    assert list_images(copy).digest == first
    (copy / "n02/b.png").rename(copy / "n02/d.png")
    renamed = list_images(copy).digest
    with (copy / "n01/a.png").open("ab") as file:
        file.write(b"more")
    assert len({first, renamed, list_images(copy).digest}) == 3


@pytest.mark.parametrize(
    ("mode", "colour", "expected"),
    [
        ("RGB", (10, 20, 30), (10, 20, 30)),
        ("L", 77, (77, 77, 77)),
        ("RGBA", (10, 20, 30, 255), (10, 20, 30)),
    ],
)
def test_every_mode_is_opened_as_rgb(folder, mode, colour, expected):
    _save(folder / "n01/a.png", colour, mode)
    image = list_images(folder).open(0)
    assert image.mode == "RGB"
    assert image.size == (6, 5)
    assert image.getpixel((3, 3)) == expected


def test_check_accepts_good_images_and_leaves_nothing_open(folder):
    images = list_images(folder)
    assert images.check(progress=False) is None
    assert images.open(0).size == (6, 5)


@pytest.mark.parametrize("content", [b"", b"GIF90", b"\xff\xd8\xff\xe0 no JPEG after all"])
def test_check_names_a_file_that_is_no_image(folder, content):
    (folder / "n02/b.png").write_bytes(content)
    with pytest.raises(InputError, match=r"n02/b\.png: unreadable image .*replace or remove it"):
        list_images(folder).check(progress=False)


def test_a_truncated_image_is_named_when_it_is_opened(folder):
    rng = np.random.default_rng(0)
    noise = Image.fromarray(rng.integers(0, 256, (40, 40, 3), dtype=np.uint8))
    noise.save(folder / "n02/b.png", "JPEG")
    content = (folder / "n02/b.png").read_bytes()
    (folder / "n02/b.png").write_bytes(content[: len(content) // 2])
    images = list_images(folder)
    images.check(progress=False)
    with pytest.raises(InputError, match=r"n02/b\.png: unreadable image \(image file is truncated"):
        images.open(2)


def test_a_file_that_has_gone_is_named(folder):
    images = list_images(folder)
    (folder / "n01/c.PNG").unlink()
    with pytest.raises(InputError, match=r"n01/c\.PNG: unreadable image .*No such file"):
        images.open(1)


def test_missing_folder_is_named(tmp_path):
    with pytest.raises(InputError, match="train: no such folder; expected one folder a class"):
        list_images(tmp_path / "train")


def test_fewer_than_two_classes_are_refused(tmp_path):
    with pytest.raises(InputError, match="0 class folders; expected two or more"):
        list_images(tmp_path)
    _save(tmp_path / "n01/a.png", (1, 2, 3))
    with pytest.raises(InputError, match="1 class folders; expected two or more"):
        list_images(tmp_path)


def test_a_class_without_images_is_named(folder):
    (folder / "n03").mkdir()
    with pytest.raises(InputError, match="n03: no image; expected files ending in"):
        list_images(folder)
