"""Where the project lives. Every link that leads there is made from the two lines below."""

import re

REPOSITORY = ""
"""Such as https://github.com/OWNER/membership; empty, and nothing links there."""
DOI = ""
"""Of this version's archive, such as 10.5281/zenodo.1234; empty until it is deposited."""


def site() -> str:
    """The address of the published book, with its last "/": the repository's own pages."""
    found = re.fullmatch(r"https://github\.com/([\w.-]+)/([\w.-]+)", REPOSITORY)
    return f"https://{found[1].lower()}.github.io/{found[2]}/" if found else ""


def launch() -> str:
    """The address under which Binder opens the repository, by its ``environment.yml``."""
    name = REPOSITORY.removeprefix("https://github.com/")
    return f"https://mybinder.org/v2/gh/{name}/HEAD" if site() else ""
