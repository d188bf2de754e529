"""An exhibit on disk: ``<results>/<profile>/<chapter>/<id>.{csv,json,svg,pdf}``."""

import contextlib
import hashlib
import io
import json
import os
from pathlib import Path
from typing import Any

import pandas as pd

from membership import paths
from membership.errors import InputError
from membership.exhibits.listing import find

SUFFIXES = (".csv", ".json", ".svg", ".pdf")
_ATTRIBUTES = ("data", "deviations", "comparable", "device", "note", "timing")


def location(exhibit_id: str, chapter: str, profile: str, root: Path | str | None = None) -> Path:
    """Where an exhibit's files lie, without a suffix.

    Parameters
    ----------
    exhibit_id, chapter, profile : str
        What the path is made of.
    root : Path or str, optional
        The results folder; the project's own where it is None or empty.
    """
    folder = Path(root) if root else paths.results_dir()
    return folder / profile / chapter / exhibit_id


def csv_bytes(table: pd.DataFrame) -> bytes:
    """A table as CSV: ten significant digits, ``\\n`` line ends, the same bytes every time."""
    text = table.to_csv(index=False, float_format="%.10g", lineterminator="\n")
    return text.encode()


def json_bytes(record: dict[str, Any]) -> bytes:
    """A record as JSON with sorted keys.

    Raises
    ------
    InputError
        Something in the record is not a plain JSON value, or is NaN or infinite.
    """
    try:
        text = json.dumps(record, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InputError(f"the record cannot be saved ({error}); give plain JSON values") from error
    return (text + "\n").encode()


def write_together(target: Path, contents: dict[str, bytes]) -> None:
    """Write all the files of one exhibit or none of them.

    Parameters
    ----------
    target : Path
        The exhibit's path without suffix.
    contents : dict
        Bytes by suffix; a file that the exhibit had before and is not named here is removed,
        so that no figure of an earlier run stands beside a later table.

    Raises
    ------
    InputError
        The folder cannot be written to; what was there before is untouched.
    RunError
        The disk is full; likewise.
    """
    final = {suffix: target.with_name(target.name + suffix) for suffix in SUFFIXES}
    for path in final.values():
        if path.is_dir():
            raise InputError(f"cannot write {path}: it is a folder; remove it")
    staged = {
        suffix: target.with_name(f".{target.name}.{os.getpid()}{suffix}") for suffix in contents
    }
    try:
        for suffix, content in contents.items():
            paths.atomic_write(staged[suffix], content)
        for suffix, path in staged.items():
            os.replace(path, final[suffix])
    except OSError as error:
        raise paths.write_error(target, error) from error
    finally:
        for path in staged.values():
            with contextlib.suppress(OSError):
                path.unlink()
    for suffix in SUFFIXES:
        if suffix not in contents:
            final[suffix].unlink(missing_ok=True)


def load(
    exhibit_id: str, profile: str = "paper", root: Path | str | None = None
) -> tuple[pd.DataFrame, dict[str, Any]] | None:
    """Read back an exhibit that a run saved.

    Parameters
    ----------
    exhibit_id : str
        Such as ``"bayes-optimal-tab-1"``.
    profile : str, default "paper"
        The run's profile.
    root : Path or str, optional
        The results folder; the project's own unless given.

    Returns
    -------
    tuple or None
        The table, its ``attrs`` restored, and the provenance record; None where no run is saved.

    Raises
    ------
    InputError
        There is no such exhibit, a file is missing or unreadable, or the table is not the one
        that its record describes.
    """
    target = location(exhibit_id, find(exhibit_id)["chapter"], profile, root)
    record_path, table_path = target.with_suffix(".json"), target.with_suffix(".csv")
    if not record_path.is_file():
        return None
    try:
        record = json.loads(record_path.read_bytes())
        content = table_path.read_bytes()
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read {target}: {error}; run the chapter again") from error
    if hashlib.sha256(content).hexdigest() != record.get("csv_sha256"):
        raise InputError(f"{table_path} is not the table its record describes; run it again")
    # Only an empty cell is missing: "None" is a word an attack's name may hold.
    table = pd.read_csv(io.BytesIO(content), keep_default_na=False, na_values=[""])
    table.attrs = {key: record[key] for key in _ATTRIBUTES if key in record}
    return table, record
