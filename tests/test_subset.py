"""`make test-fast` leaves out what is slow, and touches every room all the same."""

import ast
from pathlib import Path

from tests.conftest import LISTED, is_slow, slow_tests

TESTS = Path(__file__).parent
PACKAGE = TESTS.parent / "src" / "membership"
# Folders of tests whose room has no folder of its own name in the package, or is a part of one.
NEEDS_THE_SITE = {"rendered"}


def test_a_listing_names_tests_by_file():
    listed = slow_tests("# why\n\ntests/a.py\n  test_one\n  test_two\n\ntests/b.py\n\ntests/c.py\n")
    assert listed == {"tests/a.py::test_one", "tests/a.py::test_two", "tests/b.py", "tests/c.py"}
    assert is_slow("tests/a.py::test_one[with a :: b]", listed)
    assert not is_slow("tests/a.py::test_three", listed)
    assert is_slow("tests/b.py::test_any[case]", listed)
    assert is_slow("tests/rendered/test_cards.py::test_any", listed)


def test_every_room_keeps_quick_tests():
    rooms = {path.name for path in TESTS.iterdir() if any(path.glob("test_*.py"))}
    rooms |= {path.name for path in (TESTS / "studies").iterdir() if any(path.glob("test_*.py"))}
    quick: dict[str, int] = dict.fromkeys(rooms, 0)
    for file in TESTS.rglob("test_*.py"):
        name = f"tests/{file.relative_to(TESTS).as_posix()}"
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            is_test = isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
            if (
                is_test
                and file.parent.name in quick
                and not is_slow(f"{name}::{node.name}", LISTED)
            ):
                quick[file.parent.name] += 1
    of_src = [*PACKAGE.iterdir(), *(PACKAGE / "studies").iterdir()]
    src = {path.name for path in of_src if any(path.glob("*.py"))} - {"studies"}
    assert src > {"attacks", "data", "metrics", "running", "bmia"}
    assert src <= rooms
    assert {room for room, count in quick.items() if count == 0} == NEEDS_THE_SITE
