"""Fetching a data set from its makers, and converting what they publish."""

import shutil
import struct
import tarfile
import zlib
from collections.abc import Callable
from pathlib import Path

from membership import paths
from membership.data import images, tables
from membership.data.npz import Prepared, reason
from membership.data.registry import Entry
from membership.errors import InputError

PARSERS: dict[str, Callable[[Path], Prepared]] = {
    "idx": images.idx,
    "cifar10": images.cifar10,
    "cifar100": images.cifar100,
    "location30": tables.location30,
    "purchase100": tables.purchase100,
    "texas100": tables.texas100,
    "adult": tables.adult,
}
RETRIES = 3


def download_folder(entry: Entry) -> Path:
    """Where the upstream files of a data set lie until they are converted."""
    return paths.data_dir() / "downloads" / entry.name


def download(entry: Entry) -> Path:
    """Fetch every upstream file of a data set, each checked against its published hash.

    A file that is already there whole is not fetched again, so an interrupted download goes on
    with the next file. Mirrors are tried in turn, each up to four times.

    Returns
    -------
    Path
        The folder that holds them.

    Raises
    ------
    InputError
        No mirror answered, a hash is wrong, or the folder cannot be written to.
    """
    folder = download_folder(entry)
    for file, known_hash in entry.files.items():
        failures = []
        for mirror in entry.mirrors:
            try:
                _fetch(mirror, file, known_hash, folder)
                break
            except (OSError, ValueError) as error:
                failures.append(f"{mirror}{file} ({type(error).__name__})")
        else:
            raise InputError(f"cannot be downloaded from {', '.join(failures)}")
    return folder


def _fetch(mirror: str, file: str, known_hash: str, folder: Path) -> None:
    import pooch  # needed for a download only

    pooch.get_logger().setLevel("WARNING")
    pooch.create(
        path=folder, base_url=mirror, registry={file: known_hash or None}, retry_if_failed=RETRIES
    ).fetch(file, progressbar=True)


def convert(entry: Entry, folder: Path) -> Prepared:
    """Parse the upstream files of a data set.

    Raises
    ------
    InputError
        A file is truncated or of another format.
    """
    try:
        return PARSERS[entry.parser](folder)
    except (
        OSError, EOFError, ValueError, KeyError, struct.error, tarfile.TarError, zlib.error
    ) as error:  # fmt: skip
        raise InputError(
            f"cannot read the upstream files of {entry.name} in {folder}: {reason(error)}; delete "
            "that folder and fetch again"
        ) from error


def discard(entry: Entry) -> None:
    """Delete the upstream files of a data set once they are converted."""
    shutil.rmtree(download_folder(entry), ignore_errors=True)
