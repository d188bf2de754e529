"""What the chapter's cells, files and columns are called; nothing here needs torch."""

import itertools
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from membership.studies import experiment

LABELS = {
    "digits": "Digits",
    "location30": "Location-30",
    "purchase_like": "Purchase-like (simulated)",
    "adult": "Adult",
    "mnist-odd": "MNIST-Odd",
    "fashion_mnist": "Fashion-MNIST",
    "cifar10": "CIFAR-10",
}
MAIN = ("outputs", "posterior")
"""What is gathered of every cell; of small models also "white-box"."""
TARGET_AND_REFERENCES = "the target and references"
ALL_OTHERS = "all other records"
ANOTHER = "another game"


@dataclass(frozen=True)
class Cell:
    """One data set with one kind of target.

    Attributes
    ----------
    dataset : str
        By name or path.
    kind : str
        One of `settings.MODELS`.
    word : str
        What names its files.
    """

    dataset: str
    kind: str
    word: str

    @property
    def set(self) -> str:
        """The data set as tables name it."""
        base = self.dataset.split(":", maxsplit=1)[0]
        return LABELS.get(base, Path(base).stem)


def cells(settings: Any) -> tuple[Cell, ...]:
    """The cells of a run, those of the first data set before the others."""
    found: dict[str, Cell] = {}
    for name in dict.fromkeys([settings.dataset, *settings.also_datasets]):
        stem = experiment.word(Path(name).stem)
        for kind in kinds(settings, name):
            word = f"{stem}-{kind}"
            word = word if word not in found else f"{word}-{len(found) + 1}"
            found[word] = Cell(name, kind, word)
    return tuple(found.values())


def kinds(settings: Any, dataset: str) -> list[str]:
    """The kinds of target on one of the data sets of a run."""
    if dataset == settings.dataset:
        return list(dict.fromkeys(settings.models))
    each = [one.partition("@") for one in settings.also_models]
    return list(dict.fromkeys(kind for kind, _, only in each if only in ("", dataset)))


def opened(settings: Any) -> tuple[Cell, ...]:
    """The cells whose targets' gradients and curvature are looked at."""
    return tuple(one for one in cells(settings) if _is_opened(one, settings))


OPENED = {
    ("Digits", "logistic"),
    ("Digits", "small"),
    ("Adult", "logistic"),
    ("Adult", "small"),
    ("MNIST-Odd", "logistic"),
}
"""Models of at most `LARGEST_OPENED` parameters, whose Hessian is decomposed in seconds."""
LARGEST_OPENED = 2_000
PARAMETERS = "parameters of the smallest target"


def _is_opened(cell: Cell, settings: Any) -> bool:
    if cell.dataset.split(":", maxsplit=1)[0] in LABELS:  # known also where the records are not
        return (cell.set, cell.kind) in OPENED
    return cell.kind in ("logistic", "small") and parameters(cell, settings) <= LARGEST_OPENED


def parameters(cell: Cell, settings: Any) -> int:
    """How many parameters a model of a cell has, by the size of its data set's records."""
    from membership import data
    from membership.studies.comparison import recipes

    found = data.outline(cell.dataset, settings.data_root or None)
    widths = (math.prod(found.shape), *recipes.RECIPES[cell.kind].hidden, found.n_classes)
    return sum((a + 1) * b for a, b in itertools.pairwise(widths))


def files(settings: Any) -> tuple[str, ...]:
    """The evidence that the leaderboards read."""
    main = [f"{kind}-{one.word}" for one in cells(settings) for kind in MAIN]
    return (*main, *(f"white-box-{one.word}" for one in opened(settings)))


def times(settings: Any) -> tuple[str, ...]:
    """The evidence on seconds."""
    return tuple(f"times-{one.word}" for one in cells(settings))


def typical(settings: Any) -> tuple[Cell, ...]:
    """One cell of each data set, the small MLP where there is one, for what takes every model."""
    found: dict[str, Cell] = {}
    for one in cells(settings):
        if one.dataset not in found or one.kind == "small":
            found[one.dataset] = one
    return tuple(found.values())


IMAGES = ("Digits", "MNIST-Odd", "Fashion-MNIST", "CIFAR-10")


def pictured(settings: Any) -> tuple[Cell, ...]:
    """The first of the cells above whose records are pictures; none where none is."""
    return tuple(one for one in typical(settings) if _is_pictured(one, settings))[:1]


def _is_pictured(cell: Cell, settings: Any) -> bool:
    if cell.dataset.split(":", maxsplit=1)[0] in LABELS:  # known also where the records are not
        return cell.set in IMAGES
    from membership import data

    return data.outline(cell.dataset, settings.data_root or None).is_image


def with_hinge(outputs: Any) -> Any:
    """Outputs with what follows from the log-odds of two classes and is not kept twice."""
    if "hinge" in outputs:
        return outputs
    log_odds = outputs["log_odds"]
    return outputs.assign(hinge=log_odds, halved_log_odds=log_odds / 2)


UNTRAINED = "untrained"
"""The file of the null row on models that were never trained."""
