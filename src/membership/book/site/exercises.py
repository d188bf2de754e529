"""Pages of exercises: what each solution prints stands below it, and lists by level."""

import io
import re
from contextlib import redirect_stdout
from typing import Any

from membership import paths

PAGES = "book/exercises/"
LEVELS = ("Easy", "Medium", "Hard")
_LEVEL = re.compile(rf"^## (.+)\n\n\*({'|'.join(LEVELS)})\.\* ", re.M)
_SOLUTION = re.compile(
    r"^```\{code-cell\} ipython3\n(?::tags:[^\n]*\n)?\n?(.*?)^```\n", re.M | re.S
)


def show_outputs(app: Any, page: str, source: list[str]) -> None:
    """Run a page's solutions and put what they print below them; called by Sphinx as it reads."""
    if page.startswith(PAGES):
        source[0] = with_outputs(source[0])


def with_outputs(text: str) -> str:
    """A page of exercises with what each solution prints below it, folded as the solution is."""

    def shown(match: re.Match) -> str:
        output = f"```text\n{printed(match[1])}\n```"
        return f"{match[0]}\n:::{{dropdown}} What the solution prints\n{output}\n:::\n"

    return _SOLUTION.sub(shown, text)


def levels(*chapters: str) -> str:
    """The exercises of chapters as a Markdown list, a level a line, for a page beside theirs."""
    by_level: dict[str, list[str]] = {level: [] for level in LEVELS}
    for chapter in chapters:
        text = paths.text_of(paths.project_root() / PAGES / f"{chapter}.md")
        for title, level in _LEVEL.findall(text):
            anchor = re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")
            by_level[level].append(f"[{title}](exercises/{chapter}.md#{anchor})")
    return "\n".join(f"- *{level}*: {', '.join(links)}" for level, links in by_level.items())


def printed(solution: str) -> str:
    """What a solution prints when it runs by itself."""
    with redirect_stdout(io.StringIO()) as output:
        exec(compile(solution, "solution", "exec"), {})
    return output.getvalue().strip()
