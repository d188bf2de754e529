"""What the chapter's cells, targets, files and columns are called; nothing here needs torch."""

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from membership import addresses, data
from membership.book.studies import experiment, patches
from membership.book.studies.comparison.settings import Settings
from membership.metrics.rate_names import tpr_column

LABELS = {
    "digits": "Digits",
    "location30": "Location-30",
    "purchase_like": "Purchase-like (simulated)",
    "adult": "Adult",
    "mnist-odd": "MNIST-Odd",
    "fashion_mnist": "Fashion-MNIST",
    "cifar10": "CIFAR-10",
    patches.PATCHES: "CIFAR-10 (patch features)",
    patches.PATCHES_100: "CIFAR-100 (patch features)",
}
MAIN = ("outputs", "posterior")
"""What is gathered of every cell; of small models also "white-box"."""
TARGET_AND_REFERENCES = "the target and references"
ALL_OTHERS = "all other records"
ANOTHER = "another game"
LARGEST_OPENED = 2_000
"""Parameters of a model whose Hessian is decomposed in seconds."""
BOOSTED, PUBLIC = "QMIA, boosted trees", "BMIA, the public code's"
OUTSIDE_TARGETS = 5
MOST_COLUMNS = 500
"""Records of at most so many numbers, to which trees are fitted in a minute a target."""
NO_TABLES = f"data sets of at most {MOST_COLUMNS} columns"
PARAMETERS = "parameters of the smallest target"
AREA, RATE = "AUC", tpr_column(0.01)
UNTRAINED = "untrained"
"""The file of the null row on models that were never trained."""


def picked(table: pd.DataFrame, metric: str) -> pd.DataFrame:
    """The rows of one metric."""
    return table[table["metric"] == metric]


def in_words(table: pd.DataFrame) -> pd.Series:
    """The cell of each row."""
    return table["dataset"] + ", " + table["target"]


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
        address = addresses.read(self.dataset)
        if address.is_own:
            return Path(address.place).stem
        name = address.place.split(":", maxsplit=1)[0] + addresses.PARITY * address.parity
        return LABELS.get(name, name)


def cells(settings: Settings) -> tuple[Cell, ...]:
    """The cells of a run, those of the first data set before the others."""
    by_word: dict[str, Cell] = {}
    for name in settings.datasets:
        stem = experiment.word(Path(name).stem)
        for kind in settings.kinds(name):
            word = f"{stem}-{kind}"
            word = word if word not in by_word else f"{word}-{len(by_word) + 1}"
            by_word[word] = Cell(name, kind, word)
    return tuple(by_word.values())


def opened(settings: Settings) -> tuple[Cell, ...]:
    """The cells whose targets' gradients and curvature are looked at."""
    return tuple(cell for cell in cells(settings) if _is_opened(cell, settings))


def _is_opened(cell: Cell, settings: Settings) -> bool:
    return RECIPES[cell.kind].opened and parameters(cell, settings) <= LARGEST_OPENED


def _layout(cell: Cell, settings: Settings) -> data.Layout:
    """What a record is; of the registry's sets also where the records are not."""
    return patches.layout(cell.dataset, settings.data_root or None)


def parameters(cell: Cell, settings: Settings) -> int:
    """How many parameters a model of a cell has, by the size of its data set's records."""
    layout = _layout(cell, settings)
    widths = (layout.n_encoded, *RECIPES[cell.kind].hidden, layout.n_classes)
    return sum((a + 1) * b for a, b in itertools.pairwise(widths))


def files(settings: Settings) -> tuple[str, ...]:
    """The evidence that the leaderboards read."""
    main = [f"{kind}-{cell.word}" for cell in cells(settings) for kind in MAIN]
    return (*main, *(f"white-box-{cell.word}" for cell in opened(settings)))


def typical(settings: Settings) -> tuple[Cell, ...]:
    """One cell of each data set, the small MLP where there is one, for what takes every model."""
    by_dataset: dict[str, Cell] = {}
    for cell in cells(settings):
        if cell.dataset not in by_dataset or cell.kind == "small":
            by_dataset[cell.dataset] = cell
    return tuple(by_dataset.values())


def pictured(settings: Settings) -> tuple[Cell, ...]:
    """The first of the cells above whose records are pictures; none where none is."""
    return tuple(cell for cell in typical(settings) if _layout(cell, settings).is_image)[:1]


def outside(settings: Settings) -> tuple[Cell, ...]:
    """The cells above to which trees are fitted."""
    return tuple(cell for cell in typical(settings) if _is_table(cell, settings))


def _is_table(cell: Cell, settings: Settings) -> bool:
    return cell.kind != "private" and _layout(cell, settings).n_encoded <= MOST_COLUMNS


def with_hinge(outputs: Any) -> Any:
    """Outputs with what follows from the log-odds of two classes and is not kept twice."""
    if "hinge" in outputs:
        return outputs
    log_odds = outputs["log_odds"]
    return outputs.assign(hinge=log_odds, halved_log_odds=log_odds / 2)


@dataclass(frozen=True)
class Recipe:
    """One kind of target.

    Attributes
    ----------
    display : str
        As tables call it.
    hidden : tuple of int
        Widths of the hidden layers; none is logistic regression.
    longer : float
        By how much its training is longer than the others'.
    weight_decay : float
    opened : bool
        Whether its gradients and curvature are looked at, where it is small enough.
    """

    display: str
    hidden: tuple[int, ...] = ()
    longer: float = 1
    weight_decay: float = 5e-4
    opened: bool = False


RECIPES = {
    "logistic": Recipe("logistic regression", opened=True),
    "small": Recipe("small MLP", (16,), opened=True),
    "wide": Recipe("wide MLP", (256,)),
    "regularised": Recipe("strongly regularised MLP", (64,), weight_decay=2e-2),
    "overfitted": Recipe("overfitted MLP", (64,), longer=4, weight_decay=0.0),
    "private": Recipe("private softmax layer"),
    "cnn": Recipe("small CNN", longer=0.25),
}
