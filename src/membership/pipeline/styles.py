"""Style sheets without the rules for what stands on no page."""

import re
from pathlib import Path

# An innermost block: rules within a condition such as @media are looked at one by one.
_RULE = re.compile(r"([^{};]+)\{([^{}]*)\}")
_CLASS = re.compile(r"\.(-?[A-Za-z_][\w-]*)")
_WORD = re.compile(r"-?[A-Za-z_][\w-]*")
# A list within parentheses, or a name with escaped letters.
_UNREAD = re.compile(r"\([^)]*,|\\")
_EMPTY = re.compile(r"@(?:media|supports)[^{};]*\{\s*\}")
# Put together by scripts from parts.
_MADE = ("bs-", "mjx-")


def words(text: str) -> set[str]:
    """Everything in a page or a script that could name a class."""
    return set(_WORD.findall(text))


def used_only(sheet: str, used: set[str]) -> str:
    """A style sheet without the selectors that ask for a class that is not among `used`.

    A list within parentheses is left alone, and so is everything without a class.
    """

    def kept(rule: re.Match[str]) -> str:
        selectors, body = rule[1], rule[2]
        if selectors.lstrip().startswith(("@", "/*")) or _UNREAD.search(selectors):
            return rule[0]
        asked = [one for one in selectors.split(",") if _may_occur(one, used)]
        return f"{','.join(asked)}{{{body}}}" if asked else ""

    return _EMPTY.sub("", _EMPTY.sub("", _RULE.sub(kept, sheet)))


def _may_occur(selector: str, used: set[str]) -> bool:
    # A class that must not be there may well not be.
    asked = _CLASS.findall(re.sub(r":not\([^)]*\)|\[[^]]*\]", "", selector))
    return all(name in used or name.startswith(_MADE) for name in asked)


def keep_used(static: Path, names: tuple[str, ...], used: set[str]) -> None:
    """Rewrite the sheets of these names, where they are, without what no page uses."""
    for sheet in sorted(path for name in names for path in static.glob(name)):
        text = sheet.read_text(encoding="utf-8")
        sheet.write_text(used_only(text, used), encoding="utf-8")
