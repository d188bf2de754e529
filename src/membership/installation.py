"""Where this installation came from, which code it is, and how it gets one of the extras."""

import hashlib
import json
import shlex
import subprocess
from collections.abc import Collection
from importlib import metadata
from pathlib import Path
from urllib.parse import unquote, urlsplit

PACKAGE = Path(__file__).resolve().parent
DIRTY = "-dirty"
"""After a commit from whose files some that count differed."""
UNREAD = "unknown (git cannot read this checkout)"


def with_extra(name: str) -> str:
    """The command that installs an extra as well, from where the package itself came.

    No index need have it: installers note the wheel, clone or repository they took it from.
    """
    origin = _origin()
    url = origin.get("url", "")
    if not url:
        return f"pip install 'membership[{name}]', from where membership was installed"
    if urlsplit(url).scheme == "file":
        editable = "--editable " * origin.get("dir_info", {}).get("editable", False)
        return f"pip install {editable}{shlex.quote(f'{unquote(urlsplit(url).path)}[{name}]')}"
    kind = "".join(f"{vcs}+" for vcs in [origin.get("vcs_info", {}).get("vcs")] if vcs)
    return f"pip install {shlex.quote(f'membership[{name}] @ {kind}{url}')}"


def _origin() -> dict:
    """What the installer noted (PEP 610); nothing of a package from an index, or not installed."""
    try:
        noted = metadata.distribution("membership").read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        noted = None
    return json.loads(noted or "{}")


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
    changed = git(checkout, "status", "--porcelain", "--", "src", "notebooks", "recipes")
    return f"{commit}{DIRTY}" if changed else commit


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
