"""Where the project lives. Every link that leads there is made from the one line below."""

import re
from typing import Any

REPOSITORY = ""
"""Such as https://github.com/OWNER/membership; empty, and nothing links there."""


def site() -> str:
    """The address of the published book, with its last "/": the repository's own pages."""
    found = re.fullmatch(r"https://github\.com/([\w.-]+)/([\w.-]+)", REPOSITORY)
    return f"https://{found[1].lower()}.github.io/{found[2]}/" if found else ""


def cited() -> dict[str, str]:
    """What a citation file says of it."""
    return {"repository-code": REPOSITORY, "url": site()} if site() else {}


def buttons() -> dict[str, Any]:
    """The theme's options by which pages lead to the repository and to a new issue."""
    if not site():
        return {}
    used = ("use_repository_button", "use_issues_button")
    return {"repository_url": REPOSITORY, **dict.fromkeys(used, True)}
