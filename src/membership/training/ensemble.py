"""Models of one architecture, their parameters stacked, and how many a device holds at a time."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import torch
from torch import nn
from torch.func import functional_call, stack_module_state, vmap

from membership import memory, networks
from membership.errors import InputError, RunError
from membership.training.config import TrainingConfig

Factory = Callable[[], nn.Module]
State = dict[str, torch.Tensor]
ELEMENTWISE = (nn.ReLU, nn.Tanh)
CONVOLUTIONS = (nn.Conv1d, nn.Conv2d, nn.Conv3d)
NORMALISATIONS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)


def device_of(name: str = "auto") -> torch.device:
    """The device a name stands for.

    Parameters
    ----------
    name : {"auto", "cpu", "cuda"}
        "auto" is the GPU where there is one.

    Raises
    ------
    InputError
        The name is unknown, or "cuda" on a machine without a GPU.
    """
    if name not in ("auto", "cpu", "cuda"):
        raise InputError(f"device = {name!r}: it must be auto, cpu or cuda")
    if name == "cuda" and not torch.cuda.is_available():
        raise InputError("device = 'cuda': torch finds no GPU here; use auto or cpu")
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(name)


def initial_module(factory: Factory, seed: int) -> nn.Module:
    """A fresh model whose random start depends on `seed` alone."""
    with torch.random.fork_rng(devices=[]):
        # Not torch.manual_seed, which also asks every kind of device for a millisecond.
        torch.random.default_generator.manual_seed(seed)
        return factory()


def stack(modules: list[nn.Module], device: torch.device) -> tuple[State, State]:
    """Parameters and buffers of several models, each with a leading axis over the models.

    What the models do not train is frozen here too.
    """
    parameters, buffers = stack_module_state(modules)
    trained = {k for k, v in modules[0].named_parameters() if v.requires_grad}
    parameters = {
        k: v.detach().to(device).requires_grad_(k in trained) for k, v in parameters.items()
    }
    return parameters, {k: v.detach().to(device) for k, v in buffers.items()}


def forward(module: nn.Module, parameters: State, buffers: State, x: torch.Tensor):
    """Logits of every model for its own batch: x (models, batch, ...) -> (models, batch, C)."""

    def single_model(parameters: State, buffers: State, x: torch.Tensor) -> torch.Tensor:
        return functional_call(module, (parameters, buffers), (x,))

    if len(x) > 1:
        layers = _layers(module) or []
        # A weight that two layers share is named once.
        named = all(f"{at}weight" in parameters for at, one in layers if isinstance(one, nn.Linear))
        apart = named and len({layer for _, layer in layers}) == len(layers) > 0
        if apart and not torch.is_autocast_enabled(x.device.type):
            return _through(layers, parameters, x)
        return vmap(single_model, randomness="different")(parameters, buffers, x)
    # One model needs no axis over models, and a CPU convolves with channels last in half the time.
    last = {"memory_format": torch.channels_last} if x[0].ndim == 4 else {}
    single = [{k: v[0] for k, v in state.items()} for state in (parameters, buffers)]
    return single_model(single[0], single[1], x[0].contiguous(**last)).unsqueeze(0)


def _layers(module: nn.Module, prefix: str = "") -> list[tuple[str, nn.Module]] | None:
    """The layers of a chain of linear ones, each with what begins its parameters' names.

    None for any other network, where one layer has two places in one chain, and where a hook or a
    forward of its own makes a layer another.
    """
    if not networks.untouched(module):
        return None
    if type(module) is nn.Sequential and len(set(module)) == len(module):
        chain = []
        for name, part in module.named_children():
            layers = _layers(part, f"{prefix}{name}.")
            if layers is None:
                return None
            chain += layers
        return chain
    flat = isinstance(module, nn.Flatten) and (module.start_dim, module.end_dim) == (1, -1)
    return [(prefix, module)] if flat or type(module) in (nn.Linear, *ELEMENTWISE) else None


def _through(layers: list[tuple[str, nn.Module]], parameters: State, x: torch.Tensor):
    """What `vmap` makes of a chain of linear layers, bit for bit, and in half the time if small."""
    for prefix, layer in layers:
        if isinstance(layer, nn.Linear):
            x = torch.matmul(x, parameters[f"{prefix}weight"].mT)
            if layer.bias is not None:
                x = x + parameters[f"{prefix}bias"].unsqueeze(1)
        else:
            x = x.flatten(2) if isinstance(layer, nn.Flatten) else layer(x)
    return x


def batch_of_models(module: nn.Module, device: torch.device) -> int:
    """How many models to run side by side.

    Convolutions with a kernel for each model run as grouped ones, which a CPU does slower than
    one after the other (0.6 times the speed for the small network of Table 2), and which a GPU
    refuses in bfloat16 where batches are normalised; everything else gains from the batch.
    """
    parts = list(module.modules())
    convolutional = any(isinstance(part, CONVOLUTIONS) for part in parts)
    normalised = any(isinstance(part, NORMALISATIONS) for part in parts)
    return 1 if convolutional and (normalised or device.type == "cpu") else 64


def side_by_side(module: nn.Module, device: torch.device, record: torch.Tensor) -> int:
    """How many models to run side by side: one, where torch has no way to batch them."""
    most = batch_of_models(module, device)
    if most == 1:
        return 1
    held = [(value, value.clone()) for value in module.buffers()]
    pair = record.expand(2, 2, *record.shape[1:])
    try:
        with torch.random.fork_rng(devices=[]), torch.no_grad():
            forward(module, *stack([module, module], torch.device("cpu")), pair)
    except networks.FAILURES:  # Recurrent layers; norms that keep an average of all batches.
        return 1
    finally:
        for value, before in held:
            value.copy_(before)
    return most


@dataclass(frozen=True)
class Ensemble:
    """Trained models of one architecture.

    Attributes
    ----------
    factory : callable
        Makes an untrained model of the architecture.
    parameters, buffers : dict of torch.Tensor
        By name, each of shape (models, ...), on the CPU.
    membership : numpy.ndarray of bool, shape (models, records)
        Which record each model was trained on.
    seeds : tuple of int
        Of each model: its start and the order of its batches.
    config : TrainingConfig
        How they were trained.
    device : torch.device
        Where they are evaluated.
    """

    factory: Factory
    parameters: State
    buffers: State
    membership: np.ndarray
    seeds: tuple[int, ...]
    config: TrainingConfig
    device: torch.device

    def __len__(self) -> int:
        return len(self.seeds)

    def module(self, model: int) -> nn.Module:
        """One trained model, in evaluation mode on the CPU.

        Raises
        ------
        InputError
            There is no such model.
        """
        if not 0 <= model < len(self):
            raise InputError(f"model = {model}: this ensemble has models 0 to {len(self) - 1}")
        module = self.factory()
        state = {**self.parameters, **self.buffers}
        # Not by a state dict, which names shared weights twice, and passing buffers not at all.
        with torch.no_grad():
            for name, value in (*module.named_parameters(), *module.named_buffers()):
                value.copy_(state[name][model])
        return module.eval()

    def logits(self, x, batch_size: int = 2048) -> torch.Tensor:
        """What every model answers for every record.

        Parameters
        ----------
        x : array_like, shape (records, ...)
            In the form the data set has (float32, images channels first).
        batch_size : int
            Records evaluated at once.

        Returns
        -------
        torch.Tensor of float32, shape (models, records, classes)
            On the CPU.

        Raises
        ------
        InputError
            `x` holds values that are not finite.
        """
        x = torch.tensor(np.asarray(x), dtype=torch.float32)
        if not torch.isfinite(x).all():
            raise InputError("x: some values are not finite (NaN or infinity); clean them first")
        module = self.factory().eval()
        most = side_by_side(module, self.device, x[:1])
        at_once = models_at_once(module, x[:1], batch_size, self.device, most)
        module = module.to(self.device)

        def answered(some: range) -> torch.Tensor:
            chosen = slice(some.start, some.stop)
            parameters = {k: v[chosen].to(self.device) for k, v in self.parameters.items()}
            buffers = {k: v[chosen].to(self.device) for k, v in self.buffers.items()}

            def of(part: torch.Tensor) -> torch.Tensor:
                records = part.to(self.device).expand(len(some), *part.shape)
                return forward(module, parameters, buffers, records).detach().cpu()

            parts = x.split(batch_size)
            answers = [answer for part in parts for answer in in_halves(of, part, "records")]
            return torch.cat(answers, dim=1)

        rows = []
        for first in range(0, len(self), at_once):
            some = range(first, min(first + at_once, len(self)))
            rows += in_halves(answered, some, "models")
        return torch.cat(rows)


Part = TypeVar("Part")
# Of the free memory, for what is counted: libraries and fragments take the rest.
SHARE = 0.5
# Parameters, their gradients, and what an optimiser keeps of them.
COPIES = 4


class TooLarge(RunError):
    """Not even one at a time fits in the device's memory."""


def models_at_once(
    module: nn.Module, record: torch.Tensor, batch: int, device: torch.device, most: int
) -> int:
    """How many models a device holds, with a batch of records each; `most` on a CPU.

    By a GPU's free memory. What is computed side by side decides how long it takes, not what
    comes out.
    """
    if device.type == "cpu" or most == 1:
        return most
    own = sum(value.numel() * value.element_size() for value in module.parameters())
    # Each activation and its gradient.
    each = COPIES * own + 2 * batch * _activations(module, record)
    return max(1, min(most, int(SHARE * memory.available(device) / each)))


def _activations(module: nn.Module, record: torch.Tensor) -> int:
    """Bytes that the layers make of one record."""
    total = 0

    def add(_module: nn.Module, _given: Any, made: Any) -> None:
        nonlocal total
        if isinstance(made, torch.Tensor):
            total += made.numel() * made.element_size()

    leaves = [part for part in module.modules() if not any(part.children())]
    hooks = [part.register_forward_hook(add) for part in leaves]
    mode = module.training
    try:
        with torch.no_grad():
            module.eval()(record)
    finally:
        module.train(mode)
        for hook in hooks:
            hook.remove()
    return total + record.numel() * record.element_size()


def in_halves(work: Callable[[Any], Part], items: Any, what: str) -> list[Part]:
    """What some work makes of items at once, or of their halves where the memory is too little."""
    try:
        return [work(items)]
    except (torch.OutOfMemoryError, TooLarge) as error:
        count = len(items)
        if count <= 1:
            raise TooLarge(
                f"the device's memory is too small for one of the {what}; use device cpu"
            ) from error
    # Outside of the handler, whose exception holds on to the tensors.
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    half = (count + 1) // 2
    warnings.warn(
        f"{count} {what} at a time are more than the device's memory holds; trying {half}",
        stacklevel=2,
    )
    return in_halves(work, items[:half], what) + in_halves(work, items[half:], what)
