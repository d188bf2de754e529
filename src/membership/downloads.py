"""One file from an address, checked against its hash."""

import warnings
from pathlib import Path

# Seconds that a server may keep silent; a slow one that goes on sending is waited for.
TIMEOUT = 10


def fetch(base: str, file: str, known_hash: str | None, folder: Path, retries: int) -> Path:
    """Bring ``base + file`` into a folder, unless it lies there with this hash already."""
    with warnings.catch_warnings():  # its bars are text in a notebook without ipywidgets
        warnings.filterwarnings("ignore", message="IProgress not found")
        import pooch  # needed for a download only

    pooch.get_logger().setLevel("WARNING")
    kept = pooch.create(
        path=folder, base_url=base, registry={file: known_hash or None}, retry_if_failed=retries
    )
    # pyrefly: ignore[bad-argument-type] - pooch's own
    return Path(kept.fetch(file, downloader=pooch.HTTPDownloader(True, timeout=TIMEOUT)))


def why(error: Exception) -> str:
    """Why an address did not do: pooch raises a plain ValueError for another hash."""
    if type(error) is ValueError:
        return "another file than the published one: its hash differs"
    name = type(error).__name__
    return f"no answer within {TIMEOUT} s, {name}" if "Timeout" in name else name
