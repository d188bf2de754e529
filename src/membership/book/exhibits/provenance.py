"""Which code, in which state and with which libraries, made a result."""

import platform
import sys
from importlib import metadata
from pathlib import Path

from membership.installation import DIRTY, git
from membership.installation import PACKAGE as PACKAGE
from membership.installation import UNREAD as UNREAD
from membership.installation import code_digest as code_digest
from membership.installation import git_commit as git_commit

# Set for a notebook whose cards are shown by the site, which carries the files that they link to.
ON_SITE = "MEMBERSHIP_PAGE"
# Beside such a card, the same for a notebook that is opened away from the site; of these two the
# site shows HTML, and of a kind that it does not know it would complain.
ALONE = "text/markdown"
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


def is_in_history(commit: str, checkout: Path = PACKAGE.parents[1]) -> bool:
    """Whether a commit is one that whoever has this history can check out."""
    if not commit or commit.endswith(DIRTY):
        return False
    # A clone that has not all of it says nothing of what it lacks.
    is_whole = git(checkout, "rev-parse", "--is-shallow-repository") == "false"
    return not is_whole or git(checkout, "merge-base", commit, "HEAD") == commit
