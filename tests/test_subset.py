"""`make test-fast` leaves out what is slow, and touches every room all the same."""

import ast
from collections import Counter
from pathlib import Path

from tests.conftest import needs_the_site

TESTS = Path(__file__).parent
PACKAGE = TESTS.parent / "src" / "membership"


def is_slow(expression: ast.expr) -> bool:
    """Whether an expression, or an entry of a list, is the mark."""
    entries = expression.elts if isinstance(expression, ast.List) else [expression]
    return any(ast.unparse(entry) == "pytest.mark.slow" for entry in entries)


def quick_tests(code: str) -> list[str]:
    """The tests of a file that carry no mark ``slow``; none where the file does."""
    tree = ast.parse(code)
    if any(is_slow(node.value) for node in tree.body if isinstance(node, ast.Assign)):
        return []
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    tests = [node for node in functions if node.name.startswith("test_")]
    return [node.name for node in tests if not any(map(is_slow, node.decorator_list))]


def test_a_mark_counts_on_a_test_and_on_a_file():
    marked = "@pytest.mark.slow\ndef test_one(): ...\ndef test_two(): ...\n"
    assert quick_tests(marked) == ["test_two"]
    assert quick_tests(f"pytestmark = [pytest.mark.slow]\n{marked}") == []


def test_every_room_keeps_quick_tests():
    rooms = {path.name for path in TESTS.iterdir() if any(path.glob("test_*.py"))}
    for inner in (TESTS / "book", TESTS / "book" / "studies"):
        rooms |= {path.name for path in inner.iterdir() if any(path.glob("test_*.py"))}
    quick: Counter[str] = Counter()
    for file in TESTS.rglob("test_*.py"):
        if not needs_the_site(file.relative_to(TESTS.parent).as_posix()):
            quick[file.parent.name] += len(quick_tests(file.read_text(encoding="utf-8")))
    halves = (PACKAGE, PACKAGE / "book", PACKAGE / "book" / "studies")
    of_src = [place for folder in halves for place in folder.iterdir()]
    src = {path.name for path in of_src if any(path.glob("*.py"))} - {"book", "studies"}
    assert src > {"attacks", "data", "metrics", "running", "bmia"}
    assert src <= rooms
    assert {room for room in rooms if not quick[room]} == {"rendered"}
