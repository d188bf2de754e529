"""What an audit's numbers were made from, so that another can make them again."""

import hashlib
import shlex
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import membership


def made_from(inputs: dict[str, str], **settings: Any) -> dict[str, Any]:
    """Edition, day, digests of the inputs, settings; two runs on one day make the same."""
    return {
        "version": membership.__version__,
        "date": datetime.now(UTC).date().isoformat(),
        "command": None,
        "inputs": [{"name": name, "sha256": digest} for name, digest in inputs.items()],
        **settings,
    }


def by_command(report: dict[str, Any], file: Path, options: dict[str, Any]) -> dict[str, Any]:
    """The report with the file and the command, without its folders, in its provenance."""
    name = file.name.encode(errors="replace").decode()  # a file's name need not be UTF-8
    given = [
        f"--{option}={one}"
        for option, value in options.items()
        for one in (value if isinstance(value, tuple) else (value,))
    ]
    made = {
        "command": shlex.join(["membership", "audit", name, *given]),
        "inputs": [{"name": name, "sha256": hashlib.sha256(file.read_bytes()).hexdigest()}],
    }
    return {**report, "provenance": {**report["provenance"], **made}}
