"""Pictures in folders, one folder a class: listed, or decoded into memory."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from tqdm import tqdm

from membership import memory
from membership.data.npz import Prepared
from membership.errors import InputError

if TYPE_CHECKING:
    from PIL.Image import Image

SUFFIXES = (".jpeg", ".jpg", ".png")
_EIGHT_BITS = ("1", "L", "LA", "P", "PA", "RGB", "RGBA", "CMYK", "YCbCr", "HSV", "LAB")
_TO_16_BITS = 257
"""65,535 / 255: what a byte is multiplied by to be the same share of its range."""


@dataclass(frozen=True, eq=False)
class ImageFolder:
    """The list of a folder's images; their pixels stay on disk.

    Attributes
    ----------
    root : pathlib.Path
        The folder that holds one folder a class.
    files : ndarray of str, shape (records,)
        Paths below `root` with forward slashes, sorted.
    y : ndarray of int64, shape (records,)
        Labels 0..C-1, the place of the class in `classes`.
    classes : tuple of str
        Names of the class folders, sorted.
    digest : str
        SHA-256 over names and sizes of all files, not over their content: reading the 140 GB of
        ImageNet for a digest would take as long as an epoch.
    """

    root: Path
    files: np.ndarray
    y: np.ndarray
    classes: tuple[str, ...]
    digest: str

    def __len__(self) -> int:
        return len(self.files)

    def open(self, record: int) -> "Image":
        """Decode one image in 8 bits; Pillow itself would cut off what is above."""
        from PIL import Image

        with _opened(self.root / str(self.files[record])) as image:
            if image.mode.startswith("I;16"):
                grey = np.rint(np.asarray(image).astype(np.float64) / _TO_16_BITS)
                return Image.fromarray(grey.astype(np.uint8)).convert("RGB")
            return image.convert("RGB")

    def pixels(self, record: int) -> np.ndarray:
        """Decode one image as bytes of three colours, or as 16-bit numbers of grey.

        Raises
        ------
        InputError
            The file cannot be read, is transparent in places, or its numbers have no known range.
        """
        path = self.root / str(self.files[record])
        with _opened(path) as image:
            if image.mode.startswith("I;16"):
                return np.asarray(image).astype(np.uint16)[..., None]
            if image.mode not in _EIGHT_BITS:
                raise InputError(f"{path} is of mode {image.mode}; save it in 8 or 16 bits a pixel")
            alpha = image.convert("RGBA").getchannel("A") if image.has_transparency_data else None
            if alpha and np.asarray(alpha).min() < 255:
                raise InputError(f"{path} is transparent in places; give it a background")
            return np.asarray(image.convert("RGB"))

    def check(self, progress: bool = True) -> None:
        """Read the header of every image, which finds files that are empty or no image at all.

        A file cut short behind its header shows only when it is decoded.
        """
        for file in tqdm(self.files, unit="image", desc="check", disable=not progress):
            with _opened(self.root / str(file)):
                pass


def list_images(root: Path | str) -> ImageFolder:
    """List the images of a folder that holds one folder a class.

    Parameters
    ----------
    root : path
        Holds ``<class>/<image>.JPEG`` (or .jpg, .png); names that start with a dot are skipped.

    Returns
    -------
    ImageFolder

    Raises
    ------
    InputError
        The folder is missing, has fewer than two classes, or a class has no image.
    """
    root = Path(root)
    if not root.is_dir():
        raise InputError(f"{root}: no such folder; expected one folder a class with its images")
    classes = sorted(p.name for p in root.iterdir() if p.is_dir() and p.name[0] != ".")
    if len(classes) < 2:
        raise InputError(
            f"{root}: {len(classes)} class folders; expected two or more, each with its images"
        )
    files, labels, listing = [], [], hashlib.sha256()
    for label, name in enumerate(classes):
        images = sorted(p for p in (root / name).iterdir() if _is_image(p))
        if not images:
            raise InputError(f"{root / name}: no image; expected files ending in .JPEG or .png")
        for image in images:
            files.append(f"{name}/{image.name}")
            listing.update(f"{files[-1]}\0{image.stat().st_size}\n".encode())
        labels += [label] * len(images)
    y = np.array(labels, dtype=np.int64)
    return ImageFolder(root, np.array(files), y, tuple(classes), listing.hexdigest())


def _is_image(path: Path) -> bool:
    return path.suffix.lower() in SUFFIXES and path.name[0] != "."


@contextmanager
def _opened(path: Path) -> Iterator["Image"]:
    """An open image, whose every way of being unreadable is an InputError."""
    # Here and not above: what only lists data sets should not wait for the decoders.
    from PIL import Image

    try:
        with Image.open(path) as image:
            yield image
    except (OSError, SyntaxError, Image.DecompressionBombError) as error:
        raise InputError(f"{path}: unreadable image ({error}); replace or remove it") from error


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
    if (needed := 3 * len(images) * size[0] * size[1]) > memory.available():
        raise InputError(f"{folder}: its images take {needed:,} bytes, more memory than is free")
    decoded = [_of_size(images, record, size) for record in range(len(images))]
    if any(pixels.dtype == np.uint16 for pixels in decoded):
        decoded = [_in_16_bits(pixels) for pixels in decoded]
    pixels = np.stack(np.broadcast_arrays(*decoded))
    if (pixels[..., :1] == pixels).all():
        pixels = pixels[..., :1]
    return Prepared(pixels, images.y, None)


def _of_size(images: ImageFolder, record: int, size: tuple[int, int]) -> np.ndarray:
    pixels = images.pixels(record)
    if pixels.shape[1::-1] != size:
        first, this = ("{} x {}".format(*one) for one in (size, pixels.shape[1::-1]))
        raise InputError(
            f"{images.root / str(images.files[record])} has {this} pixels and {images.files[0]} "
            f"{first}; bring all images to one size, such as 32 x 32"
        )
    return pixels


def _in_16_bits(pixels: np.ndarray) -> np.ndarray:
    return pixels if pixels.dtype == np.uint16 else pixels.astype(np.uint16) * _TO_16_BITS
