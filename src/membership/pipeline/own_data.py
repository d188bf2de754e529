"""What each chapter asks of a reader's own data, as a table of the page on them."""

from membership.pipeline.layout import chapters, settings_class

_HEAD = """\
| Chapter | Records, at least | Images | Features far from 1 in size |
|---|---|---|---|
"""


def own_data() -> str:
    """One row a chapter, from the constants that its checks use."""
    return _HEAD + "".join(map(_row, chapters()))


def _row(chapter: str) -> str:
    takes, link = settings_class(chapter).takes(), f"{{doc}}`chapters/{chapter}`"
    if takes is None:
        return f"| {link} | none: it makes its own | | |\n"
    side = f"{takes.side} x {takes.side} pixels or more" if takes.side > 1 else "of any size"
    scaled = "refused without `-p standardise true`" if takes.scaled else "taken"
    return f"| {link} | {takes.records} {takes.counted} | {side} | {scaled} |\n"
