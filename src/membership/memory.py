"""How much memory there is, and the refusal of work that would not fit."""

import math
import os
import resource
from pathlib import Path
from typing import Any

from membership.errors import InputError

_MEMINFO = Path("/proc/meminfo")
_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def available(device: Any = "cpu") -> float:
    """The bytes that a new computation may take, of the machine or of one of its GPUs."""
    if str(device).startswith("cuda"):
        import torch

        return float(torch.cuda.mem_get_info(device)[0])
    return min(_of_machine(), _allowed())


def _of_machine() -> float:
    if _MEMINFO.exists():
        for line in _MEMINFO.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return float(line.split()[1]) * 1024
    return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))


def _allowed() -> float:
    """What `ulimit -v` leaves this process; infinite without a limit, or off Linux."""
    limit, held = resource.getrlimit(resource.RLIMIT_AS)[0], _of_process("VmSize:")
    if limit == resource.RLIM_INFINITY or math.isnan(held):
        return math.inf
    return max(limit - held, 0.0)


def require(needed: float, what: str, instead: str, device: Any = "cpu") -> None:
    """Raise an InputError where `what` needs more bytes than there are; say what to do instead."""
    free = available(device)
    if needed > free:
        raise InputError(
            f"{what} needs about {needed / 1e9:.1f} gigabytes of memory, and {free / 1e9:.1f} are "
            f"free; {instead}"
        )


def reset_peak() -> float:
    """The bytes that this process holds now, from which `peak` counts anew; NaN off Linux."""
    try:
        _CLEAR.write_text("5")
    except OSError:
        return math.nan
    return _of_process("VmRSS:")


def peak() -> float:
    """The most bytes that this process has held since `reset_peak`; NaN off Linux."""
    return _of_process("VmHWM:")


def _of_process(name: str) -> float:
    if not _STATUS.exists():
        return math.nan
    found = (line.split() for line in _STATUS.read_text().splitlines())
    return next(float(words[1]) * 1024 for words in found if words and words[0] == name)
