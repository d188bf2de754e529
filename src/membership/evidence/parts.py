"""What evidence is put together from, found part by part and kept, so that jobs can share it."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from membership import shares
from membership.evidence.gathering import innermost, version_of, versions
from membership.training.cache import Cache, digest
from membership.training.sgd import VERSION as TRAINING

Arrays = dict[str, np.ndarray]


def in_parts(function: Callable[[Any], Arrays], items: Sequence[Any], *inputs: Any) -> list[Arrays]:
    """What a function finds for each item, from the cache where it is there.

    Parameters
    ----------
    function : callable
        Takes an item and returns arrays by name. What it is bound to by `functools.partial` has to
        be among the inputs.
    items : sequence of JSON values
    *inputs : numpy.ndarray, torch.Tensor or JSON values
        Everything beside function and item that determines what is found.

    Returns
    -------
    list of dict of str to numpy.ndarray
        In the order of the items.

    Raises
    ------
    InputError
        The cache cannot be written to; set ``MEMBERSHIP_CACHE``.
    """
    cache = Cache()
    inner = innermost(function)
    name = [inner.__module__, inner.__qualname__]
    common = digest(name, version_of(function), TRAINING, versions(), *inputs)
    found = {}
    for place in shares.rotated(range(len(items))):
        key = digest(common, items[place])
        with cache.lock(key):
            kept = cache.load(key)
            if kept is None:
                made = function(items[place])
                kept = {name: torch.tensor(value) for name, value in made.items()}
                cache.save(key, kept)
        found[place] = {name: tensor.numpy() for name, tensor in kept.items()}
    return [found[place] for place in range(len(items))]
