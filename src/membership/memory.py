"""How much memory there is, and the refusal of work that would not fit."""

import os
from pathlib import Path
from typing import Any

from membership.errors import InputError

_MEMINFO = Path("/proc/meminfo")


def available(device: Any = "cpu") -> float:
    """The bytes that a new computation may take, of the machine or of one of its GPUs."""
    if str(device).startswith("cuda"):
        import torch

        return float(torch.cuda.mem_get_info(device)[0])
    if _MEMINFO.exists():
        for line in _MEMINFO.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return float(line.split()[1]) * 1024
    return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))


def require(needed: float, what: str, instead: str, device: Any = "cpu") -> None:
    """Raise an InputError where `what` needs more bytes than there are; say what to do instead."""
    free = available(device)
    if needed > free:
        raise InputError(
            f"{what} needs about {needed / 1e9:.1f} gigabytes of memory, and {free / 1e9:.1f} are "
            f"free; {instead}"
        )
