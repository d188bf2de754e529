"""How much memory there is, and the refusal of work that would not fit."""

from pathlib import Path

import torch

from membership.errors import InputError

GIGABYTE = 1e9


def available_bytes(device: torch.device) -> float:
    """Memory that could still be taken on a device; infinite where the system does not say."""
    if device.type == "cuda":
        return float(torch.cuda.mem_get_info(device)[0])
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return float("inf")
    sizes = dict(line.split(":", 1) for line in lines)
    return float(sizes["MemAvailable"].split()[0]) * 1024


def require_memory(needed: float, device: torch.device, what: str, instead: str) -> None:
    """Raise an InputError when `needed` bytes are more than there are.

    Parameters
    ----------
    needed : float
        Bytes.
    device : torch.device
        Where they are needed.
    what, instead : str
        What needs them, and what to do where they are not there.
    """
    free = available_bytes(device)
    if needed > free:
        raise InputError(
            f"{what} needs about {needed / GIGABYTE:.1f} gigabytes of memory, and "
            f"{free / GIGABYTE:.1f} are free; {instead}"
        )
