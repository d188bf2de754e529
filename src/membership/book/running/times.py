"""How long each run took and on what: the one place that holds times and dates."""

import datetime
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from membership import paths
from membership.addresses import hidden
from membership.book.running.chapter_files import section_titles, title
from membership.book.settings import ChapterSettings

_WORDS = ("title", "profile", "machine", "python", "started")


def write(
    path: Path, settings: ChapterSettings, notebooks: list[Any], started: float, seconds: float
) -> None:
    """Write the record of a finished run.

    Parameters
    ----------
    path : Path
        The JSON file.
    settings : ChapterSettings
        The resolved parameters of the run.
    notebooks : list of NotebookNode
        The executed ones, with papermill's durations.
    started : float
        Seconds since the epoch.
    seconds : float
        Wall time of the whole run.
    """
    record = {
        "chapter": settings.chapter,
        "title": title(settings.chapter),
        "profile": settings.profile,
        "parameters": hidden(settings.parameters(), settings.parameters()),
        "started": datetime.datetime.fromtimestamp(started, datetime.UTC).isoformat("T", "seconds"),
        "seconds": round(seconds, 1),
        "sections": [part for notebook in notebooks for part in section_seconds(notebook)],
        "machine": machine(settings.device),
        "cpus": os.cpu_count(),
        "python": platform.python_version(),
        "platform": platform.platform(terse=True),
    }
    save(path, record)


def save(path: Path, record: dict[str, Any]) -> None:
    """Write a record with its own digest, which `kept` looks at."""
    whole = {**record, "sha256": _digest(record)}
    paths.atomic_write(path, json.dumps(whole, indent=1, ensure_ascii=False) + "\n")


def _digest(record: dict[str, Any]) -> str:
    fields = {key: value for key, value in record.items() if key != "sha256"}
    return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()


def section_seconds(notebook: Any) -> list[dict[str, Any]]:
    """Add up the seconds of each section's code cells, sections in the order of the notebook."""
    totals: dict[str, float] = {}
    for section, cell in zip(section_titles(notebook), notebook.cells, strict=True):
        if cell.cell_type == "code":
            spent = cell.metadata.get("papermill", {}).get("duration") or 0.0
            totals[section] = totals.get(section, 0.0) + spent
    return [{"title": section, "seconds": round(spent, 2)} for section, spent in totals.items()]


def machine(device: str) -> str:
    """Name the processor and, unless the run kept to the CPU, the GPU."""
    names = [_processor()]
    if device != "cpu" and shutil.which("nvidia-smi"):
        query = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
        answer = subprocess.run(query, capture_output=True, text=True, check=False, timeout=30)
        names += [line.strip() for line in answer.stdout.splitlines()[:1] if answer.returncode == 0]
    return ", ".join(names)


def _processor() -> str:
    listing = Path("/proc/cpuinfo")
    if listing.is_file():
        for line in listing.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def read_all() -> list[dict[str, Any]]:
    """Read every run's record, by profile and chapter; see `kept` for those that are damaged."""
    return kept(sorted((paths.project_root() / "runs").glob("*/*.json")), _is_run)


def is_record(path: Path) -> bool:
    """Whether a file is a run's record as it was written."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        return record["sha256"] == _digest(record)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return False


def _is_run(record: Any) -> bool:
    words = all(isinstance(record[key], str) for key in _WORDS)
    sections = all(
        isinstance(part["title"], str) and float(part["seconds"]) >= 0
        for part in record["sections"]
    )
    return words and sections and float(record["seconds"]) >= 0 and "cpus" in record


def kept(files: Iterable[Path], is_whole: Callable[[Any], bool]) -> list[Any]:
    """Read JSON records; one that is damaged is named on stderr and left out.

    Parameters
    ----------
    files : iterable of Path
    is_whole : callable
        Whether a record holds what its reader needs; it may raise where there is no such thing.
    """
    records = []
    for path in files:
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
            whole = is_whole(record) and record.get("sha256", _digest(record)) == _digest(record)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            record, whole = None, False
        if whole:
            records.append(record)
        else:
            print(
                f"{paths.shown(path)} is damaged and left out; restore it or delete it",
                file=sys.stderr,
            )
    return records
