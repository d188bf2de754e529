"""How long each run took and on what: the one place that holds times and dates."""

import datetime
import json
import os
import platform
import shutil
import subprocess
from pathlib import Path
from typing import Any

from membership import paths
from membership.pipeline.layout import section_titles, title
from membership.settings import ChapterSettings


def write(
    path: Path, settings: ChapterSettings, notebook: Any, started: float, seconds: float
) -> None:
    """Write the record of a finished run.

    Parameters
    ----------
    path : Path
        The JSON file.
    settings : ChapterSettings
        The resolved parameters of the run.
    notebook : NotebookNode
        The executed notebook, with papermill's durations.
    started : float
        Seconds since the epoch.
    seconds : float
        Wall time of the whole run.
    """
    record = {
        "chapter": settings.chapter,
        "title": title(settings.chapter),
        "profile": settings.profile,
        "parameters": settings.parameters(),
        "started": datetime.datetime.fromtimestamp(started, datetime.UTC).isoformat("T", "seconds"),
        "seconds": round(seconds, 1),
        "sections": section_seconds(notebook),
        "machine": machine(settings.device),
        "cpus": os.cpu_count(),
        "python": platform.python_version(),
        "platform": platform.platform(terse=True),
    }
    paths.atomic_write(path, json.dumps(record, indent=1, ensure_ascii=False) + "\n")


def write_benchmark(row: dict[str, float]) -> Path:
    """Keep what ``membership benchmark`` measured, with the machine, for the page of run times.

    Parameters
    ----------
    row : dict of str to float
        Quantities by name, in the order to show them.

    Returns
    -------
    Path
        ``runs/benchmark.json``.
    """
    path = paths.project_root() / "runs" / "benchmark.json"
    record = {"measured": row, "machine": machine("cpu"), "cpus": os.cpu_count()}
    paths.atomic_write(path, json.dumps(record, indent=1, ensure_ascii=False) + "\n")
    return path


def read_benchmark() -> dict[str, Any] | None:
    """Read what ``membership benchmark`` kept, None where it has not been run."""
    path = paths.project_root() / "runs" / "benchmark.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


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
        asked = subprocess.run(query, capture_output=True, text=True, check=False, timeout=30)
        names += [line.strip() for line in asked.stdout.splitlines()[:1] if asked.returncode == 0]
    return ", ".join(names)


def _processor() -> str:
    listing = Path("/proc/cpuinfo")
    if listing.is_file():
        for line in listing.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def read_all() -> list[dict[str, Any]]:
    """Read every run's record, by profile and chapter; one that cannot be read is left out."""
    records = []
    for path in sorted((paths.project_root() / "runs").glob("*/*.json")):
        try:
            records.append(json.loads(path.read_text(encoding="utf-8")))
        except ValueError:
            continue
    return records
