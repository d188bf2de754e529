"""Where this installation came from, and how it gets one of the project's extras."""

import json
import shlex
from importlib import metadata
from urllib.parse import unquote, urlsplit


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
