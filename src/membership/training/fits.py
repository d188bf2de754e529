"""What determines a set of trained models: its checks, its keys, and who trains beside whom."""

import hashlib
import inspect
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch

from membership import shares
from membership.data import Dataset
from membership.errors import InputError
from membership.training import cache as store
from membership.training.config import TrainingConfig
from membership.training.ensemble import Factory, batch_of_models, initial_module, models_at_once


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
        except RuntimeError as error:
            raise InputError(
                f"factory: its model does not take records of shape {tuple(record.shape[1:])} "
                f"({str(error).splitlines()[0]})"
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

    def keys(self, version: int) -> list[str]:
        """The cache key of each model: all that has a part in its parameters."""
        records = store.digest(self.dataset.x, self.dataset.y)
        common = [records, asdict(self.config), version, self.device.type, torch.__version__]
        keys = []
        for mask, seed in zip(self.membership, self.seeds, strict=True):
            module = initial_module(self.factory, seed)
            start = [part for item in sorted(module.state_dict().items()) for part in item]
            keys.append(
                store.digest(*common, mask, seed, repr(module), architecture(module), *start)
            )
        return keys

    def batches(self, rows: list[int]) -> list[list[int]]:
        """Rows to train together: models with as many members, so every step is a whole one."""
        module = initial_module(self.factory, 0)
        record, batch = torch.tensor(self.dataset.x[:1]), self.config.batch_size
        most = batch_of_models(module, self.device)
        size = models_at_once(module, record, batch, self.device, most)
        members = self.membership.sum(1)
        groups = [[i for i in rows if members[i] == n] for n in sorted(set(members[rows]))]
        some = [group[k : k + size] for group in groups for k in range(0, len(group), size)]
        return shares.rotated(some)


def architecture(module: torch.nn.Module) -> str:
    """The digest of the files that define a caller's own classes in a module.

    Two architectures of a caller's that print alike but compute differently then have different
    keys. For torch's classes its version counts, for this package's the version of its training.
    """
    files = {_source(type(part)) for part in module.modules()}
    return store.digest(*sorted(hashlib.sha256(content).hexdigest() for content in files))


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
