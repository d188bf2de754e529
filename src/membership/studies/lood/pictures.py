"""Records as cells of a table: what `membership.plots.image_grid` draws."""

from typing import Any

import numpy as np

from membership.arrays import FloatArray


def thumbnail(image: Any) -> np.ndarray:
    """A picture of [0, 1] in grey levels from 0 to 255; what lies outside is cut off."""
    return np.rint(255 * np.clip(image, 0, 1)).astype(np.uint8)


def cells(levels: Any) -> dict[str, str]:
    """Shape and pixels of a thumbnail (channels, height, width) as two cells; None leaves them
    empty."""
    if levels is None:
        return {"shape": "", "pixels": ""}
    levels = np.asarray(levels)
    return {
        "shape": "x".join(map(str, levels.shape)),
        "pixels": " ".join(map(str, levels.ravel())),
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
