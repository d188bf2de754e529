"""ImageNet's images as batches: resizing, cropping, flipping, in a few lines of PIL and NumPy."""

from collections.abc import Iterator

import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset

from membership.data.pictures import ImageFolder
from membership.errors import InputError

# As Table 3 spells them, by increasing intensity.
AUGMENTATIONS = ("None", r"Flip, Crop $\pm 5$", "Flip, Crop")
SHIFT, SHIFTED = 5, 224
"""Pixels either way, of a crop of so many."""

# The usual means and standard deviations of ImageNet's red, green and blue, for pixels in [0, 1].
MEAN = torch.tensor([0.485, 0.456, 0.406])[:, None, None]
STANDARD_DEVIATION = torch.tensor([0.229, 0.224, 0.225])[:, None, None]


class Crops(Dataset):
    """The images of a folder, resized, cropped and normalised; one epoch's view of them.

    Parameters
    ----------
    folder : ImageFolder
    size : int
        Pixels of a crop each way. The shorter side of an image is first resized to 8/7 of it,
        256 for 224.
    augmentation : str
        One of `AUGMENTATIONS`. "None": the central crop. The second: the central crop moved by
        -5..5 pixels of 224 each way (of smaller crops in proportion, one at least), and mirrored
        with probability one half. "Flip, Crop": any crop of the resized image, all equally
        likely, mirrored likewise.
    seed : tuple of int
        Draws for a record depend on this and on the record, not on the order or the worker.
    """

    def __init__(
        self, folder: ImageFolder, size: int, augmentation: str = "None", seed: tuple[int, ...] = ()
    ) -> None:
        self.folder = folder
        self.size = size
        self.augmentation = augmentation
        self.seed = seed

    def __getitem__(self, record: int) -> tuple[torch.Tensor, int]:
        image = resized(self.folder.open(record), round(self.size * 256 / 224))
        rng = np.random.default_rng([*self.seed, record])
        left, top = corner(image.size, self.size, self.augmentation, rng)
        pixels = np.array(image.crop((left, top, left + self.size, top + self.size)))
        if self.augmentation != "None" and rng.random() < 0.5:
            pixels = pixels[:, ::-1].copy()
        x = torch.from_numpy(pixels).permute(2, 0, 1).float() / 255
        return (x - MEAN) / STANDARD_DEVIATION, int(self.folder.y[record])


def resized(image: Image.Image, shorter: int) -> Image.Image:
    """An image whose shorter side has `shorter` pixels, its proportions kept (bilinear)."""
    scale = shorter / min(image.size)
    width, height = (max(shorter, round(side * scale)) for side in image.size)
    return image.resize((width, height), Image.Resampling.BILINEAR)


def corner(
    image_size: tuple[int, int], size: int, augmentation: str, rng: np.random.Generator
) -> tuple[int, int]:
    """Left and top of a crop of `size` pixels each way; parameters as for `Crops`."""
    free = np.array(image_size) - size
    if augmentation == "None":
        place = free // 2
    elif augmentation == "Flip, Crop":
        place = rng.integers(0, free + 1)
    else:
        # A seventh of the crop is free, more than three times what it moves.
        most = max(1, round(SHIFT * size / SHIFTED))
        place = free // 2 + rng.integers(-most, most + 1, size=2)
    return int(place[0]), int(place[1])


def batches(
    crops: Crops, order: np.ndarray, batch_size: int, workers: int, device: torch.device
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Batches of images and labels, on the device."""
    loader = DataLoader(
        crops,
        batch_size,
        sampler=order.tolist(),
        num_workers=workers,
        pin_memory=device.type == "cuda",
    )
    try:
        for x, y in loader:
            yield x.to(device, non_blocking=True), y.to(device, non_blocking=True)
    except InputError as error:
        # A worker's error arrives with its whole stack as the message; its last line is ours.
        line = str(error).strip().splitlines()[-1]
        raise InputError(line.removeprefix(f"{InputError.__module__}.InputError: ")) from error
