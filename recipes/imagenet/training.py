"""ImageNet's images as batches, and one network trained from them, with a checkpoint an epoch."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset
from tqdm import tqdm

from membership import signals
from membership.data.pictures import ImageFolder
from membership.errors import InputError, RunError
from membership.training import TrainingConfig, batch_order
from membership.training import cache as store
from membership.training.cache import architecture
from membership.training.ensemble import initial_module

# As Table 3 spells them, by increasing intensity.
AUGMENTATIONS = ("None", r"Flip, Crop $\pm 5$", "Flip, Crop")
SHIFT, SHIFTED = 5, 224
"""Pixels either way, of a crop of so many."""

# The usual means and standard deviations of ImageNet's red, green and blue, for pixels in [0, 1].
MEAN = torch.tensor([0.485, 0.456, 0.406])[:, None, None]
STANDARD_DEVIATION = torch.tensor([0.229, 0.224, 0.225])[:, None, None]


class Crops(Dataset):
    """The images of a folder, resized, cropped and normalised; one epoch's view of them.

    Parameters
    ----------
    folder : ImageFolder
    size : int
        Pixels of a crop each way. The shorter side of an image is first resized to 8/7 of it,
        256 for 224.
    augmentation : str
        One of `AUGMENTATIONS`. "None": the central crop. The second: the central crop moved by
        -5..5 pixels of 224 each way (of smaller crops in proportion, one at least), and mirrored
        with probability one half. "Flip, Crop": any crop of the resized image, all equally
        likely, mirrored likewise.
    seed : tuple of int
        Draws for a record depend on this and on the record, not on the order or the worker.
    """

    def __init__(
        self, folder: ImageFolder, size: int, augmentation: str = "None", seed: tuple[int, ...] = ()
    ) -> None:
        self.folder = folder
        self.size = size
        self.augmentation = augmentation
        self.seed = seed

    def __getitem__(self, record: int) -> tuple[torch.Tensor, int]:
        image = resized(self.folder.open(record), round(self.size * 256 / 224))
        rng = np.random.default_rng([*self.seed, record])
        left, top = corner(image.size, self.size, self.augmentation, rng)
        pixels = np.array(image.crop((left, top, left + self.size, top + self.size)))
        if self.augmentation != "None" and rng.random() < 0.5:
            pixels = pixels[:, ::-1].copy()
        x = torch.from_numpy(pixels).permute(2, 0, 1).float() / 255
        return (x - MEAN) / STANDARD_DEVIATION, int(self.folder.y[record])


def resized(image: Image.Image, shorter: int) -> Image.Image:
    """An image whose shorter side has `shorter` pixels, its proportions kept (bilinear)."""
    scale = shorter / min(image.size)
    width, height = (max(shorter, round(side * scale)) for side in image.size)
    return image.resize((width, height), Image.Resampling.BILINEAR)


def corner(
    image_size: tuple[int, int], size: int, augmentation: str, rng: np.random.Generator
) -> tuple[int, int]:
    """Left and top of a crop of `size` pixels each way; parameters as for `Crops`."""
    free = np.array(image_size) - size
    if augmentation == "None":
        place = free // 2
    elif augmentation == "Flip, Crop":
        place = rng.integers(0, free + 1)
    else:
        # A seventh of the crop is free, more than three times what it moves.
        most = max(1, round(SHIFT * size / SHIFTED))
        place = free // 2 + rng.integers(-most, most + 1, size=2)
    return int(place[0]), int(place[1])


def batches(
    crops: Crops, order: np.ndarray, batch_size: int, workers: int, device: torch.device
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Batches of images and labels, on the device."""
    loader = DataLoader(
        crops,
        batch_size,
        sampler=order.tolist(),
        num_workers=workers,
        pin_memory=device.type == "cuda",
    )
    try:
        for x, y in loader:
            yield x.to(device, non_blocking=True), y.to(device, non_blocking=True)
    except InputError as error:
        # A worker's error arrives with its whole stack as the message; its last line is ours.
        line = str(error).strip().splitlines()[-1]
        raise InputError(line.removeprefix(f"{InputError.__module__}.InputError: ")) from error


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
        One of `AUGMENTATIONS`.
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
