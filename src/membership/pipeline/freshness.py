"""Whether an executed notebook still says what a new run would say."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import membership
from membership import paths
from membership.pipeline.layout import chapters, executed_path, results_path, source_path
from membership.settings import ChapterSettings

# What runs and shows notebooks cannot change a number in them.
_NO_PART_IN_RESULTS = ("cli.py", "pipeline")
_PROJECT_FILES = ("requirements.lock", "data/*.toml", "data/*.csv")


def fingerprint(settings: ChapterSettings) -> str:
    """Digest everything that determines a chapter's executed notebook.

    That is the notebook's text, the resolved parameters, the package's files (other chapters'
    studies and the pipeline left out), the lock, the registry of data sets, the data files by
    path, size and time of change, and the committed paper-size results that the chapter shows
    beside its own.
    """
    root = paths.project_root()
    files = [source_path(settings.chapter), *_package_files(settings.chapter)]
    files += sorted(f for pattern in _PROJECT_FILES for f in root.glob(pattern))
    if settings.profile != "paper":
        files += sorted((root / "results" / "paper" / settings.chapter).glob("*.*"))
    parts = {
        "parameters": settings.parameters(),
        "files": {os.path.relpath(f, root): _digest(f.read_bytes()) for f in files},
        "data": [
            [str(f), status.st_size, status.st_mtime_ns]
            for f in data_files(settings)
            for status in [f.stat()]
        ],
    }
    return _digest(json.dumps(parts, sort_keys=True).encode())


def data_files(settings: ChapterSettings) -> list[Path]:
    """List the files that the run may read its data from; none for an embedded data set.

    A chapter may need a second data set (features learnt elsewhere), so every prepared file
    beside the one asked for counts.
    """
    if not settings.dataset:
        return []
    if Path(settings.dataset).is_file():
        return [Path(settings.dataset).resolve()]
    from membership.data.loading import PARITY
    from membership.data.locate import locate

    found = locate(settings.dataset.removesuffix(PARITY), settings.data_root or None)
    return sorted(found.parent.glob("*.npz")) if found else []


def stamp(settings: ChapterSettings, mark: str) -> dict[str, Any]:
    """Make the note that an executed notebook carries: its fingerprint and its exhibits."""
    return {
        "chapter": settings.chapter,
        "profile": settings.profile,
        "fingerprint": mark,
        "exhibits": sorted(f.name for f in results_path(settings).glob("*.*")),
    }


def is_up_to_date(settings: ChapterSettings, mark: str) -> bool:
    """Tell whether the executed notebook carries this fingerprint and its exhibits are there."""
    try:
        notebook = json.loads(executed_path(settings.chapter).read_text(encoding="utf-8"))
        note = notebook["metadata"]["membership"]
        exhibits = [results_path(settings) / name for name in note["exhibits"]]
        return note["fingerprint"] == mark and all(exhibit.is_file() for exhibit in exhibits)
    except (OSError, ValueError, KeyError):
        return False


def _package_files(chapter: str) -> list[Path]:
    package = Path(membership.__file__).parent
    others = [package / "studies" / other for other in chapters() if other != chapter]
    left_out = [*others, *(package / name for name in _NO_PART_IN_RESULTS)]
    return sorted(
        f
        for f in package.rglob("*")
        if f.suffix in {".py", ".csv", ".toml", ".bib"}
        and not any(f.is_relative_to(place) for place in left_out)
    )


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
