"""What a chapter's ``exhibits.toml`` says of its exhibits: all that lists and citations need."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from membership.book.exhibits.exhibit_pages import ID
from membership.errors import InputError

_KINDS = {"tab": "table", "fig": "figure", "ctl": "control"}


def file_of(chapter: str) -> Path:
    """Where a chapter declares its exhibits."""
    return Path(__file__).parents[1] / "studies" / chapter / "exhibits.toml"


@cache
def _read(chapter: str) -> dict[str, Any]:
    file = file_of(chapter)
    try:
        return tomllib.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{file}: {error}; mend it there") from None


def words_of(chapter: str) -> dict[str, dict[str, Any]]:
    """What is said of each exhibit, by id: its label, its kind and the fields of its table."""
    prefix = chapter.replace("_", "-")
    return {
        f"{prefix}-{name}": {"label": label_of(f"{prefix}-{name}"), **fields}
        for name, fields in _read(chapter).items()
        if isinstance(fields, dict)
    }


def about_of(chapter: str) -> str:
    """The function, of all that was read, that gives what a table of the chapter says of itself."""
    return _read(chapter).get("about", "")


def kind_of(exhibit_id: str) -> str:
    """``"table"``, ``"figure"`` or ``"control"``."""
    return _KINDS[ID.fullmatch(exhibit_id)["kind"]]


def label_of(exhibit_id: str) -> str:
    """The label that an id gives: "Figure 2" of ``iha-fig-2``, "Control 10" of ``iha-ctl-10``."""
    number = exhibit_id[ID.fullmatch(exhibit_id).end("kind") + 1 :]
    return f"{kind_of(exhibit_id).capitalize()} {number}"
