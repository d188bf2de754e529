"""The registry of public data sets: ``data/registry.toml``, read and checked once."""

import difflib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from membership import paths
from membership.data.npz import reason
from membership.errors import InputError
from membership.settings import brief

PURCHASE_LIKE = "purchase_like"
DIGITS = "digits"


@dataclass(frozen=True)
class Entry:
    """One public data set.

    Parameters
    ----------
    name, title, licence, homepage : str
        How it is asked for, what it is, on what terms, and where its makers describe it.
    records : int
        How many records it holds here.
    n_classes : int
    shape : tuple of int
        Shape of one record once loaded, channels first.
    scale : float
        What stored values are divided by on loading: 255 for images, 1 for tabular data.
    digest : str
        Order-independent SHA-256 of the records; empty where nobody here could compute it.
    stand_in : str
        What does in its place for a first look, in nearly every case an embedded set.
    note : str
        What a reader must know: records left out, records that repeat.
    parser : str
        Format of the upstream files (a key of `membership.data.upstream.PARSERS`); empty
        where there is no upstream.
    mirrors : tuple of str
        Addresses that the file names are appended to, in the order they are tried.
    files : mapping of str to str
        Upstream file name to its published hash (``sha256:...``), empty where none is known.
    drop : str
        A file beside the registry that lists records to leave out; empty for none.
    """

    name: str
    title: str
    licence: str
    homepage: str
    records: int
    n_classes: int
    shape: tuple[int, ...]
    scale: float = 1.0
    digest: str = ""
    stand_in: str = DIGITS
    note: str = ""
    parser: str = ""
    mirrors: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    drop: str = ""

    @property
    def source(self) -> str:
        """One sentence for the page."""
        return f"{self.title} ({self.homepage})." + (f" {self.note}" if self.note else "")


def registry_file() -> Path:
    """The file that holds the registry: ``data/registry.toml``, as the package ships it."""
    return paths.shipped("data") / "registry.toml"


@lru_cache
def _read(path: Path) -> dict[str, Entry]:
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
        return {
            name: Entry(
                name=name,
                **{k: tuple(v) if isinstance(v, list) else v for k, v in table.items()},
            )
            for name, table in tables.items()
        }
    except (OSError, TypeError, tomllib.TOMLDecodeError) as error:
        raise InputError(
            f"cannot read the registry of data sets {path}: {reason(error)}; run from a "
            "checkout of the project"
        ) from error


def entries() -> dict[str, Entry]:
    """Return every data set of the registry by name, in the order of the file."""
    return dict(_read(registry_file()))


def names() -> list[str]:
    """Return every name that ``load`` knows: the registry's, and the simulator."""
    return [*entries(), PURCHASE_LIKE]


def entry(name: str) -> Entry:
    """Look one data set up."""
    found = entries().get(name)
    if found is None:
        raise unknown(name)
    return found


def unknown(name: str) -> InputError:
    """Build the error for a name that is not in the registry."""
    known = names()
    plain = {other.replace("_", ""): other for other in known}
    wanted = name.lower().replace("_", "").replace("-", "").replace(" ", "")
    close = difflib.get_close_matches(wanted, plain, n=1)
    hint = f": did you mean {plain[close[0]]!r}? Give" if close else "; give"
    return InputError(
        f"dataset={brief(name)} is not known{hint} one of {', '.join(known)}, "
        "or the path of your own .npz, table (.csv, .parquet) or folder of images, which ends in /"
    )
