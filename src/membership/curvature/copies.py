"""A copy of a model and of its loss in another precision, made to be differentiated."""

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from membership import networks
from membership.errors import InputError

Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


class RecordLoss:
    """A loss in the precision of a copy, with one value a record.

    A loss of one logit gives a column, (records, 1), where its labels are one. What a module such
    as a cross-entropy with weights of classes holds is copied in the precision as well.
    """

    def __init__(self, given: Loss, dtype: torch.dtype) -> None:
        self.given = given.given if isinstance(given, RecordLoss) else given
        self.taken = self.given
        if isinstance(self.given, nn.Module):
            self.taken = _in_precision(_copy("loss", self.given), dtype)

    def __call__(self, output: Any, y: torch.Tensor) -> Any:
        value = self.taken(output, y)
        is_column = isinstance(value, torch.Tensor) and value.shape == (len(y), 1)
        return value[:, 0] if is_column else value


def model_copy(model: nn.Module, dtype: torch.dtype) -> nn.Module:
    """The model in another precision, all of whose own tensors are constants.

    Its embeddings have the derivatives of the loss: `sparse` is another layout of the same ones,
    by whose frequency nothing is scaled, and of a `max_norm` the rows are as it leaves them.
    """
    module = _in_precision(_copy("model", model).requires_grad_(False), dtype)
    for part in module.modules():
        if not isinstance(part, nn.Embedding | nn.EmbeddingBag):
            continue
        part.sparse = part.scale_grad_by_freq = False
        if part.max_norm is not None:
            every = torch.arange(len(part.weight), device=part.weight.device)
            torch.embedding_renorm_(part.weight, every, part.max_norm, part.norm_type)
            part.max_norm = None
    return module


def padding_rows(module: nn.Module) -> dict[str, int]:
    """The rows of embeddings that no training moves, by the names of their parameters."""
    names = {id(value): name for name, value in module.named_parameters()}
    return {
        names[id(part.weight)]: part.padding_idx
        for part in module.modules()
        if isinstance(part, nn.Embedding)
        and part.padding_idx is not None
        and id(part.weight) in names
    }


def _copy(role: str, module: nn.Module) -> nn.Module:
    # What a hook computes anew each time (weights that are normed or pruned) is part of a graph,
    # which cannot be copied; its numbers can.
    memo = {
        id(value): value.detach().clone()
        for part in module.modules()
        for value in vars(part).values()
        if isinstance(value, torch.Tensor) and not value.is_leaf
    }
    try:
        return copy.deepcopy(module, memo)
    except networks.FAILURES as error:
        raise InputError(f"{role}: it cannot be copied: {networks.line(error)}") from None


def _in_precision(module: nn.Module, dtype: torch.dtype) -> nn.Module:
    """A module in this precision, with the tensors that its parts hold beside their buffers."""
    module = module.to(dtype)
    for part in module.modules():
        for name, value in vars(part).items():
            if isinstance(value, torch.Tensor) and value.is_floating_point():
                vars(part)[name] = value.detach().to(dtype)
    return module
