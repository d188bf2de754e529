"""The package's source files as definitions, and where the names in a definition lead."""

import ast
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

Place = tuple[str, str]
"""A definition by module and name; with the name "" what the module runs when imported."""


@dataclass
class Module:
    """One source file."""

    name: str
    definitions: dict[str, list[ast.stmt]] = field(default_factory=dict)
    imports: dict[str, Place] = field(default_factory=dict)
    run: list[ast.stmt] = field(default_factory=list)


class Sources:
    """The source files below a folder, each parsed once and only where something leads there.

    Parameters
    ----------
    folder : pathlib.Path
        The package's.
    name : str
        Its name.
    """

    def __init__(self, folder: Path, name: str = "membership") -> None:
        self.folder, self.name = folder, name
        self._modules: dict[str, Module | None] = {}
        self._own: dict[Place, str] = {}
        self._leads: dict[Place, frozenset[Place]] = {}

    def module(self, name: str) -> Module | None:
        """One parsed module; None where the package has none of this name."""
        if name not in self._modules:
            self._modules[name] = self._parsed(name)
        return self._modules[name]

    def _parsed(self, name: str) -> Module | None:
        head, *rest = name.split(".")
        if head != self.name:
            return None
        base = self.folder.joinpath(*rest)
        module = Module(name)
        for path in (base.with_suffix(".py"), base / "__init__.py"):
            if path.is_file():
                for statement in ast.parse(path.read_bytes()).body:
                    _enter(module, statement)
                return module
        # A folder without an __init__.py holds modules all the same.
        return module if base.is_dir() else None

    def enter(self, name: str, text: str) -> list[Place]:
        """Take in code that is no file of the package, such as a notebook's; its places."""
        module = Module(name)
        for statement in ast.parse(text).body:
            _enter(module, statement)
        self._modules[name] = module
        return self.whole(name)

    def below(self, name: str) -> list[str]:
        """The names of a package's modules."""
        folder = self.folder.joinpath(*name.split(".")[1:])
        found = [path.relative_to(folder).with_suffix("") for path in folder.rglob("*.py")]
        return sorted(".".join([name, *path.parts]).removesuffix(".__init__") for path in found)

    def own(self, place: Place) -> str:
        """Digest of a definition's own text."""
        if place not in self._own:
            self._own[place] = digest(*map(text, self._body(place)))
        return self._own[place]

    def linked(self, place: Place) -> str:
        """Digest of a definition with what the names in it stand for, by text, not by place."""
        outside = [".".join(p) for p in self._leads_to(place) if not self.module(p[0])]
        inside = [self.own(p) for p in self.neighbours(place)]
        return digest(self.own(place), *sorted(outside), *sorted(inside))

    def neighbours(self, place: Place) -> list[Place]:
        """The definitions of this package that the names in a definition lead to."""
        return [p for p in self._leads_to(place) if self.module(p[0]) and p != place]

    def lookup(self, module: str, name: str) -> Place | None:
        """The definition, or the module, that a name in a module stands for; None outside."""
        found = self.module(module)
        if found is None or name in found.definitions:
            return found and (module, name)
        if found.imports.get(name, (module, name)) != (module, name):
            other, imported = found.imports[name]
            if imported:
                return self.lookup(other, imported)
            return (other, "") if self.module(other) else None
        return (f"{module}.{name}", "") if name and self.module(f"{module}.{name}") else None

    def whole(self, module: str) -> list[Place]:
        """All definitions of a module, and those that it imports by name."""
        found = self.module(module)
        if found is None:
            return []
        imported = [self.lookup(*place) for place in found.imports.values() if place[1]]
        named = [(module, name) for name in ("", *found.definitions)]
        return named + [place for place in imported if place and place[1]]

    def _body(self, place: Place) -> list[ast.stmt]:
        module = self.module(place[0])
        if module is None:
            return []
        return module.definitions.get(place[1], []) if place[1] else module.run

    def _leads_to(self, place: Place) -> frozenset[Place]:
        if place not in self._leads:
            module, body = self.module(place[0]), self._body(place)
            found = set(self._uses(module, body)) if module else set()
            if module and module.run:
                found.add((module.name, ""))
            self._leads[place] = frozenset(found)
        return self._leads[place]

    def _uses(self, module: Module, body: list[ast.stmt]) -> Iterator[Place]:
        """Where the names and the quoted words in some statements lead."""
        inner = Module(module.name)
        for node in (node for statement in body for node in ast.walk(statement)):
            if isinstance(node, ast.Import | ast.ImportFrom):
                _enter(inner, node)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                place = self.lookup(module.name, node.value) if node.value.isidentifier() else None
                if place and place[1]:
                    yield place
        for chain in (chain for statement in body for chain in chains(statement)):
            imported = inner.imports.get(chain[0]) or module.imports.get(chain[0])
            if imported:
                yield from self._follow(*imported, chain[1:])
            elif chain[0] in module.definitions:
                yield module.name, chain[0]
        for imported in inner.imports.values():
            yield from self._follow(*imported, ("",))

    def _follow(self, module: str, name: str, rest: tuple[str, ...]) -> Iterator[Place]:
        """Where an imported name with its attributes leads."""
        place = self.lookup(module, name) if name else (module, "")
        if place is None or not self.module(place[0]):
            # Of a library, or an attribute that the module has without defining it.
            yield (module, "") if self.module(module) else (module, name)
        elif place[1] or rest == ("",):
            yield place
        elif rest:
            yield from self._follow(place[0], rest[0], rest[1:])
        else:
            yield from self.whole(place[0])


def chains(tree: ast.AST) -> Iterator[tuple[str, ...]]:
    """The names in a syntax tree, with the attributes asked of them: ("np", "random", "rng")."""
    due = [tree]
    while due:
        node = due.pop()
        attributes: list[str] = []
        while isinstance(node, ast.Attribute):
            attributes.append(node.attr)
            node = node.value
        if isinstance(node, ast.Name):
            yield (node.id, *reversed(attributes))
        else:
            due += ast.iter_child_nodes(node)


def text(node: ast.AST) -> str:
    """A syntax tree in words, without places, comments and docstrings."""
    said = [type(node).__name__]
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, list):
            # What an import stands for counts, not the place that it names.
            value = [one for one in value if not isinstance(one, ast.Import | ast.ImportFrom)]
            if name == "body":
                value = [one for one in value if not _is_docstring(one)]
            said += [name, "[", *map(_one, value), "]"] if value else []
        elif value is not None and name not in ("ctx", "kind", "type_comment"):
            said += [name, _one(value)]
        elif name == "value":
            said.append("value None")
    return f"({' '.join(said)})"


def _one(value: object) -> str:
    return text(value) if isinstance(value, ast.AST) else repr(value)


def digest(*texts: str) -> str:
    """SHA-256 of texts in order, in hexadecimal; a byte after each keeps ab, c from a, bc."""
    total = hashlib.sha256()
    for one in texts:
        total.update(one.encode("utf-8", "surrogatepass") + b"\0")
    return total.hexdigest()


def _is_docstring(node: object) -> bool:
    plain = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return plain and isinstance(node.value.value, str)


def _enter(module: Module, statement: ast.stmt) -> None:
    """File a statement under the names that it binds, or with what the module runs."""
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            bound = alias.asname or alias.name.split(".")[0]
            module.imports[bound] = (alias.name if alias.asname else bound, "")
    elif isinstance(statement, ast.ImportFrom):
        for alias in statement.names:
            module.imports[alias.asname or alias.name] = (str(statement.module), alias.name)
    elif isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        module.definitions.setdefault(statement.name, []).append(statement)
    elif not _is_docstring(statement):
        _enter_code(module, statement)


def _enter_code(module: Module, statement: ast.stmt) -> None:
    """An assignment belongs to its names; anything else runs, and belongs to its names too."""
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        targets = getattr(statement, "targets", None) or [statement.target]
    else:
        targets = [statement]
    nodes = [node for target in targets for node in ast.walk(target)]
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            module.definitions.setdefault(node.id, []).append(statement)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            module.definitions.setdefault(node.name, []).append(statement)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            _enter(module, node)
    if any(isinstance(node, ast.stmt | ast.Attribute | ast.Subscript) for node in nodes):
        module.run.append(statement)
