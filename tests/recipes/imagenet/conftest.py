"""A tiny ImageNet: three classes of noisy images, each class with a colour of its own."""

import numpy as np
import pytest
from PIL import Image

from membership.data.pictures import list_images

COLOURS = {"n01440764": (200, 60, 60), "n01443537": (60, 200, 60), "n02102040": (60, 60, 200)}
PER_CLASS = 9


@pytest.fixture
def imagenet(tmp_path):
    """The root of a folder laid out as ImageNet is; images differ in size, a few are grey."""
    rng = np.random.default_rng(0)
    for name, colour in COLOURS.items():
        folder = tmp_path / "imagenet" / "train" / name
        folder.mkdir(parents=True)
        for number in range(PER_CLASS):
            height, width = rng.integers(38, 60, size=2)
            pixels = rng.normal(colour, 50, size=(height, width, 3)).clip(0, 255)
            image = Image.fromarray(pixels.astype(np.uint8))
            if number == 0:
                image = image.convert("L")
            image.save(folder / f"{name}_{number}.JPEG")
    return tmp_path / "imagenet"


@pytest.fixture
def folder(imagenet):
    return list_images(imagenet / "train")


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """A cache of the test's own."""
    monkeypatch.setenv("MEMBERSHIP_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def damaged(imagenet):
    """An image cut short behind its header."""
    path = next((imagenet / "train" / "n02102040").iterdir())
    path.write_bytes(path.read_bytes()[:400])
    return path
