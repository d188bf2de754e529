"""An exhibit's table from its rows, and what it says of its origin."""

from collections.abc import Iterable
from typing import Any, Protocol

import pandas as pd


class Gathered(Protocol):
    """Evidence, or what holds it: its attributes say what it was gathered from."""

    @property
    def attrs(self) -> dict[Any, Any]:
        """As the evidence's file has them."""
        ...


def tidy(rows: Iterable[dict[str, Any]] | Iterable[pd.DataFrame], attrs: Any) -> pd.DataFrame:
    """Rows, or tables below one another, as one table that says where it comes from."""
    parts: list[Any] = list(rows)
    whole = bool(parts) and isinstance(parts[0], pd.DataFrame)
    table = pd.concat(parts, ignore_index=True) if whole else pd.DataFrame(parts)
    table.attrs = attrs
    return table


def origin(
    gathered: Iterable[Gathered], *more: str, named: bool = False, **fields: Any
) -> dict[str, Any]:
    """What a table made from this evidence says of its origin: data, departures, setup, sizes.

    `more` are further departures from the paper; `named` puts its data set before each of the
    evidence's own. What the table says beside it, such as a note, are the `fields`.
    """
    attrs = [evidence.attrs for evidence in gathered]
    departures = [
        f"{facts['set']}: {text}" if named else text
        for facts in attrs
        for text in facts["deviations"]
    ]
    setup = {facts["set"]: facts["setup"] for facts in attrs if "setup" in facts}
    sizes = _sizes(attrs)
    return {
        "data": {name: digest for facts in attrs for name, digest in facts["data"].items()},
        "deviations": [*dict.fromkeys([*departures, *more])],
        **({"setup": setup} if setup else {}),
        "device": attrs[0]["device"] if attrs else "cpu",
        **({"sizes": sizes} if sizes else {}),
        **fields,
    }


def _sizes(attrs: list[dict[Any, Any]]) -> dict[str, str]:
    """One text a size where all data sets agree, else each data set's."""
    by_name: dict[str, dict[str, str]] = {}
    for facts in attrs:
        for name, text in facts.get("sizes", {}).items():
            by_name.setdefault(name, {})[facts["set"]] = text
    return {
        name: next(iter(texts.values()))
        if len(set(texts.values())) == 1
        else ", ".join(f"{data} {text}" for data, text in texts.items())
        for name, texts in by_name.items()
    }
