"""One run of an exhibit, as its card shows it."""

from dataclasses import dataclass
from typing import Any

import pandas as pd

from membership.exhibits.rows import LONGEST, Entry, entries, is_tidy


@dataclass(frozen=True)
class Run:
    """One run of the exhibit: its heading, table and record, and where its files are.

    ``files`` maps a label ("CSV") to an address; with ``linked`` False they are plain paths.
    """

    heading: str
    table: pd.DataFrame
    record: dict[str, Any]
    files: dict[str, str]
    linked: bool

    @property
    def title(self) -> str:
        """The heading as a sentence starts: "This run, quick"."""
        return self.heading[0].upper() + self.heading[1:]

    @property
    def is_drawn(self) -> bool:
        """Whether the figure says it all: points of curves or scores, which no one reads."""
        long = not is_tidy(self.table) or len(self.table) > LONGEST
        return long and "SVG" in self.files and not self.record["comparison"]

    @property
    def entries(self) -> list[Entry]:
        """The run's quantities; none where its table is no list of numbers under keys."""
        if self.record["comparison"] or is_tidy(self.table):
            return entries(self.record, self.table)
        return []

    @property
    def verdicts(self) -> list[str]:
        """The verdicts on those of its numbers that the paper gives too."""
        comparison = self.record["comparison"]
        rows = comparison["rows"] if comparison else []
        return [row["verdict"] for row in rows if row["verdict"]]
