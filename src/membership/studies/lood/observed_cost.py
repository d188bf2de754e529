"""What the paper's networks and LOOD cost one processor, for one record (Control 2)."""

import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import torch
import xarray as xr
from torch import nn

from membership import evidence, lood
from membership.studies.lood.kernels import kernel_of
from membership.studies.lood.origin import of_records
from membership.studies.lood.records import load
from membership.studies.lood.sizes import BATCH, LAYERS, README_RECORDS, WIDTH

REPEATS, TIMED = 5, 20
"""Timings of each, and batches of one timing of the training: early and late ones cost the same."""


def cost(settings: Any) -> xr.Dataset:
    """Processor seconds of a batch of the paper's networks, and of LOOD with its kernel."""
    own = load(settings.model_copy(update={"n_records": README_RECORDS}))
    x = torch.tensor(own.dataset.x[: BATCH * TIMED].reshape(BATCH * TIMED, -1)).float()
    y = torch.tensor(own.dataset.y[: BATCH * TIMED]).long()

    def of_one() -> None:
        lood.leave_one_out(kernel_of(settings)(own.inputs()), own.targets, settings.noise)

    return evidence.dataset(
        "measured",
        {
            "batch": ("repeat", [_timed(_training(x, y)) / TIMED for _ in range(REPEATS)]),
            "lood": ("repeat", [_timed(of_one) for _ in range(REPEATS)]),
        },
        {"repeat": np.arange(REPEATS)},
        **of_records(own, settings),
    )


def _training(x: torch.Tensor, y: torch.Tensor) -> Callable[[], None]:
    widths = [x.shape[1], *[WIDTH] * LAYERS]
    hidden = [
        layer for pair in pairwise(widths) for layer in (nn.Linear(*pair, bias=False), nn.ReLU())
    ]
    network = nn.Sequential(*hidden, nn.Linear(WIDTH, 2, bias=False))
    descent = torch.optim.SGD(network.parameters(), lr=1e-3)

    def train() -> None:
        for batch in range(TIMED):
            rows = slice(BATCH * batch, BATCH * (batch + 1))
            descent.zero_grad()
            nn.functional.cross_entropy(network(x[rows]), y[rows]).backward()
            descent.step()

    return train


def _timed(work: Callable[[], None]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start
