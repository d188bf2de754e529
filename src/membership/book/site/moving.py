"""The picture at the head of a chapter that its reader moves: the place that its script fills."""

import json
import tomllib
from collections.abc import Callable
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

from membership.errors import InputError

SCRIPTS = "../_static"
"""From the folder of the book's pages; ``moving/`` has a script and a still picture per chapter."""
NEEDS = {"bmia": "audit-beta", "gmip": "game-numbers", "loss_enough": "game-numbers"}
"""What a picture computes with that another page's script has."""


@cache
def pictures() -> dict[str, dict[str, Any]]:
    """What ``moving.toml`` says of each chapter's picture."""
    file = files("membership") / "book" / "site" / "moving.toml"
    return tomllib.loads(file.read_text(encoding="utf-8"))


def picture(chapter: str) -> dict[str, Any]:
    """What is said of one chapter's picture."""
    if chapter not in pictures():
        raise InputError(f"no moving picture {chapter!r}; there are {', '.join(pictures())}")
    return pictures()[chapter]


def figure(chapter: str, base: str, read: dict[str, Callable[..., str]]) -> str:
    """HTML of a chapter's moving picture.

    Without a script, and until it runs, the still picture of its first state stands there.

    Parameters
    ----------
    chapter : str
        Whose it is; names the script.
    base : str
        From the page that is written to the folder of the book's pages.
    read : dict
        By ``"exhibit"`` and ``"printed"``, what reads a number of a table by name, from its row.
    """
    said = picture(chapter)
    numbers = json.dumps(_read(said.get("numbers", {}), read))
    needed = [NEEDS[chapter]] if chapter in NEEDS else []
    names = (*needed, "moving/base", f"moving/{chapter}", "full-screen")
    label = escape(said["label"])
    return (
        f'<figure class="game moving" role="group" aria-label="{label}" '
        f'data-moving="{chapter}" data-numbers="{escape(numbers)}">'
        f'<img class="moving-still" src="{base}{SCRIPTS}/moving/{chapter}.svg" alt="{label}">'
        "</figure>"
        + "".join(f'<script src="{base}{SCRIPTS}/{name}.js"></script>' for name in names)
    )


def _read(named: Any, read: dict[str, Callable[..., str]]) -> Any:
    """The same lists and tables, with numbers in the place of what names them."""
    if isinstance(named, list):
        return [_read(one, read) for one in named]
    if not isinstance(named, dict):
        return named
    for source, number in read.items():
        if isinstance(named.get(source), str):
            where = {name: value for name, value in named.items() if name != source}
            return float(number(named[source], ".10g", **where))
    return {name: _read(one, read) for name, one in named.items()}
