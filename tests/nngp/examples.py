"""Kernels of every kind."""

from membership import nngp

KERNELS = [
    nngp.fully_connected(3, "relu", 1.3, 0.2),
    nngp.fully_connected(3, "gelu", 1.3, 0.2),
    nngp.fully_connected(2, "erf", 1.3, 0.2),
    nngp.convolutional(2, "relu"),
    nngp.convolutional(1, "gelu"),
    nngp.rbf(0.5),
    nngp.polynomial(2, 1.0).scaled(3.0),
]
NAMES = [repr(kernel)[:40] for kernel in KERNELS]
