"""Whether a backward pass is the derivative of its function, by differences of the function itself.

A hook on the backward pass, a reversal of gradients, a straight-through function, a detached part:
torch differentiates all of them, and what comes out is no slope of the function.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

Values = dict[str, torch.Tensor]
# Directions of which one that agrees is enough: a kink that lies on one line misses the others.
DIRECTIONS = 3
# How far beside the parameters, relative to their size: at them, units may lie on their kinks all
# at once, as those of a blank record do where biases are zero.
BESIDE = 1e-3
# What a slope may be away, relative to the size that slopes along such directions have; and in how
# many differences between two steps, by which rounding and kinks show.
SHARE, SPREADS = 1e-4, 10.0


def slopes_apart(
    function: Callable[[Values], torch.Tensor],
    parameters: Values,
    constant: Mapping[str, int] | None = None,
) -> tuple[float, float] | None:
    """A slope of a function of the parameters and what its backward pass gives; None where alike.

    Central differences at two steps, close to the parameters, of the function's values together.
    The steps are those that fit the least precision in which it is computed. No direction moves the
    `constant` rows, by name, to which the backward pass gives nothing either.
    """
    generator = torch.Generator().manual_seed(0)
    scale = _scale(parameters)
    start = _moved(parameters, _drawn(scale, parameters, generator), BESIDE)
    values, gradient, rounding = _backward(function, start)
    size = float(sum((gradient[name] * scale[name]).square().sum() for name in scale)) ** 0.5
    step = rounding ** (1 / 3)
    share = max(SHARE, 10 * rounding ** (2 / 3))
    # Slopes that drown in the rounding of the values.
    floor = 10 * rounding * float(1 + values.abs().max()) * len(values) ** 0.5 / step
    constant = {name: row for name, row in (constant or {}).items() if name in gradient}
    still = {name: row for name, row in constant.items() if not gradient[name][row].any()}
    slope = given = 0.0
    for _ in range(DIRECTIONS):
        way = _drawn(scale, parameters, generator)
        for name, row in still.items():
            way[name][row] = 0.0
        given = float(sum((gradient[name] * way[name]).sum() for name in way))
        with torch.no_grad():
            rough, slope = (_slope(function, start, way, step / by) for by in (1, 2))
        doubt = floor + share * max(size, abs(slope)) + SPREADS * abs(slope - rough)
        # Not "at most": what is no finite number is said by others.
        if not abs(slope - given) > doubt:
            return None
    return slope, given


def _scale(parameters: Values) -> Values:
    """The size of each parameter's entries, and that of all entries where it is zero."""
    together = torch.cat([value.reshape(-1) for value in parameters.values()])
    common = together.square().mean().sqrt()
    sizes = {name: value.square().mean().sqrt() for name, value in parameters.items()}
    fill = common if common > 0 else torch.ones_like(common)
    return {name: torch.where(size > 0, size, fill) for name, size in sizes.items()}


def _drawn(scale: Values, parameters: Values, generator: torch.Generator) -> Values:
    """A direction in which each entry moves by about its size."""
    return {
        name: scale[name]
        * torch.randn(value.shape, generator=generator, dtype=value.dtype).to(value)
        for name, value in parameters.items()
    }


def _moved(parameters: Values, way: Values, step: float) -> Values:
    return {name: value + step * way[name] for name, value in parameters.items()}


def _slope(function: Any, start: Values, way: Values, step: float) -> float:
    up, down = (function(_moved(start, way, sign * step)) for sign in (1, -1))
    # Differences before the sum: large losses of other records do not drown them.
    return float((up - down).sum()) / (2 * step)


def _backward(function: Any, start: Values) -> tuple[torch.Tensor, Values, float]:
    """The values, the gradient of their sum, and the rounding of their least precise part."""
    to_train = {name: value.clone().requires_grad_() for name, value in start.items()}
    with _Precision() as seen:
        values = function(to_train)
    found = dict(
        zip(
            to_train,
            torch.autograd.grad(values.sum(), list(to_train.values()), allow_unused=True),
            strict=True,
        )
    )
    gradient = {
        name: torch.zeros_like(value) if found[name] is None else found[name].detach()
        for name, value in start.items()
    }
    return values.detach(), gradient, seen.rounding


class _Precision(TorchFunctionMode):
    """Sees the least precise numbers that are computed from the parameters."""

    rounding = torch.finfo(torch.float64).eps

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor) and result.is_floating_point() and result.requires_grad:
            self.rounding = max(self.rounding, torch.finfo(result.dtype).eps)
        return result
