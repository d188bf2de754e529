"""Attacks that are not this package's: of others that are installed, or of a module by its name."""

import importlib
import importlib.util
import os
import sys
import warnings
from collections.abc import Mapping
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any

from membership.errors import InputError, brief

GROUP = "membership.attacks"
"""The group of entry points whose modules declare attacks as they are imported."""


@lru_cache(maxsize=1)
def import_installed() -> None:
    """Import what installed packages name under `GROUP`, once; one that fails is left out."""
    for point in metadata.entry_points(group=GROUP):
        try:
            point.load()
        except Exception as error:
            origin = point.dist.name if point.dist else "a package"
            warnings.warn(
                f"the attacks of {origin} are left out: {point.value} cannot be imported: "
                f"{type(error).__name__}: {brief_line(error)}",
                stacklevel=3,
            )


def import_module(name: str, declared: Mapping[str, Any]) -> list[str]:
    """Import a module that declares attacks, and name them.

    Parameters
    ----------
    name : str
        As Python imports it, also from the working folder; or a file that ends in ``.py``.
    declared : mapping
        All attacks that are declared by now, by name.

    Raises
    ------
    InputError
        It cannot be found or imported, or declares nothing.
    """
    before = set(declared)
    already = name in sys.modules
    try:
        _from_file(Path(name)) if name.endswith(".py") else _from_here(name)
    except Exception as error:
        raise InputError(
            f"--import {name}: it cannot be imported: {type(error).__name__}: {brief_line(error)}"
        ) from error
    new = [one for one in declared if one not in before]
    if not new and not already:
        raise InputError(
            f"--import {name}: it declares no attack; let it call membership.attacks.declare"
        )
    return new


def _from_here(name: str) -> None:
    """As ``python -m`` does, the working folder first; commands have no such place of their own."""
    here = os.getcwd()
    sys.path.insert(0, here)
    try:
        importlib.import_module(name)
    finally:
        sys.path.remove(here)


def _from_file(file: Path) -> None:
    if not file.is_file():
        raise FileNotFoundError(f"there is no file {file}")
    spec: Any = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    # Where what it defines looks for its own module.
    sys.modules.setdefault(file.stem, module)
    spec.loader.exec_module(module)


def brief_line(error: BaseException) -> str:
    """The beginning of another program's message, on one line."""
    text = " ".join(str(error).split())
    return text if len(text) <= 200 else brief(text, 200)
