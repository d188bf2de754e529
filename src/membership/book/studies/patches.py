"""CIFAR described by fixed filters, so that a small network learns it on two cores.

The addresses are ``cifar10-patches`` and ``cifar100-patches``. No filter is trained: each is a
patch of an image of the *other* set, and the principal components are of those images too, so that
nothing of any query is in them.
"""

import hashlib
from dataclasses import replace
from typing import Any

import numpy as np

from membership import data
from membership.arrays import FloatArray

PATCHES, PATCHES_100 = "cifar10-patches", "cifar100-patches"
SOURCES = {PATCHES: ("cifar10", "cifar100_20k"), PATCHES_100: ("cifar100_20k", "cifar10")}
"""Whose images are described, and whose patches describe them."""
_WORDS = {"cifar10": "CIFAR-10", "cifar100_20k": "CIFAR-100"}
SIDE, STRIDE, FILTERS, COMPONENTS = 6, 1, 256, 512
# Patches that whiten, and images that give the principal components.
_WHITENING, _REDUCING = 100_000, 5000
_SMALL_VARIANCE, _SMALL_EIGENVALUE = 10 / 255**2, 0.1
_AT_ONCE = 32
_VERSION = "patches 1"


def load(name: str, root: Any = None) -> data.Dataset:
    """A data set of the registry or a reader's own; or CIFAR described, kept in the cache."""
    return _described(name, root) if name in SOURCES else data.load(name, root=root)


def outline(name: str, root: Any = None) -> data.Outline:
    """The measures of a data set; nothing is described for it."""
    if name not in SOURCES:
        return data.outline(name, root)
    images, _ = (data.outline(source, root) for source in SOURCES[name])
    n = images.n_records
    return data.Outline(name, n, n, (COMPONENTS,), images.n_classes, None)


def layout(name: str, root: Any = None) -> data.Layout:
    """What a record is, wherever the records of a named set lie."""
    if name not in SOURCES:
        return data.layout(name, root)
    images, _ = (data.layout(source, root) for source in SOURCES[name])
    return data.Layout((COMPONENTS,), images.n_classes, COMPONENTS)


def require_known(names: list[str], root: Any = None) -> None:
    """Refuse names that no data set has, before any is loaded."""
    plain = [source for name in names for source in SOURCES.get(name, (name,))]
    data.require_known(plain, root)


def _described(name: str, root: Any) -> data.Dataset:
    import torch

    from membership.training.cache import Cache

    images, other_images = (data.load(part, root=root) for part in SOURCES[name])
    sizes = (SIDE, STRIDE, FILTERS, COMPONENTS, _WHITENING, _REDUCING, _VERSION)
    key = hashlib.sha256(f"{images.digest} {other_images.digest} {sizes}".encode()).hexdigest()
    cache = Cache()
    with cache.lock(key):
        kept = cache.load(key)
        if kept is None:
            kept = {"x": torch.tensor(reduced(images.x, other_images.x))}
            cache.save(key, kept)
    patches = f"{FILTERS} patches of {_WORDS[SOURCES[name][1]]} images"
    source = f"{images.source} Described by {patches}."
    return replace(
        images, x=kept["x"].numpy(), name=name, source=source, digest=key, verified=False
    )


def reduced(x: FloatArray, other_images: FloatArray) -> FloatArray:
    """Principal components of images' responses, of other images' variance; mean square 1."""
    filters = Filters(other_images)
    sample = np.random.default_rng(1).permutation(len(other_images))[:_REDUCING]
    known = filters.responses(other_images[sample]).astype(np.float64)
    mean, scale = known.mean(axis=0), known.std(axis=0) + 1e-6
    known = (known - mean) / scale
    values, vectors = np.linalg.eigh(known.T @ known / len(known))
    onto = vectors[:, -COMPONENTS:] / np.sqrt(values[-COMPONENTS:].mean())
    components = [
        ((filters.responses(part) - mean) / scale) @ onto
        for part in np.array_split(x, max(1, len(x) // 2000))
    ]
    return np.concatenate(components).astype(np.float32)


class Filters:
    """Whitened patches of some images, to be compared with every patch of others.

    After Coates, Lee and Ng (2011), who find that patches drawn at random do nearly as well as
    learnt filters: a patch is brought to mean 0 and variance 1 and whitened; its product with a
    filter counts beyond 1, in either direction, averaged over each quarter of the image.
    """

    def __init__(self, images: FloatArray) -> None:
        rng = np.random.default_rng(0)
        patches = _normalised(_patches(images, _WHITENING, rng))
        self.mean = patches.mean(axis=0)
        values, vectors = np.linalg.eigh(np.cov(patches.T))
        whiten = (vectors / np.sqrt(values + _SMALL_EIGENVALUE)) @ vectors.T
        own = (_normalised(_patches(images, FILTERS, rng)) - self.mean) @ whiten
        own /= np.linalg.norm(own, axis=1, keepdims=True)
        self.weight = own @ whiten
        self.channels = images.shape[1]

    def responses(self, x: FloatArray) -> FloatArray:
        """Of shape (images, 8 x filters)."""
        import torch
        from torch.nn import functional

        filters, centre = (torch.tensor(v, dtype=torch.float32) for v in (self.weight, self.mean))
        kernel = filters.reshape(-1, self.channels, SIDE, SIDE)
        total, shift = (v[None, :, None, None] for v in (filters.sum(1), filters @ centre))
        responses = []
        for part in torch.tensor(np.asarray(x), dtype=torch.float32).split(_AT_ONCE):
            mean, square = (
                functional.avg_pool2d(v, SIDE, STRIDE).mean(1, keepdim=True)
                for v in (part, part**2)
            )
            sd = torch.sqrt((square - mean**2).clamp_min(0) + _SMALL_VARIANCE)
            # A filter's product with a patch brought to mean 0 and variance 1, and whitened.
            product = (functional.conv2d(part, kernel, stride=STRIDE) - mean * total) / sd - shift
            signed = (functional.relu(response - 1) for response in (product, -product))
            responses += [
                torch.cat([functional.adaptive_avg_pool2d(b, 2).flatten(1) for b in signed], 1)
            ]
        return torch.cat(responses).numpy()


def _patches(images: FloatArray, n: int, rng: np.random.Generator) -> FloatArray:
    which = rng.integers(len(images), size=n)
    top, left = rng.integers(images.shape[2] - SIDE + 1, size=(2, n))
    cut = [
        images[i, :, a : a + SIDE, b : b + SIDE] for i, a, b in zip(which, top, left, strict=True)
    ]
    return np.stack(cut).reshape(n, -1).astype(np.float64)


def _normalised(patches: FloatArray) -> FloatArray:
    centred = patches - patches.mean(axis=1, keepdims=True)
    return centred / np.sqrt(patches.var(axis=1, keepdims=True) + _SMALL_VARIANCE)
