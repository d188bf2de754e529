"""Start a chapter from this template: ``python template/start_chapter.py KEY NAME``.

KEY is the paper's in src/membership/book/published/references.bib, NAME that of the chapter,
such as ``my_paper``. Nothing is written unless all of it can be.
"""

import re
import sys
from keyword import iskeyword
from pathlib import Path

from pybtex.database import parse_file
from pybtex.exceptions import PybtexError

TEMPLATE = Path(__file__).parent
PACKAGE = Path("src/membership/book")
OURS, KEY = "my_paper", "yeom2018"
GOES_TO = {
    "study": "src/membership/book/studies/{}",
    "published": "src/membership/book/published",
    "notebook.md": "notebooks/{}.md",
    "tests": "tests/book/studies/{}",
}
"""Where each part of the template goes; a file's own name has the chapter's in it."""
LINES = {
    "src/membership/book/bibliography.py": (
        '    "lood": "ye2024",\n',
        '    "{name}": "{key}",\n',
    ),
    "_toc.yml": (
        "  - caption: Use it\n",
        "      - file: book/chapters/{name}\n",
    ),
    "tests/book/exhibits/of_the_papers.csv": (
        "chapter,id,label,kind\n",
        "{name},{prefix}-tab-1,Table 1,table\n",
    ),
}
"""The files that list chapters and tables: what stands beside the new line, and the line."""
FIELDS, VENUES = (
    ("author", "title", "year", "eprint", "url"),
    ("booktitle", "journal", "howpublished"),
)
MOST_LETTERS = 40


def files(name: str) -> dict[Path, str]:
    """What is to be written, by its place below the project's root."""
    written = {}
    for part, place in GOES_TO.items():
        source = TEMPLATE / part
        for file in [source] if source.is_file() else sorted(source.iterdir()):
            target = Path(place.format(name))
            if source.is_dir():
                target = target / file.name.replace(OURS, name)
            written[target] = _renamed(file.read_text(encoding="utf-8"), name)
    return written


def _renamed(text: str, name: str) -> str:
    return text.replace(OURS, name).replace(OURS.replace("_", "-"), name.replace("_", "-"))


def cited(file: Path, key: str) -> str:
    """The key of an entry, as the file writes it; the entry has what a chapter's paper needs."""
    try:
        entry = parse_file(str(file)).entries.get(key)
    except PybtexError as error:
        raise SystemExit(f"{file.name} cannot be read: {error}") from None
    if entry is None:
        raise SystemExit(f"KEY is {key!r}: enter the paper in references.bib first")
    there = {name.lower() for name in (*entry.fields, *entry.persons)}
    lacking = [field for field in FIELDS if field not in there]
    if not there & set(VENUES):
        lacking.append(f"one of {', '.join(VENUES)}")
    if lacking:
        raise SystemExit(f"KEY is {key!r}: its entry lacks {' and '.join(lacking)}")
    return entry.key


def start(root: Path, key: str, name: str) -> list[Path]:
    """Write the chapter below a root and list it; the files that are new."""
    if not re.fullmatch("[a-z]+(_[a-z]+)*", name) or iskeyword(name) or len(name) > MOST_LETTERS:
        raise SystemExit(
            f"NAME is {name!r}: give {MOST_LETTERS} small letters at most with _ between words, as "
            "my_paper, and none of Python's keywords"
        )
    key = cited(root / PACKAGE / "published/references.bib", key)
    new = files(name)
    module = PACKAGE / "studies" / f"{name}.py"
    there = [str(place) for place in (module, *new) if (root / place).exists()]
    if there:
        raise SystemExit(f"NAME is {name!r}: {there[0]} is there already; choose another")
    written = {place: text.replace(KEY, key) for place, text in new.items()}
    for place, (beside, line) in LINES.items():
        text = (root / place).read_text(encoding="utf-8")
        line = line.format(name=name, key=key, prefix=name.replace("_", "-"))
        both = line + beside if beside.startswith("  - caption") else beside + line
        written[Path(place)] = text.replace(beside, both, 1)
    for place, text in written.items():
        (root / place).parent.mkdir(parents=True, exist_ok=True)
        (root / place).write_text(text, encoding="utf-8")
    return list(new)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    for new in start(TEMPLATE.parent, *sys.argv[1:]):
        print(new)
