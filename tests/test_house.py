"""A room imports only from the rooms above it, and the rooms above do not circle back."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import membership

PACKAGE = Path(membership.__file__).parent
HALVES = ("membership", "membership.book")
# Two halves; in each the ground floor first, and rooms of one line may import from those before
# them on it.
LIBRARY = (
    *("installation", "errors", "arrays", "paths", "markup", "processes", "limits"),
    *("progress", "shared_work"),
    *("memory", "addresses", "downloads", "tables"),
    *("metrics", "data", "models", "networks", "training"),
    *("signals", "curvature", "evidence"),
    *("nngp", "lood", "privacy"),
    *("attacks", "plots", "audit"),
)
BOOK = (
    *("home", "manifest", "bibliography", "namespaces", "settings"),
    *("published", "exhibits", "studies", "running", "site", "cli"),
)
ROOMS = (*LIBRARY, *BOOK)


def _room(module: str) -> str | None:
    """The room that a module lies in, whichever half it is of."""
    parts = module.split(".")
    if parts[0] != "membership":
        return None
    inside = parts[2:] if parts[1:2] == ["book"] else parts[1:]
    return inside[0] if inside else None


def _imported(source: str) -> Iterator[str]:
    """Every room that a source imports from, inside functions too."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.level:
            raise AssertionError("import by full name: relative imports hide the room")
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module in HALVES:
            modules = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = [str(node.module)]
        else:
            continue
        yield from (room for module in modules if (room := _room(module)) and room[0] != "_")


def below(room: str, source: str) -> list[str]:
    """The rooms that this source imports from although they come after its own."""
    return sorted({other for other in _imported(source) if ROOMS.index(other) > ROOMS.index(room)})


def _place(path: Path) -> str:
    """The room that a file of the package lies in."""
    return str(_room(".".join(("membership", *path.relative_to(PACKAGE).with_suffix("").parts))))


def _sources() -> list[Path]:
    beside = {PACKAGE / name for name in ("__init__.py", "__main__.py", "book/__init__.py")}
    return sorted({*PACKAGE.rglob("*.py")} - beside)


@pytest.mark.slow
def test_a_room_imports_only_from_rooms_above_it():
    found = {path: below(_place(path), path.read_text()) for path in _sources()}
    assert {path: others for path, others in found.items() if others} == {}


def test_the_tree_shows_which_half_a_file_belongs_to():
    for half, folder in ((LIBRARY, PACKAGE), (BOOK, PACKAGE / "book")):
        there = {path.stem for path in folder.iterdir() if _is_room(path)}
        assert there == {*half}, folder


def _is_room(path: Path) -> bool:
    is_file = path.suffix == ".py" and path.stem[0] != "_"
    return is_file or ((path / "__init__.py").is_file() and path.name != "book")


def test_the_library_never_names_the_book():
    library = [path for path in _sources() if _place(path) in LIBRARY]
    assert len(library) > 100
    assert [path for path in library if "membership.book" in path.read_text()] == []


def test_scripts_of_before_find_the_rooms_that_moved():
    found = [getattr(membership, room).__name__ for room in ("exhibits", "published", "studies")]
    assert found == [f"membership.book.{room}" for room in ("exhibits", "published", "studies")]
    assert not hasattr(membership, "running")


def test_the_readme_lists_the_rooms_in_this_order():
    text = (PACKAGE.parents[1] / "README.md").read_text(encoding="utf-8")
    block = text.partition("src/membership/ ")[2].partition("data/ ")[0]
    lines = [line for line in block.splitlines()[1:] if line.startswith("  ")]
    listed = [room for line in lines for room in line[2:].partition("  ")[0].split()]
    assert listed == [room for room in ROOMS if room in listed]
    folders = {room for room in ROOMS if _folder(room).is_dir()}
    assert folders <= {*listed}


def _folder(room: str) -> Path:
    return PACKAGE / room if room in LIBRARY else PACKAGE / "book" / room


def test_an_import_from_below_is_found():
    assert below("evidence", "from membership.attacks import lira") == ["attacks"]
    assert below("data", "def f():\n    import membership.training.sgd") == ["training"]
    assert below("attacks", "from membership.book import exhibits") == ["exhibits"]
    assert below("audit", "import membership.book.site.build") == ["site"]
    assert below("attacks", "from membership.metrics import auc") == []


def test_a_chapter_says_what_each_of_its_files_is_about():
    for settings in sorted(_folder("studies").glob("*/settings.py")):
        chapter = settings.parent
        said = re.findall(r"`(\w+)`", ast.get_docstring(ast.parse(_text_of(chapter))) or "")
        files = {path.stem for path in chapter.glob("*.py")} - {"__init__"}
        folders = {path.parent.name for path in chapter.glob("*/*.py")}
        assert files | folders == set(said), chapter.name


def _text_of(package: Path) -> str:
    return (package / "__init__.py").read_text(encoding="utf-8")


def test_one_chapter_does_not_import_from_another():
    chapters = [
        path for path in _folder("studies").iterdir() if path.is_dir() and path.stem[0] != "_"
    ]
    assert len(chapters) >= 5
    for chapter in chapters:
        others = {f"membership.book.studies.{other.name}" for other in chapters} - {
            f"membership.book.studies.{chapter.name}"
        }
        for path in chapter.rglob("*.py"):
            source = path.read_text()
            assert not [other for other in others if other in source], path


def drawn_arrows() -> list[str]:
    """An arrow from each room to those that it builds on, what another arrow implies left out."""
    folders = {room for room in ROOMS if _folder(room).is_dir()}
    built_on: dict[str, set[str]] = {room: set() for room in ROOMS if room in folders}
    for path in _sources():
        room = _place(path)
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
    # The table of faults names rooms by their places in the package.
    lost = [p for p in paths if not (root / p).exists() and not (PACKAGE / p).exists()]
    assert lost == []
