"""Whether a computation fits into memory, asked before it begins."""

import os
from pathlib import Path

from membership.errors import InputError

_MEMINFO = Path("/proc/meminfo")


def available() -> int:
    """Return the bytes of memory that a new computation may take."""
    if _MEMINFO.exists():
        for line in _MEMINFO.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def require(n_bytes: int, what: str) -> None:
    """Refuse what does not fit.

    Parameters
    ----------
    n_bytes : int
        What the computation will hold at its peak.
    what : str
        What it is, for the message: "the kernel of 10,000 and 10,000 records".

    Raises
    ------
    InputError
        More than is available; the message gives both in gigabytes.
    """
    free = available()
    if n_bytes > free:
        raise InputError(
            f"{what} takes {n_bytes / 1e9:.1f} GB of memory and {free / 1e9:.1f} GB are available; "
            "give fewer records"
        )
