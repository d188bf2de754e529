"""A user's own folder of images, one folder a class, as arrays in memory."""

from pathlib import Path

import numpy as np

from membership.data.image_folder import ImageFolder, list_images
from membership.data.npz import Prepared, free_memory
from membership.errors import InputError


def read(folder: Path) -> Prepared:
    """Decode every image of a folder; in grey where all of them are grey.

    Raises
    ------
    InputError
        There are fewer than two folders of images, a file is no image, images differ in size, or
        they would not fit into memory.
    """
    try:
        images = list_images(folder)
    except InputError as error:
        raise InputError(f"dataset={str(folder)!r}: {error}") from None
    size = images.open(0).size
    if (needed := 3 * len(images) * size[0] * size[1]) > free_memory():
        raise InputError(f"{folder}: its images take {needed:,} bytes, more memory than is free")
    pixels = np.stack([_pixels(images, record, size) for record in range(len(images))])
    if (pixels[..., :1] == pixels).all():
        pixels = pixels[..., :1]
    return Prepared(pixels, images.y, None)


def _pixels(images: ImageFolder, record: int, size: tuple[int, int]) -> np.ndarray:
    image = images.open(record)
    if image.size != size:
        first, this = ("{} x {}".format(*one) for one in (size, image.size))
        raise InputError(
            f"{images.root / str(images.files[record])} has {this} pixels and {images.files[0]} "
            f"{first}; bring all images to one size, such as 32 x 32"
        )
    return np.asarray(image)
