"""Assertions about a page wait for it: scripts may be at work when a test looks."""

import ast
from pathlib import Path

import pytest

# What a locator or a page answers at once, whatever its scripts are about to do.
AT_ONCE = {
    *("all_inner_texts", "all_text_contents", "bounding_box", "evaluate", "evaluate_all"),
    *("get_attribute", "inner_html", "inner_text", "input_value", "is_checked", "is_disabled"),
    *("is_enabled", "is_hidden", "is_visible", "text_content"),
}
# It takes the page apart first, so it can be asked once; axe itself waits for the page.
ONCE = {"violations_in_card"}
FOLDER, ROOM = Path(__file__).parent / "rendered", "tests.rendered."
FILES = sorted(FOLDER.glob("test_*.py"))


def looks_at_once(node: ast.AST, helpers: set[str]) -> bool:
    """Whether something in here asks a page at once; what a lambda does, `until` repeats."""
    if isinstance(node, ast.Lambda):
        return False
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Name) and node.func.id in helpers:
            return True
        if isinstance(node.func, ast.Attribute):
            # A text's or a list's count takes what is counted.
            counts = node.func.attr == "count" and not node.args
            if counts or node.func.attr in AT_ONCE:
                return True
    return any(looks_at_once(child, helpers) for child in ast.iter_child_nodes(node))


def helpers_of(tree: ast.Module) -> set[str]:
    """The file's functions that look at once, or call one that does; those it imports, too."""
    functions = [
        part
        for part in tree.body
        if isinstance(part, ast.FunctionDef) and not part.name.startswith("test_")
    ]
    found = imported(tree)
    for _ in functions:
        found |= {function.name for function in functions if looks_at_once(function, found)}
    return found


def imported(tree: ast.Module) -> set[str]:
    """What is taken by name from another file of these tests, and looks at once there."""
    found: set[str] = set()
    for part in tree.body:
        if isinstance(part, ast.ImportFrom) and (part.module or "").startswith(ROOM):
            path = FOLDER / f"{part.module.removeprefix(ROOM)}.py"
            there = helpers_of(ast.parse(path.read_text())) if path.is_file() else set()
            found |= {name.asname or name.name for name in part.names if name.name in there}
    return found - ONCE


def hasty(source: str) -> list[int]:
    """Lines with an assertion on what a page shows at one moment."""
    tree = ast.parse(source)
    helpers = helpers_of(tree)
    found = [part for part in ast.walk(tree) if isinstance(part, ast.Assert)]
    return [part.lineno for part in found if looks_at_once(part.test, helpers)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_assertion_takes_one_look(path: Path) -> None:
    assert hasty(path.read_text()) == []


@pytest.mark.parametrize(
    ("line", "is_hasty"),
    [
        ("assert page.locator('p').is_visible()", True),
        ("assert page.locator('p').count() == 2", True),
        ("assert shown(page) == [1]", True),
        ("assert len(shown(page)) > 1", True),
        ("assert text.count('p') == 2", False),
        ("expect(page.locator('p')).to_be_visible()", False),
        ("until(lambda: shown(page), [1])", False),
    ],
)
def test_a_hasty_assertion_is_told(line: str, is_hasty: bool) -> None:
    source = "def shown(page):\n    return page.evaluate('1')\n\ndef test_it(page, text):\n    "
    assert bool(hasty(source + line)) == is_hasty


def test_a_helper_of_another_file_is_told() -> None:
    source = "from tests.rendered.calculators import shown\n\ndef test_it(page):\n    "
    assert hasty(source + "assert shown(page) == {}") == [4]
    assert hasty(source + "until(lambda: shown(page), {})") == []
