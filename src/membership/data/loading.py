"""One way in: a name or a path becomes a verified `Dataset`."""

import gzip
import importlib.util
import os
import warnings
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from membership import addresses, paths
from membership.data import npz, public
from membership.data.dataset import Dataset, label_parity, standardised
from membership.data.npz import Prepared, reason
from membership.data.own import load_own
from membership.data.public import PURCHASE_LIKE, as_dataset, identify, locate, looked_in
from membership.data.simulate import MOST_RECORDS, simulate_purchase
from membership.errors import InputError, brief

PURCHASE_RECORDS = 10_000
PURCHASE_SEED = 0


class UnverifiedDataWarning(UserWarning):
    """The registry holds no digest for a data set, so its records could not be verified."""


def load(
    name_or_path: str | os.PathLike[str],
    root: str | os.PathLike[str] | None = None,
    *,
    label: str = "",
    standardise: bool = False,
) -> Dataset:
    """Load a data set by its registry name, or a user's own by its path.

    A named set is looked for as ``<name>.npz`` in `root`, in ``$MEMBERSHIP_DATA`` and in the
    project's ``data/``, then downloaded from upstream, converted and kept in ``data/``. Its
    records are verified against the registry and come in an order that depends on them alone.

    Parameters
    ----------
    name_or_path : str or path
        A name from ``data/registry.toml``; ``purchase_like`` (10,000 simulated records, seed 0)
        or ``purchase_like:25000``; or anything that ends in ``.npz``, ``.csv``, ``.tsv``, ``.txt``
        (these three packed by gzip or not) or ``.parquet``, or holds a path separator: a file, or
        a folder with one folder of images a class. With ``-odd`` behind a name, as in
        ``mnist-odd``, the label is whether it is odd.
    root : str or path, optional
        A folder to look in first; empty is the same as None.
    label : str
        The column of a table that holds the classes; the same as ``:column`` behind its path.
    standardise : bool
        Whether to bring features to mean 0 and standard deviation 1 (see
        `membership.data.standardised`); the same as ``standardised:`` in front.

    Returns
    -------
    Dataset

    Warns
    -----
    UnverifiedDataWarning
        The registry holds no digest for this set.

    Raises
    ------
    InputError
        The name is unknown, the file is missing and cannot be downloaded, or it does not hold
        what it should (see `membership.data.own.load_own` and
        `membership.data.public.identify`).
    """
    address = addresses.read(name_or_path).asked(label, standardise)
    dataset = _as_stored(address, root)
    if address.standardise:
        dataset = standardised(dataset)
    return label_parity(dataset) if address.parity else dataset


def _as_stored(address: addresses.Address, root: str | os.PathLike[str] | None) -> Dataset:
    text = address.place
    if address.is_own:
        return load_own(paths.own_path(text), address.label)
    if is_purchase_like(text):
        return simulate_purchase(purchase_records(text), PURCHASE_SEED)
    entry = public.entry(text)
    arrays, where = EMBEDDED[text]() if text in EMBEDDED else _stored(text, root)
    dataset = as_dataset(entry, identify(entry, arrays, where), where)
    if not dataset.verified:
        warnings.warn(
            f"{text} is unverified: the registry has no digest of its records "
            f"(this copy's is {dataset.digest[:12]}...)",
            UnverifiedDataWarning,
            stacklevel=3,
        )
    return dataset


def fetch(name: str, root: str | os.PathLike[str] | None = None) -> Path:
    """Make sure that a data set lies on this machine.

    Parameters
    ----------
    name, root
        As for `load`, names of downloadable sets only.

    Returns
    -------
    Path
        The prepared file: the one that was found, or ``data/<name>.npz``, newly written.

    Raises
    ------
    InputError
        The name is unknown or needs no file, or the download fails.
    """
    if name in EMBEDDED or is_purchase_like(name):
        raise InputError(f"{name!r} is embedded: there is nothing to fetch, load it by its name")
    entry = public.entry(name)
    prepared = locate(name, root)
    if prepared is not None:
        return prepared
    if not entry.parser:
        raise InputError(
            f"{looked_in(name, root)}, and it comes as a prepared file only; put it there, or "
            f"take {entry.stand_in!r}"
        )
    try:
        folder = public.download(entry)
    except InputError as error:
        raise InputError(
            f"{looked_in(name, root)}, and {error}; put it there, or take the embedded "
            f"{entry.stand_in!r}"
        ) from error
    converted = public.convert(entry, folder)
    try:
        identified = identify(entry, converted, str(folder))
    except InputError:
        # Other records than the public ones, once more: the next fetch must ask again.
        public.discard(entry)
        raise
    target = paths.data_dir() / f"{name}.npz"
    npz.write(target, identified.arrays)
    public.discard(entry)
    return target


def _stored(name: str, root: str | os.PathLike[str] | None) -> tuple[Prepared, str]:
    path = fetch(name, root)
    return npz.read(path), str(path)


def digits() -> tuple[Prepared, str]:
    """Read the digits that scikit-learn carries, 8 x 8 pixels of 0 to 16, and say where from."""
    # Its file alone: scikit-learn's own reader takes seconds to import. The digest is checked.
    spec = importlib.util.find_spec("sklearn")
    if spec is None or not spec.submodule_search_locations:
        raise InputError("dataset='digits' comes with scikit-learn, which is not installed here")
    path = Path(spec.submodule_search_locations[0], "datasets", "data", "digits.csv.gz")
    try:
        with gzip.open(path, "rt") as file:
            table = np.loadtxt(file, delimiter=",", dtype=np.uint8)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise InputError(
            f"cannot read {path}: {reason(error)}; install scikit-learn anew"
        ) from error
    pixels, label = table[:, :-1].reshape(-1, 8, 8), table[:, -1].astype(np.int64)
    return Prepared(pixels, label, None), "scikit-learn"


EMBEDDED: dict[str, Callable[[], tuple[Prepared, str]]] = {public.DIGITS: digits}
"""Sets of the registry that come with installed code: what reads each, and from where."""


def is_purchase_like(name: str) -> bool:
    """Whether a name asks for the simulator: ``purchase_like``, with or without ``:N`` records."""
    return name.split(":", maxsplit=1)[0] == PURCHASE_LIKE


def purchase_records(name: str) -> int:
    """Return how many records ``purchase_like`` or ``purchase_like:N`` asks for.

    Raises
    ------
    InputError
        N is no whole number of 1 to 2,000,000.
    """
    _, colon, size = name.partition(":")
    if not colon:
        return PURCHASE_RECORDS
    digits_only = size.isascii() and size.isdigit() and len(size) <= len(str(MOST_RECORDS))
    if not (digits_only and 0 < int(size) <= MOST_RECORDS):
        raise InputError(
            f"dataset={brief(name)}: give a number of records of 1 to {MOST_RECORDS:,} after the "
            f"colon, as in {PURCHASE_LIKE}:25000"
        )
    return int(size)


@dataclass(frozen=True)
class Report:
    """What `check` found.

    Parameters
    ----------
    name : str
    file : str
        Where the records lie; empty where they lie nowhere.
    status : str
        ``ok`` (the digest is the registry's), ``unverified`` (the registry holds none),
        ``wrong``, ``missing`` or ``simulated``.
    detail : str
        The digest of the records, or what is wrong.
    """

    name: str
    file: str
    status: str
    detail: str

    def __str__(self) -> str:
        return ": ".join(part for part in (self.name, self.status, self.file, self.detail) if part)


def check(name: str, root: str | os.PathLike[str] | None = None) -> Report:
    """Verify a data set without downloading anything.

    Parameters
    ----------
    name, root
        As for `membership.data.load`.

    Returns
    -------
    Report

    Raises
    ------
    InputError
        The name is unknown, or `root` is no folder.
    """
    if is_purchase_like(name):
        return Report(name, "", "simulated", f"{purchase_records(name):,} records on loading")
    entry = public.entry(name)
    path = None if name in EMBEDDED else locate(name, root)
    if path is None and name not in EMBEDDED:
        return Report(name, "", "missing", looked_in(name, root))
    where = "" if path is None else str(path)
    try:
        arrays, where = EMBEDDED[name]() if path is None else (npz.read(path), where)
        identified = identify(entry, arrays, where)
    except InputError as error:
        return Report(name, where, "wrong", str(error))
    return Report(name, where, "ok" if entry.digest else "unverified", identified.digest)


_NO_DATA_SET = ("profile", "data_root", "results_dir", "device")


def input_files(parameters: Mapping[str, Any], further: Iterable[str] = ()) -> list[Path]:
    """List the files that a run may read its data from; none for embedded data sets."""
    root = parameters.get("data_root") or None
    values = [value for name, value in parameters.items() if name not in _NO_DATA_SET]
    listed = [part for value in values for part in (value if isinstance(value, list) else [value])]
    files = {file for text in listed if isinstance(text, str) and (file := _file_of(text, root))}
    if files:
        files |= {file for name in further if (file := _file_of(name, root))}
    return sorted(files)


def _file_of(text: str, root: str | None) -> Path | None:
    """The file of a data set under the rule of `membership.data.load`; None where it has none."""
    address = addresses.read(text)
    name = address.place
    if address.is_own:
        path = Path(name).expanduser()
        return path.resolve() if path.exists() else None
    prepared = locate(name, root) if name in public.names() else None
    return prepared.resolve() if prepared else None
