"""Which code, in which state and with which libraries, made a result."""

import hashlib
import platform
import subprocess
import sys
from collections.abc import Collection
from importlib import metadata
from pathlib import Path

# Set for a notebook whose cards are shown by the site, which carries the files that they link to.
ON_SITE = "MEMBERSHIP_PAGE"
# Beside such a card, the same for a notebook that is opened away from the site; of these two the
# site shows HTML, and of a kind that it does not know it would complain.
ALONE = "text/markdown"
PACKAGE = Path(__file__).resolve().parents[1]
# After a commit from whose files some that count differed.
DIRTY = "-dirty"
UNREAD = "unknown (git cannot read this checkout)"
_LIBRARIES = ("numpy", "scipy", "pandas", "scikit-learn", "torch", "matplotlib", "membership")


def versions() -> dict[str, str]:
    """The version of Python and of each library that a number may depend on."""
    by_library = {"python": platform.python_version()}
    for library in _LIBRARIES:
        try:
            by_library[library] = metadata.version(library)
        except metadata.PackageNotFoundError:
            continue
    return by_library


def processor() -> str:
    """The processor by name: another one may round the last digit of a drawing otherwise."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor())


def in_notebook() -> bool:
    """Whether this runs in a notebook."""
    interpreter = sys.modules.get("IPython")
    return interpreter is not None and hasattr(interpreter.get_ipython(), "kernel")


def code_digest(package: Path = PACKAGE, without: Collection[str] = ()) -> str:
    """SHA-256 over the names and contents of the package's Python files, in sorted order.

    But for the files and folders that lie at some places below the package.
    """
    digest = hashlib.sha256()
    left_out = {package / place for place in without}
    for file in sorted(package.rglob("*.py")):
        if left_out & {file, *file.parents}:
            continue
        content = file.read_bytes()
        digest.update(f"{file.relative_to(package).as_posix()}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def git_commit(checkout: Path = PACKAGE.parents[1]) -> str:
    """The commit that the package was run from."""
    top = git(checkout, "rev-parse", "--show-toplevel")
    if not top and (checkout / ".git").exists():
        return UNREAD
    if not top or Path(top).resolve() != checkout.resolve():
        return ""
    commit = git(checkout, "rev-parse", "--verify", "HEAD")
    if not commit:
        return ""
    changed = git(checkout, "status", "--porcelain", "--", "src", "notebooks")
    return f"{commit}{DIRTY}" if changed else commit


def is_in_history(commit: str, checkout: Path = PACKAGE.parents[1]) -> bool:
    """Whether a commit is one that whoever has this history can check out."""
    if not commit or commit.endswith(DIRTY):
        return False
    # A clone that has not all of it says nothing of what it lacks.
    is_whole = git(checkout, "rev-parse", "--is-shallow-repository") == "false"
    return not is_whole or git(checkout, "merge-base", commit, "HEAD") == commit


def git(folder: Path, *arguments: str) -> str:
    """What git prints, or nothing where there is no git, no repository or no commit.

    A clone that another user owns (root in a container) is read all the same: its code runs
    already. No program that its configuration names is started.
    """
    options = [f"safe.directory={folder.resolve()}", "core.fsmonitor=false"]
    command = ["git", "-C", str(folder), *(part for o in options for part in ("-c", o))]
    try:
        done = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
