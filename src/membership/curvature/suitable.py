"""Which models have a loss that is a function of their parameters and of one record."""

from collections.abc import Callable, Collection

import torch
from torch import nn

from membership import networks
from membership.errors import InputError

Parameters = Collection[str] | Callable[[str], bool] | None
NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.SyncBatchNorm)
RANDOM = (
    nn.Dropout,
    nn.Dropout1d,
    nn.Dropout2d,
    nn.Dropout3d,
    nn.AlphaDropout,
    nn.FeatureAlphaDropout,
    nn.RReLU,
)


def require_suitable(model: nn.Module) -> None:
    """Raise an InputError where a model, as it stands, has no derivatives of a record's loss."""
    if not isinstance(model, nn.Module):
        raise InputError(f"model = {type(model).__name__}: expected a torch nn.Module")
    networks.require_shapes(model)
    for name, part in model.named_modules():
        if of := _made_of(part, f"model.{name}".rstrip(".")):
            raise InputError(
                f"model: {name or 'the model'} is {type(part).__name__}, whose parameters cannot "
                f"be replaced by others; give {of}"
            )
        # Others may draw or sum over the batch as well; `_check_function` finds them out.
        normalised = isinstance(part, NORMS)
        random = isinstance(part, RANDOM)
        if part.training and (random or normalised):
            raise InputError(
                f"model: {name or 'the model'} is {type(part).__name__} in training mode, so a "
                "record's loss is not a function of that record alone; call model.eval() first"
            )
        if normalised and part.running_mean is None:
            raise InputError(
                f"model: {name or 'the model'} is {type(part).__name__} without running "
                "statistics, so a record's loss is not a function of that record alone; give it "
                "some, or take a norm over each record such as GroupNorm"
            )
    if not any(True for _ in model.parameters()):
        raise InputError("model: it has no parameters")
    if any(value.is_complex() for value in model.parameters()):
        raise InputError("model: some parameters are complex; give a model with real ones")


def chosen(model: nn.Module, parameters: Parameters) -> set[str]:
    """The names of the parameters that are asked about: those that are trained, where none are.

    A name is that of a parameter, or of a module for all that are in it.

    Raises
    ------
    InputError
        A name is none of the model's, nothing is chosen, or everything is frozen.
    """
    named = dict(model.named_parameters())
    if parameters is None:
        found = {name for name, value in named.items() if value.requires_grad}
        if not found:
            raise InputError(
                "model: all its parameters are frozen; unfreeze those that were trained, such as "
                "the whole model with model.requires_grad_(True), or name some by parameters="
            )
        return found
    if callable(parameters):
        found = {name for name in named if parameters(name)}
        given = "the predicate is true of none"
    else:
        wanted = [parameters] if isinstance(parameters, str) else list(parameters)
        found, given = set(), "it names none"
        for asked in wanted:
            inside = {n for n in named if n == asked or n.startswith(f"{asked}.")}
            if not inside:
                given, found = f"{asked!r} is no parameter and no module that has some", set()
                break
            found |= inside
    if not found:
        several = list(named)
        few = ", ".join(several[:3] + ["..."] * (len(several) > 4) + several[3:][-1:])
        raise InputError(f"parameters: {given}; the model has {few}")
    return found


def _made_of(part: nn.Module, name: str) -> str | None:
    """What to give in the place of a part that only wraps a module."""
    if isinstance(part, torch.jit.ScriptModule):
        return "the module that was scripted or traced"
    if hasattr(part, "to_standard_module"):  # Opacus, whose hooks read what parameters carry.
        return f"{name}.to_standard_module(), the module inside"
    if isinstance(part, nn.DataParallel | nn.parallel.DistributedDataParallel):
        return f"{name}.module, the module inside"
    compiled = "_orig_mod" in dict(part.named_children())
    return f"{name}._orig_mod, from before torch.compile" if compiled else None
