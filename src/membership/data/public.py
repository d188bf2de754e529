"""Public data sets: ``data/registry.toml``, their files, where they come from, their check."""

import difflib
import os
import shutil
import struct
import tarfile
import tomllib
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np

from membership import downloads, paths
from membership.data import parsers
from membership.data.dataset import Dataset, canonical_order, combine, record_hashes
from membership.data.npz import Prepared, reason
from membership.errors import InputError, brief

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
    encoded : int
        Features of a record once its words are one-hot (see `one_hot`); 0 where it has none.
    scale : float
        What stored values are divided by on loading: 255 for images, 1 for tabular data.
    digest : str
        Order-independent SHA-256 of the records; empty where nobody here could compute it.
    stand_in : str
        What does in its place for a first look, in nearly every case an embedded set.
    note : str
        What a reader must know: records left out, records that repeat.
    parser : str
        Format of the upstream files (a key of `PARSERS`); empty
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
    encoded: int = 0
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
def _registry(path: Path) -> dict[str, Entry]:
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
        return {
            name: Entry(
                name=name,
                # pyrefly: ignore[bad-argument-type] - what the file holds is not known here
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
    return dict(_registry(registry_file()))


def names() -> list[str]:
    """Return every name that ``load`` knows: the registry's, and the simulator."""
    return [*entries(), PURCHASE_LIKE]


def entry(name: str) -> Entry:
    """Look one data set up."""
    known = entries()
    if name not in known:
        raise unknown(name)
    return known[name]


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


ENVIRONMENT = "MEMBERSHIP_DATA"


def places(root: str | os.PathLike[str] | None = None) -> list[Path]:
    """Return the folders that are searched, in order: `root`, ``$MEMBERSHIP_DATA``, ``data/``.

    Raises
    ------
    InputError
        `root` or ``$MEMBERSHIP_DATA`` is given and is no folder.
    """
    named = {"data_root": root, f"${ENVIRONMENT}": os.environ.get(ENVIRONMENT)}
    folders = []
    for origin, folder in named.items():
        if not folder:
            continue
        path = paths.own_path(str(folder))
        if not os.path.isdir(path):  # unlike the method it has no error of its own
            raise InputError(f"{origin}={str(folder)!r} is no folder; give one that exists")
        folders.append(path)
    return [*folders, paths.data_dir()]


def locate(name: str, root: str | os.PathLike[str] | None = None) -> Path | None:
    """Return the first ``<name>.npz`` in those folders, None where there is none."""
    candidates = (folder / f"{name}.npz" for folder in places(root))
    return next((file for file in candidates if os.path.isfile(file)), None)


def looked_in(name: str, root: str | os.PathLike[str] | None = None) -> str:
    """Say where a file was looked for, for a message."""
    return f"{name}.npz is not in {', '.join(map(str, places(root)))}"


PARSERS: dict[str, Callable[[Path], Prepared]] = {
    "idx": parsers.idx,
    "cifar10": parsers.cifar10,
    "cifar100": parsers.cifar100,
    "location30": parsers.location30,
    "purchase100": parsers.purchase100,
    "texas100": parsers.texas100,
    "adult": parsers.adult,
}
RETRIES = 1


def download_folder(entry: Entry) -> Path:
    """Where the upstream files of a data set lie until they are converted."""
    return paths.data_dir() / "downloads" / entry.name


def download(entry: Entry) -> Path:
    """Fetch every upstream file of a data set, each checked against its published hash.

    A file that is already there whole is not fetched again, so an interrupted download goes on
    with the next file. Mirrors are tried in turn, each twice; one that keeps silent for ten seconds
    counts as a failure.
    """
    folder = download_folder(entry)
    for file, known_hash in entry.files.items():
        failures = []
        for mirror in entry.mirrors:
            try:
                downloads.fetch(mirror, file, known_hash, folder, RETRIES)
                break
            except (OSError, ValueError) as error:
                failures.append(f"{mirror}{file} ({downloads.why(error)})")
        else:
            raise InputError(f"cannot be downloaded from {', '.join(failures)}")
    return folder


def convert(entry: Entry, folder: Path) -> Prepared:
    """Parse the upstream files of a data set.

    Raises
    ------
    InputError
        A file is truncated or of another format. Where no hash of it is published, nothing else
        tells that the download was bad: it is deleted, so that the next fetch asks again.
    """
    try:
        return PARSERS[entry.parser](folder)
    except (
        OSError, EOFError, ValueError, KeyError, struct.error, tarfile.TarError, zlib.error
    ) as error:  # fmt: skip
        remedy = "delete that folder and fetch again"
        if not all(entry.files.values()):
            discard(entry)
            remedy = "they are deleted: fetch again, later or over another network"
        raise InputError(
            f"cannot read the upstream files of {entry.name} in {folder}: {reason(error)}; {remedy}"
        ) from error


def discard(entry: Entry) -> None:
    """Delete the upstream files of a data set once they are converted."""
    shutil.rmtree(download_folder(entry), ignore_errors=True)


@dataclass(frozen=True, eq=False)
class Identified:
    """The arrays of a public data set in canonical order, with their digest."""

    arrays: Prepared
    digest: str


def identify(entry: Entry, arrays: Prepared, where: str) -> Identified:
    """Check that these arrays are a public data set, and put its records in canonical order.

    Parameters
    ----------
    entry : Entry
    arrays : Prepared
        From a prepared file or from upstream, in any order.
    where : str
        Named in messages.

    Raises
    ------
    InputError
        The number, the shape or the content of the records is another than the registry's.
    """
    if entry.drop:
        arrays = arrays.keep(~listed(entry, arrays))
    shape = channels_first(arrays.x, where).shape[1:]
    if len(arrays.x) != entry.records or shape != entry.shape:
        raise InputError(
            f"{where} holds {len(arrays.x):,} records of shape {shape} where {entry.name} has "
            f"{entry.records:,} of {entry.shape}; {_remedy(entry)}"
        )
    hashes = record_hashes(arrays.x, arrays.y)
    digest = combine(hashes, arrays.train)
    if entry.digest and digest != entry.digest:
        raise InputError(
            f"{where} does not hold the public records of {entry.name}: their digest is "
            f"{digest[:12]}..., not {entry.digest[:12]}...; {_remedy(entry)}"
        )
    return Identified(arrays.keep(canonical_order(hashes, arrays.train)), digest)


def _remedy(entry: Entry) -> str:
    return f"remove the file and fetch {entry.name} again, or give your own data by its path"


def listed(entry: Entry, arrays: Prepared) -> np.ndarray:
    """Mark the records that the data set's drop list names.

    The list names a record by split, label and rank: its position among the records of its
    label in the official order. A prepared file that was shuffled brings the ranks along;
    otherwise the file is in the official order, or lacks the listed records already, and then
    nothing is marked.
    """
    unwanted = _drop_list(registry_file().parent / entry.drop)
    nothing = np.zeros(len(arrays.x), dtype=bool)
    if arrays.train is None or len(arrays.x) != entry.records + len(unwanted):
        return nothing
    rank = arrays.extra.get("rank")
    if rank is None:
        rank = _position_in_class(arrays.train, arrays.y)
    keys = zip(arrays.train.tolist(), arrays.y.tolist(), rank.tolist(), strict=True)
    return np.fromiter((key in unwanted for key in keys), dtype=bool, count=len(nothing))


@lru_cache
def _drop_list(path: Path) -> frozenset[tuple[bool, int, int]]:
    rows = [line.split(",") for line in path.read_text(encoding="ascii").splitlines()[1:]]
    return frozenset((split == "train", int(label), int(rank)) for split, label, rank in rows)


def _position_in_class(train: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return how many earlier records of the same split have the same label."""
    rank = np.empty(len(y), dtype=np.int64)
    for split in (True, False):
        for label in np.unique(y):
            same = np.flatnonzero((train == split) & (y == label))
            rank[same] = np.arange(len(same))
    return rank


def channels_first(x: np.ndarray, where: str) -> np.ndarray:
    """Return images as (records, channels, height, width); tabular records as they are.

    Raises
    ------
    InputError
        The array has five or more axes, or neither the last nor the second of four is 1 or 3.
    """
    if x.ndim == 2:
        return x
    if x.ndim == 3:
        return x[:, None]
    if x.ndim == 4 and x.shape[3] in (1, 3):
        return x.transpose(0, 3, 1, 2)
    if x.ndim == 4 and x.shape[1] in (1, 3):
        return x
    raise InputError(
        f"{where}: x has shape {x.shape}; give (records, features), (records, height, width) or "
        "images with 1 or 3 channels, last or second"
    )


def as_float(x: np.ndarray, scale: float, where: str) -> np.ndarray:
    """Return contiguous float32 records, divided by `scale`, images channels first."""
    values = np.ascontiguousarray(channels_first(x, where), dtype=np.float32)
    if scale != 1.0:
        values /= np.float32(scale)
    return values


def as_dataset(entry: Entry, identified: Identified, where: str) -> Dataset:
    """Make the `Dataset` of a public set from records whose digest has been looked at.

    Raises
    ------
    InputError
        Records do not make a data set; `where` names their file in the message.
    """
    arrays = identified.arrays
    return Dataset(
        x=as_float(arrays.x, entry.scale, where),
        y=arrays.y,
        name=entry.name,
        n_classes=entry.n_classes,
        source=entry.source,
        digest=identified.digest,
        official_train=arrays.train,
        verified=bool(entry.digest),
        columns=arrays.columns,
        categories=arrays.categories,
    )
