"""Fetching a data set from its makers, and converting what they publish."""

import shutil
import struct
import tarfile
import warnings
import zlib
from collections.abc import Callable
from pathlib import Path

from membership import paths
from membership.data import parsers
from membership.data.npz import Prepared, reason
from membership.data.registry import Entry
from membership.errors import InputError

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
# Seconds that a server may keep silent; a slow one that goes on sending is waited for.
TIMEOUT = 10


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
                _fetch(mirror, file, known_hash, folder)
                break
            except (OSError, ValueError) as error:
                failures.append(f"{mirror}{file} ({_why(error)})")
        else:
            raise InputError(f"cannot be downloaded from {', '.join(failures)}")
    return folder


def _fetch(mirror: str, file: str, known_hash: str, folder: Path) -> None:
    with warnings.catch_warnings():  # its bars are text in a notebook without ipywidgets
        warnings.filterwarnings("ignore", message="IProgress not found")
        import pooch  # needed for a download only

    pooch.get_logger().setLevel("WARNING")
    pooch.create(
        path=folder, base_url=mirror, registry={file: known_hash or None}, retry_if_failed=RETRIES
    ).fetch(file, downloader=pooch.HTTPDownloader(progressbar=True, timeout=TIMEOUT))


def _why(error: Exception) -> str:
    """Why a mirror did not do: pooch raises a plain ValueError for another hash."""
    if type(error) is ValueError:
        return "another file than the published one: its hash differs"
    name = type(error).__name__
    return f"no answer within {TIMEOUT} s, {name}" if "Timeout" in name else name


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
