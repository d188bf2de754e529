"""Training one network from images on disk, with a checkpoint an epoch."""

from collections.abc import Callable
from dataclasses import asdict, dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from tqdm import tqdm

from membership import signals
from membership.data.pictures import ImageFolder
from membership.errors import RunError
from membership.studies.bayes_optimal.imagenet.images import Crops, batches
from membership.training import TrainingConfig, batch_order
from membership.training import cache as store
from membership.training.cache import architecture
from membership.training.ensemble import initial_module

VERSION = 1
"""Of what `train` computes: raise it with an edit after which a network ends elsewhere."""


@dataclass(frozen=True, eq=False)
class Job:
    """Everything that determines one trained network.

    Attributes
    ----------
    factory : callable
        Returns the untrained network.
    folder : ImageFolder
    member : ndarray of bool, shape (records,)
        The images to train on.
    augmentation : str
        One of `images.AUGMENTATIONS`.
    image_size : int
        Pixels of a crop each way.
    config : TrainingConfig
    seed : int
        Of the start, the order of the images, the augmentation and dropout.
    device : torch.device
    """

    factory: Callable[[], nn.Module]
    folder: ImageFolder
    member: np.ndarray
    augmentation: str
    image_size: int
    config: TrainingConfig
    seed: int
    device: torch.device

    def key(self) -> str:
        """What the network is cached under."""
        module = initial_module(self.factory, self.seed)
        return store.digest(
            self.folder.digest,
            self.member,
            [self.augmentation, self.image_size, self.seed, asdict(self.config)],
            [repr(module), architecture(module), self.device.type, torch.__version__, VERSION],
        )


def train(job: Job, workers: int, progress: bool = True) -> nn.Module:
    """Train a network, or take up where an earlier run of the same job stopped.

    Parameters
    ----------
    job : Job
    workers : int
        Processes that decode images; 0 decodes in this one. They do not change the result.
    progress : bool
        Show a bar over the steps of each epoch.

    Returns
    -------
    nn.Module
        Trained, on the job's device, in evaluation mode.

    Raises
    ------
    InputError
        An image cannot be decoded, or the checkpoint cannot be written.
    RunError
        The loss became infinite or undefined.

    Notes
    -----
    After each epoch the network and its velocity are saved in the cache. On one machine's CPU a
    resumed run ends bit for bit as an uninterrupted one; cuDNN promises no such thing.
    """
    cache, key = store.Cache(), job.key()
    with cache.lock(key):
        module = initial_module(job.factory, job.seed).to(job.device)
        optimiser = job.config.make_optimiser(list(module.parameters()))
        done = _restore(cache.load(key), module, optimiser)
        for epoch in range(done, job.config.epochs):
            _epoch(job, module, optimiser, epoch, workers, progress)
            cache.save(key, _snapshot(epoch + 1, module, optimiser))
    return module.eval()


def losses(
    module: nn.Module,
    folder: ImageFolder,
    image_size: int,
    batch_size: int,
    workers: int,
    progress: bool = True,
) -> tuple[np.ndarray, np.ndarray]:
    """What the adversary observes: loss and decision for the central crop of every image."""
    device = next(module.parameters()).device
    order, crops = np.arange(len(folder)), Crops(folder, image_size)
    loss, correct = [], []
    steps = batches(crops, order, batch_size, workers, device)
    with torch.inference_mode(), tqdm(total=len(order), unit="image", disable=not progress) as bar:
        for x, y in steps:
            logits, label = module(x)[None], y.cpu()
            loss.append(signals.loss(logits, None, label)[0])
            correct.append(signals.correct(logits, None, label)[0])
            bar.update(len(label))
    return np.concatenate(loss), np.concatenate(correct)


def _epoch(
    job: Job,
    module: nn.Module,
    optimiser: torch.optim.Optimizer,
    epoch: int,
    workers: int,
    progress: bool,
) -> None:
    """One pass over the members."""
    for group in optimiser.param_groups:
        group["lr"] = job.config.learning_rate_at(epoch)
    crops = Crops(job.folder, job.image_size, job.augmentation, (job.seed, epoch))
    order = batch_order(job.seed, epoch, np.flatnonzero(job.member))
    steps = batches(crops, order, job.config.batch_size, workers, job.device)
    total = torch.zeros((), device=job.device)
    gpus = [torch.cuda.current_device()] if job.device.type == "cuda" else []
    title = f"epoch {epoch + 1}/{job.config.epochs}"
    module.train()
    with (
        torch.random.fork_rng(devices=gpus),
        tqdm(total=len(order), unit="image", desc=title, disable=not progress) as bar,
    ):
        # Dropout draws from torch's own state: seeded anew, a resumed run draws the same.
        torch.manual_seed(int(np.random.SeedSequence([job.seed, epoch]).generate_state(1)[0]))
        for x, y in steps:
            optimiser.zero_grad(set_to_none=True)
            loss = F.cross_entropy(module(x), y)
            loss.backward()
            optimiser.step()
            total += loss.detach()
            bar.update(len(y))
    if not torch.isfinite(total):
        raise RunError(f"training diverged in {title}: the loss is {total.item()}")


def _snapshot(epochs_done: int, module: nn.Module, optimiser: torch.optim.Optimizer):
    tensors = {f"module.{name}": tensor for name, tensor in module.state_dict().items()}
    for position, entry in optimiser.state_dict()["state"].items():
        tensors[f"velocity.{position}"] = entry["momentum_buffer"]
    return {"epochs_done": torch.tensor(epochs_done), **tensors}


def _restore(
    saved: store.Tensors | None, module: nn.Module, optimiser: torch.optim.Optimizer
) -> int:
    """Put a checkpoint back in place; the number of epochs it had finished, 0 without one."""
    if saved is None:
        return 0
    parts = {"module": {}, "velocity": {}}
    for name, tensor in saved.items():
        part, _, rest = name.partition(".")
        if rest:
            parts[part][rest] = tensor
    module.load_state_dict(parts["module"])
    entries = {int(i): {"momentum_buffer": tensor} for i, tensor in parts["velocity"].items()}
    optimiser.load_state_dict({**optimiser.state_dict(), "state": entries})
    return int(saved["epochs_done"])
