"""What the chapter's evidence files are called, for those who gather and those who read."""

import re
from pathlib import Path
from typing import Any

MAIN = ("outputs", "posterior")
"""What every attack reads."""
POPULATION = "outputs-population"
DRAWS = ("measured-distances", "measured-samplings")
"""With the one above: of the last data set only."""
MANY = ("outputs-many", "posterior-many")
QUANTILES = "measured-quantiles"
"""Of the last data set with many references, of a network that trains in seconds."""
TOY = "measured-toy"
QMIA = "qmia"
"""What begins the name of each data set's file of it."""


def words(settings: Any) -> dict[str, str]:
    """The word for each data set of a run that names its files."""
    found: dict[str, str] = {}
    for name in dict.fromkeys([settings.dataset, *settings.also_datasets]):
        word = re.sub(r"[^a-z0-9]+", "-", Path(name).stem.lower()).strip("-") or "own"
        found[name] = word if word not in found.values() else f"{word}-{len(found) + 1}"
    return found


def files(kinds: tuple[str, ...], settings: Any) -> tuple[str, ...]:
    """Names of the evidence of these kinds for each data set, data set by data set."""
    return tuple(f"{kind}-{word}" for word in words(settings).values() for kind in kinds)


def architectures(settings: Any) -> tuple[str, ...]:
    """The architectures that Figure 4 pairs, each once."""
    return tuple(dict.fromkeys(settings.architectures))


def of_architectures(settings: Any) -> tuple[str, ...]:
    """Names of the evidence of Figure 4."""
    return tuple(f"{kind}-of-{name}" for name in architectures(settings) for kind in MAIN)


def of_strangers(settings: Any) -> tuple[str, ...]:
    """Names of the evidence of Table 2."""
    return tuple(f"{kind}-strangers" for kind in MAIN)


def of_last(kinds: tuple[str, ...], settings: Any) -> tuple[str, ...]:
    """Names of evidence that only the last data set has."""
    last = list(words(settings).values())[-1]
    return tuple(f"{kind}-{last}" for kind in kinds)


def of_budgets(settings: Any) -> tuple[str, ...]:
    """Names of what all attacks read, of other posteriors, and of the last data set's own."""
    return *files((*MAIN, "variants", QMIA), settings), *of_last((POPULATION,), settings)


def of_accuracy(settings: Any) -> tuple[str, ...]:
    """Names of what all attacks read, and of the evidence of Figure 4."""
    return *files(MAIN, settings), *of_architectures(settings)
