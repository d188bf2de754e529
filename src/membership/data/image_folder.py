"""Images in folders, one folder a class: for data sets too large to hold in memory."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from tqdm import tqdm

from membership.errors import InputError

if TYPE_CHECKING:
    from PIL.Image import Image

SUFFIXES = (".jpeg", ".jpg", ".png")


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
        """Decode one image."""
        with _opened(self.root / str(self.files[record])) as image:
            return image.convert("RGB")

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
