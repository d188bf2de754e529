"""A room imports only from the rooms above it, and the rooms above do not circle back."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import membership

PACKAGE = Path(membership.__file__).parent
# Ground floor first; rooms of one line may import from those before them on it.
ROOMS = (
    *(
        "installation",
        "errors",
        "arrays",
        "paths",
        "markup",
        "manifest",
        "processes",
        "limits",
        "shares",
        "memory",
        "addresses",
        "bibliography",
        "namespaces",
        "settings",
        "tables",
    ),
    *("metrics", "data", "models", "networks", "training"),
    *("signals", "curvature", "evidence"),
    *("nngp", "lood", "privacy"),
    *("attacks", "published", "plots", "exhibits"),
    *("audit", "studies", "running", "site", "cli"),
)


def _room(module: str) -> str | None:
    parts = module.split(".")
    return parts[1] if parts[0] == "membership" and len(parts) > 1 else None


def _imported(source: str) -> Iterator[str]:
    """Every room that a source imports from, inside functions too."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.level:
            raise AssertionError("import by full name: relative imports hide the room")
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module == "membership":
            modules = [f"membership.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = [str(node.module)]
        else:
            continue
        yield from (room for module in modules if (room := _room(module)) and room[0] != "_")


def below(room: str, source: str) -> list[str]:
    """The rooms that this source imports from although they come after its own."""
    return sorted({other for other in _imported(source) if ROOMS.index(other) > ROOMS.index(room)})


def _sources() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if path.parent != PACKAGE) + sorted(
        path for path in PACKAGE.glob("*.py") if path.stem not in ("__init__", "__main__")
    )


@pytest.mark.slow
def test_a_room_imports_only_from_rooms_above_it():
    rooms = {path: path.relative_to(PACKAGE).with_suffix("").parts[0] for path in _sources()}
    assert set(rooms.values()) <= set(ROOMS)
    found = {path: below(room, path.read_text()) for path, room in rooms.items()}
    assert {path: others for path, others in found.items() if others} == {}


def test_the_readme_lists_the_rooms_in_this_order():
    text = (PACKAGE.parents[1] / "README.md").read_text(encoding="utf-8")
    block = text.partition("src/membership/ ")[2].partition("data/ ")[0]
    lines = [line for line in block.splitlines()[1:] if line.startswith("  ")]
    listed = [room for line in lines for room in line[2:].partition("  ")[0].split()]
    assert listed == [room for room in ROOMS if room in listed]
    folders = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").is_file()}
    assert folders <= set(listed)


def test_an_import_from_below_is_found():
    assert below("evidence", "from membership.attacks import lira") == ["attacks"]
    assert below("data", "def f():\n    import membership.training.sgd") == ["training"]
    assert below("attacks", "from membership import metrics, exhibits") == ["exhibits"]
    assert below("attacks", "from membership.metrics import auc") == []


def test_a_chapter_says_what_each_of_its_files_is_about():
    for settings in sorted((PACKAGE / "studies").glob("*/settings.py")):
        chapter = settings.parent
        said = re.findall(r"`(\w+)`", ast.get_docstring(ast.parse(_text_of(chapter))) or "")
        files = {path.stem for path in chapter.glob("*.py")} - {"__init__"}
        folders = {path.parent.name for path in chapter.glob("*/*.py")}
        assert files | folders == set(said), chapter.name


def _text_of(package: Path) -> str:
    return (package / "__init__.py").read_text(encoding="utf-8")


def test_one_chapter_does_not_import_from_another():
    chapters = [
        path for path in (PACKAGE / "studies").iterdir() if path.is_dir() and path.stem[0] != "_"
    ]
    assert len(chapters) >= 5
    for chapter in chapters:
        others = {f"membership.studies.{other.name}" for other in chapters} - {
            f"membership.studies.{chapter.name}"
        }
        for path in chapter.rglob("*.py"):
            source = path.read_text()
            assert not [other for other in others if other in source], path


def drawn_arrows() -> list[str]:
    """An arrow from each room to those that it builds on, what another arrow implies left out."""
    folders = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").is_file()}
    built_on: dict[str, set[str]] = {room: set() for room in ROOMS if room in folders}
    for path in _sources():
        room = path.relative_to(PACKAGE).parts[0]
        if room in built_on:
            built_on[room] |= (set(_imported(path.read_text())) & folders) - {room}
    implied: dict[str, set[str]] = {}
    for room, direct in built_on.items():  # in their order, so that those below it are known
        implied[room] = direct.union(*(implied[other] for other in direct))
    return [
        f"    {room} --> {other}"
        for room, direct in built_on.items()
        for other in sorted(direct, key=ROOMS.index)
        if not any(other in implied[nearer] for nearer in direct)
    ]


def test_the_picture_of_the_rooms_is_that_of_the_imports():
    text = (PACKAGE.parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    picture = text.partition("```mermaid\n")[2].partition("```")[0]
    assert picture.splitlines() == ["graph BT", *drawn_arrows()]


def test_every_file_that_contributors_are_sent_to_is_there():
    root = PACKAGE.parents[1]
    text = (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    paths = re.findall(r"(?:src|tests|notebooks|book|data|template)/[\w./-]+\w", text)
    assert len(paths) > 20
    assert [path for path in paths if not (root / path).exists()] == []
