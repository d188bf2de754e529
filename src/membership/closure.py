"""Which code of this package a function's result depends on, and one digest of it.

Read from the sources without running them: the syntax trees, without comments and docstrings, of
every function, class and constant that the names in a function lead to, through imports and
attributes of modules. In doubt a thing counts: a local variable of a function's name and a word in
quotes as the function, a class with all its methods and bases, a module that is handed on with all
that it holds, and a module that is led to with what it runs when it is imported. What only keeps
results, or says what is computed beside what (`KEEPERS`), has no part in them. `membership.sources`
reads the files.
"""

import ast
import functools
import importlib
import inspect
import sysconfig
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType, MethodType, ModuleType
from typing import Any

from membership.sources import Place, Sources, chains, digest, text

KEEPERS = (
    *("membership.closure", "membership.errors", "membership.paths", "membership.sources"),
    *("membership.training.cache", "membership.training.capacity", "membership.training.fits"),
    "membership.evidence",
)
_LIBRARIES = (sysconfig.get_path("stdlib"), sysconfig.get_path("purelib"))


def closure(*functions: Callable[..., Any]) -> str:
    """The digest of everything in this package that some functions reach, themselves included.

    Parameters
    ----------
    *functions : callable
        Functions, classes, methods or partials (with the functions that they were given), of this
        package or of the caller's own.

    Returns
    -------
    str
        64 hexadecimal digits. A comment, a docstring or a move to another module changes
        nothing; an edit of anything that may matter does.
    """
    return closure_in(sources(), functions)


def parts(*functions: Callable[..., Any]) -> dict[str, str]:
    """Sixteen digits of each definition that some functions reach, by its full name."""
    known = sources()
    places, outside = reached(known, functions)
    found = {**{".".join(p).rstrip("."): known.own(p) for p in places}, **outside}
    return {name: one[:16] for name, one in found.items()}


def closure_in(known: Sources, functions: tuple[Callable[..., Any], ...]) -> str:
    """`closure` by the sources of a folder."""
    places, outside = reached(known, functions)
    return digest(*sorted(known.linked(p) for p in places), *sorted(outside.values()))


def closure_of_chapter(known: Sources, chapter: str, code: list[str]) -> str:
    """The digest of what a chapter's notebook reaches, and of the whole of the chapter's folder."""
    due = [p for name in known.below(f"membership.studies.{chapter}") for p in known.whole(name)]
    plain = [cell for cell in code if _is_python(cell)]
    texts = [cell for cell in code if cell not in plain]
    # One cell uses what another one has imported.
    due += known.enter("notebook", "\n".join(plain))
    places = _all_from(known, due)
    return digest(*sorted(known.linked(p) for p in places), *texts)


def _is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


@functools.cache
def sources() -> Sources:
    """The sources of this package, as they are when they are first asked for."""
    return Sources(Path(__file__).resolve().parent)


def reached(
    known: Sources, functions: tuple[Callable[..., Any], ...]
) -> tuple[set[Place], dict[str, str]]:
    """The definitions that functions lead to, and the digests of those that are not there."""
    due: list[Place] = []
    outside: dict[str, str] = {}
    for function in functions:
        _start(known, function, due, outside)
    return _all_from(known, due), outside


def _all_from(known: Sources, due: list[Place]) -> set[Place]:
    places: set[Place] = set()
    while due:
        place = due.pop()
        if place not in places and not place[0].startswith(KEEPERS):
            places.add(place)
            due += known.neighbours(place)
    return places


def _start(known: Sources, function: Any, due: list[Place], outside: dict[str, str]) -> None:
    """Where to begin for one function: at its definition, or at what its own source names."""
    if isinstance(function, functools.partial):
        given = [function.func, *function.args, *function.keywords.values()]
        for one in filter(callable, given):
            _start(known, one, due, outside)
        return
    if isinstance(function, MethodType):
        _start(known, type(function.__self__), due, outside)
        function = function.__func__
    if not hasattr(function, "__qualname__"):
        function = type(function)
    for cell in getattr(function, "__closure__", None) or ():
        if callable(cell.cell_contents):
            _start(known, cell.cell_contents, due, outside)
    name = function.__qualname__.split(".")[0]
    place = known.lookup(function.__module__, name)
    if place:
        due.append(place)
        return
    full = f"{function.__module__}.{function.__qualname__}"
    if full not in outside:
        tree = _tree(function)
        outside[full] = digest(full) if tree is None else digest(text(tree))
        for value in _named(function, tree):
            if isinstance(value, ModuleType):
                due += known.whole(value.__name__)
            else:
                _start(known, value, due, outside)


def _tree(function: Any) -> ast.AST | None:
    """The syntax tree of a caller's own function or class; None for a library's."""
    try:
        file = inspect.getsourcefile(function) or ""
        if file.startswith(_LIBRARIES):
            return None
        return ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        # Typed at a prompt: the name is the best that can be had.
        return None


def _named(function: Any, tree: ast.AST | None) -> Iterator[Any]:
    """What a caller's own function names: functions, classes, and modules of this package."""
    inner = inspect.unwrap(function)
    names = inner.__globals__ if isinstance(inner, FunctionType) else _module_of(function)
    for chain in chains(tree) if tree else ():
        value = names.get(chain[0])
        for attribute in chain[1:]:
            if isinstance(value, ModuleType):
                value = getattr(value, attribute, None)
        ours = isinstance(value, ModuleType) and value.__name__.startswith("membership")
        if ours or isinstance(value, FunctionType | type):
            yield value


def _module_of(function: Any) -> dict[str, Any]:
    try:
        return vars(importlib.import_module(function.__module__))
    except ImportError:
        return {}


def find(name: str) -> Any:
    """The function or class of a full name; None where there is none today."""
    module, _, last = name.rpartition(".")
    try:
        return getattr(importlib.import_module(module), last, None)
    except (ImportError, ValueError):
        return None
