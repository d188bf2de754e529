"""A notebook's globals: which of them are meant as parameters."""

import ast
import contextlib
import difflib
from collections.abc import Mapping
from typing import Any

# What papermill writes above the values that it injects.
INJECTED = "# Parameters"
# How alike a name is to a parameter's before it counts as a misspelling of it.
ALIKE = 0.91


def misspelt(name: str, value: Any, known: Any) -> bool:
    """Whether a global was probably meant as one of the parameters that are known."""
    # In and Out are IPython's.
    is_plain = value is None or type(value) in (bool, int, float, str, list, tuple, dict)
    if not is_plain or name.startswith("_") or name in ("In", "Out"):
        return False
    return bool(difflib.get_close_matches(name, list(known), n=1, cutoff=ALIKE))


def injected(namespace: Mapping[str, Any]) -> set[str]:
    """The names that papermill's cell of parameters assigned, from IPython's list of inputs."""
    names: set[str] = set()
    for source in namespace.get("In", ()):
        if str(source).startswith(INJECTED):
            with contextlib.suppress(SyntaxError):
                body = ast.parse(source).body
                targets = [t for node in body if isinstance(node, ast.Assign) for t in node.targets]
                names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return names & set(namespace)


def assigned_beside(namespace: Mapping[str, Any], fields: Any) -> set[str]:
    """The names that only cells without a parameter assigned: a reader's own."""
    with_parameter: set[str] = set()
    without: set[str] = set()
    for source in namespace.get("In", ()):
        with contextlib.suppress(SyntaxError):  # a line such as %time or !ls
            nodes = list(ast.walk(ast.parse(str(source))))
            names = {
                node.id
                for node in nodes
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
            }
            (with_parameter if names & set(fields) else without).update(names)
    return without - with_parameter
