"""Evidence is gathered once: it is found again while version, inputs and libraries are the same.

What a gathering function finds is named by a number that its author raises (`version`), not by a
digest of its code: only the author knows whether an edit changes what is found.
"""

import hashlib
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
import xarray as xr

from membership import paths, shared_work
from membership.errors import InputError
from membership.evidence.files import SUFFIX, load, save
from membership.evidence.schema import canonical, plain
from membership.training import device_of
from membership.training.cache import Cache, digest
from membership.training.sgd import VERSION as TRAINING

Function = TypeVar("Function", bound=Callable[..., Any])

FIRST = 1
"""The version of a gathering function that states none, and of evidence that names none."""

LIBRARIES = ("numpy", "scipy", "scikit-learn", "torch", "laplace-torch", "jax", "neural-tangents")


def gathered(
    name: str, function: Callable[[], xr.Dataset], inputs: Mapping[str, Any], folder: Path | str
) -> xr.Dataset:
    """Evidence from the cache where it is there, else from the function; written to a folder.

    Parameters
    ----------
    name : str
        Of the file, without folder and suffix.
    function : callable
        Gathers the evidence; takes nothing (bind what it needs with `functools.partial`).
    inputs : mapping of str to JSON values
        Everything beside the function that determines the evidence: chapter and parameters. The
        content of a file that one of them names counts, not its path.
    folder : pathlib.Path or str
        Where the run keeps its evidence.

    Returns
    -------
    xarray.Dataset
        What the file in the folder holds, read back from the cache. Its attributes say by which
        version of the function, with which libraries and from which inputs it was gathered.

    Raises
    ------
    InputError
        The evidence does not fit its kind, or a folder cannot be written to.
    """
    cached = in_cache(name, function, inputs)
    found = load(cached)
    # Writing it again would give the same bytes, and compress them once more.
    paths.atomic_write(Path(folder) / f"{name}{SUFFIX}", cached.read_bytes())
    return found


def in_cache(name: str, function: Callable[[], xr.Dataset], inputs: Mapping[str, Any]) -> Path:
    """Gather evidence into the cache unless it is there; its file. Parameters as of `gathered`."""
    cached = address(name, function, inputs)
    paths.made_cache_dir()
    with Cache().lock(cached.stem):
        if not _is_kept(cached):
            origin = {"version": version_of(function), **_determined_by(inputs)}
            save(cached, function().assign_attrs({"key": cached.stem, **origin}))
    return cached


def address(name: str, function: Callable[[], xr.Dataset], inputs: Mapping[str, Any]) -> Path:
    """Where in the cache the evidence lies that `gathered` would return; parameters as there."""
    determined = [name, version_of(function), TRAINING, _determined_by(inputs)]
    key = hashlib.sha256(canonical(determined)).hexdigest()
    return paths.cache_dir() / "evidence" / f"{key}{SUFFIX}"


def version(number: int) -> Callable[[Function], Function]:
    """State the version of a gathering function; raise it when the function finds something else.

    Parameters
    ----------
    number : int
        Above 1, which is the version of a function that states none.

    Returns
    -------
    callable
        Decorates the function, which stays as it is.
    """

    def stated(function: Function) -> Function:
        setattr(function, "version", number)  # noqa: B010
        return function

    return stated


def version_of(function: Callable[..., Any]) -> int:
    """The version of the function behind partials."""
    return getattr(innermost(function), "version", FIRST)


@cache
def versions() -> dict[str, str]:
    """The versions of the libraries that a number in evidence may depend on; do not change them.

    Extras bring some of them: where one is not installed, no number has come from it.
    """
    return {name: _version(name) for name in LIBRARIES}


def _version(library: str) -> str:
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return "absent"


def _determined_by(inputs: Mapping[str, Any]) -> dict[str, Any]:
    said = {key: _content(plain(key, value)) for key, value in sorted(inputs.items())}
    said["device"] = str(device_of(said.get("device") or "auto"))
    return {"inputs": said, "versions": versions()}


def _is_kept(path: Path) -> bool:
    """Whether the cache holds this evidence; what is not what its name says is removed."""
    if not path.is_file():
        return False
    try:
        if load(path).attrs.get("key") != path.stem:
            raise InputError(f"{path} is not the evidence that its name says")
    except InputError as error:
        warnings.warn(f"{error}; it is gathered again", stacklevel=4)
        path.unlink(missing_ok=True)
        return False
    return True


def innermost(function: Any) -> Any:
    """The function behind partials."""
    while hasattr(function, "func"):
        function = function.func
    return function


def _content(value: Any) -> Any:
    """A parameter, or the digest of the file that it names."""
    if isinstance(value, list):
        return [_content(one) for one in value]
    if isinstance(value, str) and value and Path(value).is_file():
        return f"sha256 {hashlib.sha256(Path(value).read_bytes()).hexdigest()}"
    return value


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
    keys = part_keys(function, items, *inputs)
    found = {}
    for place in shared_work.rotated(range(len(items))):
        key = keys[place]
        with cache.lock(key):
            kept = cache.load(key)
            if kept is None:
                made = function(items[place])
                kept = {name: torch.tensor(value) for name, value in made.items()}
                cache.save(key, kept)
        found[place] = {name: tensor.numpy() for name, tensor in kept.items()}
    return [found[place] for place in range(len(items))]


def part_keys(function: Callable[[Any], Arrays], items: Sequence[Any], *inputs: Any) -> list[str]:
    """Where in the cache `in_parts` keeps what it finds for each item; parameters as there."""
    inner = innermost(function)
    name = [inner.__module__, inner.__qualname__]
    common = digest(name, version_of(function), TRAINING, versions(), *inputs)
    return [digest(common, item) for item in items]


@dataclass(frozen=True)
class Parts:
    """What `in_parts` is asked, for those who ask it item by item."""

    function: Callable[[Any], Arrays]
    items: Sequence[Any]
    inputs: Sequence[Any]

    def are_there(self) -> list[bool]:
        """Of each item, whether the cache holds what was found."""
        keys = part_keys(self.function, self.items, *self.inputs)
        return [Cache().path(key).is_file() for key in keys]

    def found(self, *places: int) -> list[Arrays]:
        """What is found for all items, or for those at some places."""
        some = [self.items[place] for place in places] or self.items
        return in_parts(self.function, some, *self.inputs)
