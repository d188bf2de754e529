"""Trained models on disk, whole or not there at all, and what determines them: their keys."""

import hashlib
import inspect
import json
import warnings
from collections.abc import Iterable
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import safetensors
import safetensors.torch
import torch
from filelock import FileLock

from membership import networks, paths, shared_work
from membership.data import Dataset
from membership.errors import InputError
from membership.training.config import TrainingConfig
from membership.training.ensemble import Factory, initial_module, models_at_once, side_by_side

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


@dataclass(frozen=True)
class Fits:
    """Everything that determines a set of trained models."""

    factory: Factory
    dataset: Dataset
    membership: np.ndarray
    config: TrainingConfig
    seeds: tuple[int, ...]
    device: torch.device

    def check_architecture(self) -> None:
        """Raise InputError unless one record goes in and what the loss takes comes out."""
        module = initial_module(self.factory, 0).eval()
        record = torch.tensor(self.dataset.x[:1])
        if self.config.augmentation != "none" and record.ndim != 4:
            raise InputError(
                f"augmentation = {self.config.augmentation!r}: records of shape "
                f"{tuple(record.shape[1:])} are no images; use none"
            )
        try:
            with torch.no_grad():
                answer = tuple(module(record).shape)
        except networks.FAILURES as error:
            raise InputError(
                f"factory: its model does not take records of shape {tuple(record.shape[1:])} "
                f"({networks.line(error)})"
            ) from error
        single = self.config.loss == "squared-error"
        if single and self.dataset.n_classes != 2:
            raise InputError(
                f"loss = 'squared-error' with {self.dataset.n_classes} classes: it takes two"
            )
        expected = (1, 1 if single else self.dataset.n_classes)
        if answer != expected:
            raise InputError(
                f"factory: its model answers one record with shape {answer}; expected {expected}, "
                f"one logit{'' if single else ' a class'}"
            )
        self._check_training(initial_module(self.factory, 0).train())

    def _check_training(self, module: torch.nn.Module) -> None:
        """Raise InputError unless something is trained, and on the smallest batch of an epoch."""
        if not any(value.requires_grad for value in module.parameters()):
            raise InputError("factory: all parameters of its model are frozen; nothing to train")
        last = self.membership.sum(1) % self.config.batch_size
        least = int(np.where(last == 0, self.config.batch_size, last).min())
        records = torch.tensor(self.dataset.x[: min(least, len(self.dataset.x))])
        try:
            with torch.random.fork_rng(devices=[]), torch.no_grad():
                module(records)
        except networks.FAILURES as error:
            raise InputError(
                f"batch_size = {self.config.batch_size}: the factory's model does not train on "
                f"{least} records, the last batch of an epoch ({networks.line(error)}); another "
                "batch_size may do"
            ) from error

    def keys(self, version: int) -> list[str]:
        """The cache key of each model: all that has a part in its parameters."""
        records = digest(self.dataset.x, self.dataset.y)
        common = [records, asdict(self.config), version, self.device.type, torch.__version__]
        keys = []
        for mask, seed in zip(self.membership, self.seeds, strict=True):
            module = initial_module(self.factory, seed)
            start = [part for item in sorted(module.state_dict().items()) for part in item]
            frozen = [name for name, v in module.named_parameters() if not v.requires_grad]
            what = [
                repr(module),
                architecture(module),
                *start,
                *[["frozen", frozen]] * bool(frozen),
            ]
            keys.append(digest(*common, mask, seed, *what))
        return keys

    def batches(self, rows: list[int]) -> list[list[int]]:
        """Rows to train together: models with as many members, so every step is a whole one."""
        module = initial_module(self.factory, 0)
        record, batch = torch.tensor(self.dataset.x[:1]), self.config.batch_size
        most = side_by_side(module.train(), self.device, record)
        size = models_at_once(module, record, batch, self.device, most)
        members = self.membership.sum(1)
        groups = [[i for i in rows if members[i] == n] for n in sorted(set(members[rows]))]
        some = [group[k : k + size] for group in groups for k in range(0, len(group), size)]
        return shared_work.rotated(some)


def architecture(module: torch.nn.Module) -> str:
    """The digest of the files that define a caller's own classes in a module.

    Two architectures of a caller's that print alike but compute differently then have different
    keys. For torch's classes its version counts, for this package's the version of its training.
    """
    files = {_source(type(part)) for part in module.modules()}
    return digest(*sorted(hashlib.sha256(content).hexdigest() for content in files))


def _source(kind: type) -> bytes:
    """The file that defines a class, or its name where there is none to read."""
    if kind.__module__.split(".")[0] in ("torch", "membership"):
        return b""
    try:
        return Path(inspect.getsourcefile(kind) or "").read_bytes()
    except (OSError, TypeError):
        pass
    try:
        return inspect.getsource(kind).encode()
    except (OSError, TypeError):
        # Typed at a prompt: the name is the best that can be had.
        return f"{kind.__module__}.{kind.__qualname__}".encode()


def checked(membership, seeds, dataset: Dataset) -> tuple[np.ndarray, tuple[int, ...]]:
    """Membership and seeds as arrays of the right kind.

    Raises
    ------
    InputError
        Membership is no boolean matrix over the records or leaves a model without members, or
        the seeds are not one a model.
    """
    mask = np.asarray(membership)
    if mask.dtype != bool or mask.ndim != 2 or mask.shape[1] != len(dataset.y):
        raise InputError(
            f"membership: shape {mask.shape} of {mask.dtype}; expected booleans of shape "
            f"(models, {len(dataset.y)})"
        )
    if len(mask) == 0 or not mask.any(1).all():
        raise InputError("membership: every model needs at least one member, and one model is due")
    seeds = tuple(int(seed) for seed in seeds)
    if len(seeds) != len(mask) or min(seeds) < 0:
        raise InputError(
            f"seeds: {len(seeds)} given for {len(mask)} models; expected one a model, not negative"
        )
    return mask, seeds
