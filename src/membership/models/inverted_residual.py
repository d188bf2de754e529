"""The inverted residual block of MobileNet-V2 and EfficientNet."""

import torch.nn.functional as F
from torch import Tensor, nn


class Skip(nn.Module):
    """``x + body(x)``, where in training the body may be dropped.

    Parameters
    ----------
    body : nn.Module
        Keeps the shape of its input.
    drop : float
        In [0, 1): the probability with which the body is left out for one record in training
        (stochastic depth, Huang et al. 2016); what remains is scaled by 1 / (1 - drop).
    """

    def __init__(self, body: nn.Module, drop: float = 0.0) -> None:
        super().__init__()
        self.body = body
        self.drop = drop

    def forward(self, x: Tensor) -> Tensor:
        change = self.body(x)
        if self.drop > 0:
            change = change * F.dropout(x.new_ones(len(x), 1, 1, 1), self.drop, self.training)
        return x + change

    def extra_repr(self) -> str:
        return f"drop={self.drop:.4g}"


class SqueezeExcitation(nn.Module):
    """Channels scaled by a gate that sees the whole image (Hu et al. 2018)."""

    def __init__(self, channels: int, squeezed: int) -> None:
        super().__init__()
        self.gate = nn.Sequential(
            nn.AdaptiveAvgPool2d(1),
            nn.Conv2d(channels, squeezed, 1),
            nn.SiLU(),
            nn.Conv2d(squeezed, channels, 1),
            nn.Sigmoid(),
        )

    def forward(self, x: Tensor) -> Tensor:
        return x * self.gate(x)


def convolution(
    n_in: int,
    n_out: int,
    kernel: int,
    stride: int = 1,
    activation: type[nn.Module] | None = None,
    groups: int = 1,
) -> list[nn.Module]:
    """A convolution that keeps the size up to its stride, normalised and activated."""
    layers: list[nn.Module] = [
        nn.Conv2d(n_in, n_out, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(n_out),
    ]
    return layers if activation is None else [*layers, activation()]


def inverted_residual(
    n_in: int,
    n_out: int,
    kernel: int,
    stride: int,
    expansion: int,
    activation: type[nn.Module],
    squeeze: bool = False,
    drop: float = 0.0,
) -> nn.Module:
    """Widen, filter each channel, and narrow; with a shortcut where the shape is kept."""
    wide = n_in * expansion
    layers = convolution(n_in, wide, 1, activation=activation) if expansion > 1 else []
    layers += convolution(wide, wide, kernel, stride, activation, groups=wide)
    if squeeze:
        layers.append(SqueezeExcitation(wide, max(1, n_in // 4)))
    body = nn.Sequential(*layers, *convolution(wide, n_out, 1))
    return Skip(body, drop) if stride == 1 and n_in == n_out else body
