"""How near the committed run of an exhibit is to the paper's, in a word or two."""

import re
from typing import Any

import pandas as pd

from membership import paths, published
from membership.exhibits.declaration import Exhibit
from membership.exhibits.panels import Panel
from membership.exhibits.quantities import MODEL

AS_PAPER = "paper's size and data"
SMALLER = "smaller"
OTHER = "other set-up"
UNKNOWN = "size not on record"
SUBSTITUTE = "substitute data"
COMPUTED = "computed"
RECIPE = "recipe"
NOT_RUN = "not run"
WORDS = {
    AS_PAPER: "nothing differs that the numbers depend on; fewer repeats only widen the interval",
    SMALLER: "the paper's data, but fewer records, models or units than the numbers depend on",
    OTHER: "the paper's data, but another network, recipe or feature extractor",
    UNKNOWN: "the paper's data; the paper's own sizes are not in the text at hand",
    SUBSTITUTE: "public or simulated data in the place of the paper's",
    COMPUTED: "closed forms, simulations and printed tables: no data set",
    RECIPE: "not run here; a page says how",
    NOT_RUN: "not run here",
}
_FEWER = re.compile(r"^(?:a smaller training set|networks: |\d+ reference models instead)")
# A rate for which too few non-members are asked says nothing of the models.
_RARE = re.compile(r"false positives expected|^a rate needs")
_REPEATS = re.compile(r"\b(?:asked|audited|repeats?|seeds?|splits?)\b", re.IGNORECASE)
_SAID = re.compile(r"(?P<ours>[\d,]+)[^()\d]*\((?:the )?paper: (?P<theirs>[\d,]+)\b")


def standing(exhibit: Exhibit, run: Panel | None) -> tuple[str, ...]:
    """The words of `WORDS` that hold, in their order; several where its data sets differ in it.

    Parameters
    ----------
    exhibit : Exhibit
    run : Panel or None
        The committed one.
    """
    if run is None:
        return (RECIPE if recipe(exhibit.id) else NOT_RUN,)
    if not run.about["data"]:
        return (COMPUTED,)
    judged = _of_verdicts(run.judged) if run.judged is not None else set()
    found = judged or _of_record(run.about, tuple(published.data_sets(exhibit.chapter)))
    if SMALLER in found:
        found -= {UNKNOWN}
    return tuple(word for word in WORDS if word in found)


def recipe(exhibit_id: str) -> str:
    """The page of the book that says how to make an exhibit that is not run, or nothing."""
    pages = sorted((paths.project_root() / "book").glob("*_recipe.md"))
    found = [page.stem for page in pages if exhibit_id in page.read_text(encoding="utf-8")]
    return found[0] if found else ""


def _of_verdicts(judged: pd.DataFrame) -> set[str]:
    """From the reasons of the verdicts: what decides that is what the standing is about."""
    rows = judged[judged["published"].notna() & (judged["verdict"] != "")]
    if "attack" in rows:
        rows = rows[rows["attack"] != MODEL]
    return {_of_reason(row.verdict, row.reason) for row in rows.itertuples()} - {""}


def _of_reason(verdict: str, reason: str) -> str:
    if verdict != "not comparable":
        return AS_PAPER
    parts = [part for part in reason.split("; ") if not _RARE.search(part)]
    if any(part.startswith("other data") for part in parts):
        return SUBSTITUTE
    if any(_FEWER.search(part) for part in parts):
        return SMALLER
    return OTHER if parts else ""


def _of_record(about: dict[str, Any], own: tuple[str, ...]) -> set[str]:
    """From what the run says of itself, where no number is judged."""
    data = list(about["data"])
    others = [name for name in data if not name.startswith(own)]
    found = {SUBSTITUTE} if others else set()
    if len(others) == len(data):
        return found
    told = [f"{size} {name}" for name, size in about["sizes"].items()]
    told += [text for text in about["deviations"] if not _is_of(text, others)]
    return found | ({word for text in told if (word := _of_sentence(text))} or {AS_PAPER})


def _is_of(text: str, others: list[str]) -> bool:
    """Whether a sentence is about a data set that is not the paper's."""
    label = _bare(text.partition(":")[0])
    return any(label.startswith(_bare(name)) for name in others)


def _of_sentence(text: str) -> str:
    if _REPEATS.search(text):
        return ""
    counts = [
        int(said["ours"].replace(",", "")) < int(said["theirs"].replace(",", ""))
        for said in _SAID.finditer(text)
    ]
    if any(counts):
        return SMALLER
    if "not on record" in text:
        return UNKNOWN
    return OTHER if "(the paper: " in text and not counts else ""


def _bare(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())
