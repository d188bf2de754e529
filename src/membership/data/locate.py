"""Where prepared files are looked for."""

import os
from pathlib import Path

from membership import paths
from membership.errors import InputError

ENVIRONMENT = "MEMBERSHIP_DATA"


def places(root: str | os.PathLike[str] | None = None) -> list[Path]:
    """Return the folders that are searched, in order: `root`, ``$MEMBERSHIP_DATA``, ``data/``.

    Raises
    ------
    InputError
        `root` or ``$MEMBERSHIP_DATA`` is given and is no folder.
    """
    named = {"data_root": root, f"${ENVIRONMENT}": os.environ.get(ENVIRONMENT)}
    found = []
    for origin, folder in named.items():
        if not folder:
            continue
        path = paths.own_path(str(folder))
        if not os.path.isdir(path):  # unlike the method it has no error of its own
            raise InputError(f"{origin}={str(folder)!r} is no folder; give one that exists")
        found.append(path)
    return [*found, paths.data_dir()]


def locate(name: str, root: str | os.PathLike[str] | None = None) -> Path | None:
    """Return the first ``<name>.npz`` in those folders, None where there is none."""
    candidates = (folder / f"{name}.npz" for folder in places(root))
    return next((file for file in candidates if os.path.isfile(file)), None)


def looked_in(name: str, root: str | os.PathLike[str] | None = None) -> str:
    """Say where a file was looked for, for a message."""
    return f"{name}.npz is not in {', '.join(map(str, places(root)))}"
