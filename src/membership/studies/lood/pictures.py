"""Records as cells of a table: what `membership.plots.image_grid` draws."""

from typing import Any

import numpy as np

from membership.metrics.arrays import FloatArray


def cells(image: Any, shown: bool = True) -> dict[str, str]:
    """A picture's shape and pixels as two cells.

    Parameters
    ----------
    image : array of shape (channels, height, width)
        In [0, 1]; what lies outside is cut off. A record of features only gives empty cells.
    shown : bool
        False gives empty cells.
    """
    image = np.asarray(image)
    if not shown or image.ndim != 3:
        return {"shape": "", "pixels": ""}
    pixels = np.rint(255 * np.clip(image, 0, 1)).astype(int)
    return {
        "shape": "x".join(map(str, image.shape)),
        "pixels": " ".join(map(str, pixels.ravel())),
    }


def stretched(image: Any) -> FloatArray:
    """A picture shifted and scaled to fill [0, 1], for what has no scale of its own."""
    image = np.asarray(image, dtype=np.float64)
    spread = np.ptp(image)
    return (image - image.min()) / (spread if spread > 0 else 1.0)


def correlation(one: Any, other: Any) -> float:
    """Pearson's correlation of two records' entries; 0 where one is constant."""
    a, b = (np.asarray(part, dtype=np.float64).ravel() for part in (one, other))
    a, b = a - a.mean(), b - b.mean()
    size = np.linalg.norm(a) * np.linalg.norm(b)
    return float(a @ b / size) if size > 0 else 0.0
