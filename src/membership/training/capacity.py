"""How many models a GPU trains or asks at a time, by its free memory; fewer where that fails.

What is computed side by side decides how long it takes, not what comes out.
"""

import warnings
from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch import nn

from membership import memory
from membership.errors import RunError

Part = TypeVar("Part")
# Of the free memory, for what is counted: libraries and fragments take the rest.
SHARE = 0.5
# Parameters, their gradients, and what an optimiser keeps of them.
COPIES = 4


class TooLarge(RunError):
    """Not even one at a time fits in the device's memory."""


def models(
    module: nn.Module, record: torch.Tensor, batch: int, device: torch.device, most: int
) -> int:
    """How many models of this architecture a device holds, with a batch of records each.

    Parameters
    ----------
    module : nn.Module
        On the CPU.
    record : torch.Tensor, shape (1, ...)
        One record.
    batch : int
        Records that each model reads at a time.
    device : torch.device
    most : int
        The answer on a CPU, and the largest one elsewhere.

    Returns
    -------
    int
        From 1 to `most`.
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
    """What some work makes of items at once, or of their halves where the memory is too little.

    Parameters
    ----------
    work : callable
        Takes some of the items.
    items : sequence
        Has a length and can be sliced.
    what : str
        The items in the plural, for the message.

    Returns
    -------
    list
        What `work` gave for each part, in order.

    Raises
    ------
    TooLarge
        One item is too many.
    """
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
