"""Trained models on disk: named by what determines them, whole or not there at all."""

import hashlib
import json
import warnings
from collections.abc import Iterable
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import safetensors
import safetensors.torch
import torch
from filelock import FileLock

from membership import paths
from membership.errors import InputError

Tensors = dict[str, torch.Tensor]


def digest(*parts: object) -> str:
    """SHA-256 over arrays, tensors and JSON values, in order.

    Parameters
    ----------
    *parts : numpy.ndarray, torch.Tensor, or anything ``json`` can write
        Arrays count with their dtype and shape.

    Returns
    -------
    str
        64 hexadecimal digits.
    """
    total = hashlib.sha256()
    for part in parts:
        if isinstance(part, torch.Tensor):
            part = part.detach().cpu().numpy()
        if isinstance(part, np.ndarray):
            total.update(f"{part.dtype.str}{part.shape}".encode())
            total.update(np.ascontiguousarray(part).view(np.uint8).data)
        else:
            total.update(json.dumps(part, sort_keys=True).encode())
        total.update(b"\0")
    return total.hexdigest()


class Cache:
    """A folder of safetensors files, each carrying its own key and the digest of its content.

    Parameters
    ----------
    folder : pathlib.Path, optional
        Made when something is first saved; ``$MEMBERSHIP_CACHE`` or ``.cache`` by default.

    Notes
    -----
    safetensors refuses a truncated file but not a flipped bit in the payload, so a digest over
    the tensors travels in the file's header and is checked at every load. So does the key: a file
    under another file's name is not taken for it. One that fails is deleted with a warning and its
    model is trained again.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = Path(folder) if folder is not None else paths.cache_dir()

    def path(self, key: str) -> Path:
        """Where the tensors of a key lie."""
        return self.folder / "models" / f"{key}.safetensors"

    def load(self, key: str) -> Tensors | None:
        """The tensors saved under a key, or None where there are none or they are damaged."""
        path = self.path(key)
        if not path.is_file():
            return None
        try:
            # To safetensors, a file that may not be read is a damaged one.
            path.open("rb").close()
            with safetensors.safe_open(path, framework="pt") as file:
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
                noted = file.metadata() or {}
        except PermissionError as error:
            raise InputError(
                f"cannot read {path}: {error.strerror}; set MEMBERSHIP_CACHE to a folder of yours"
            ) from error
        except (safetensors.SafetensorError, OSError):
            noted, tensors = {}, {}
        if noted.get("digest") != _content(tensors):
            self._drop(path, "damaged")
            return None
        if noted.get("key") != key:
            self._drop(path, "not the model its name says")
            return None
        return tensors

    def _drop(self, path: Path, why: str) -> None:
        warnings.warn(f"{path} is {why}; its model is trained again", stacklevel=3)
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise InputError(
                f"{path} is {why} and cannot be removed: {error.strerror}; set MEMBERSHIP_CACHE "
                "to a folder that can be written to"
            ) from error

    def save(self, key: str, tensors: Tensors) -> None:
        """Write tensors under a key, whole or not at all."""
        kept = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
        payload = safetensors.torch.save(kept, metadata={"digest": _content(kept), "key": key})
        paths.made_cache_dir(self.folder)
        paths.atomic_write(self.path(key), payload)

    def discard(self, key: str) -> None:
        """Remove what is saved under a key, if anything is."""
        self.path(key).unlink(missing_ok=True)

    @contextmanager
    def lock(self, key: str):
        """Hold a key: a second run that wants it waits, then finds the result."""
        file = paths.made_cache_dir(self.folder) / "locks" / f"{key}.lock"
        held = FileLock(file)
        try:
            file.parent.mkdir(exist_ok=True)
            held.acquire()
        except OSError as error:
            raise InputError(
                f"cannot lock {file}: {error.strerror or error}; set MEMBERSHIP_CACHE to a folder "
                "that can be written to"
            ) from error
        try:
            yield
        finally:
            held.release()


def _content(tensors: Tensors) -> str:
    names: Iterable[str] = sorted(tensors)
    return digest(*(part for name in names for part in (name, tensors[name])))
