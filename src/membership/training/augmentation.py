"""Flips and crops of images while a model is trained."""

import numpy as np
import torch
import torch.nn.functional as F

REACH = {"flip-and-shift": 1, "flip-and-crop": 4}
"""Pixels that a window of the image moves either way, by augmentation."""
AUGMENTATIONS = ("none", *REACH)
# A stream of its own: the order of the batches has that of the seed and the epoch alone.
_STREAM = 1


def drawn(seed: int, epoch: int, n_members: int, reach: int) -> np.ndarray:
    """What happens to each member of one model in one epoch, in the order of its batches.

    Parameters
    ----------
    seed, epoch : int
        As for `membership.training.batch_order`.
    n_members : int
    reach : int
        Pixels of padding on each side, at least 1.

    Returns
    -------
    numpy.ndarray of int, shape (members, 3)
        How far the window lies from the top and from the left of the padded image, 0 to
        ``2 * reach`` (`reach`: the image itself), and whether it is mirrored, 0 or 1.
    """
    rng = np.random.default_rng([seed, epoch, _STREAM])
    return rng.integers([2 * reach + 1, 2 * reach + 1, 2], size=(n_members, 3))


def moved(images: torch.Tensor, moves: torch.Tensor, reach: int) -> torch.Tensor:
    """Pad images with zeros, take a window of the old size, mirror it or not.

    Parameters
    ----------
    images : torch.Tensor, shape (records, channels, height, width)
    moves : torch.Tensor of int, shape (records, 3)
        Rows of `drawn`.
    reach : int
        As for `drawn`.

    Returns
    -------
    torch.Tensor
        Of the same shape.
    """
    height, width = images.shape[-2:]
    padded = F.pad(images, (reach,) * 4)
    down, across, mirrored = moves.unbind(1)
    columns = torch.arange(width, device=images.device).expand(len(images), width)
    columns = torch.where(mirrored[:, None] == 1, columns.flip(1), columns) + across[:, None]
    lines = down[:, None] + torch.arange(height, device=images.device)
    record = torch.arange(len(images), device=images.device)[:, None, None]
    # Indices round a slice come first: (records, height, width, channels).
    found = padded[record, :, lines[:, :, None], columns[:, None, :]]
    return found.permute(0, 3, 1, 2)
