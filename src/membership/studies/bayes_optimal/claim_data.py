"""What the chapter's claims are tested on: contrasts of a run, and whether its data are theirs."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from membership import published
from membership.arrays import FloatArray
from membership.errors import InputError
from membership.published import Contrast, Outcome
from membership.published.outcomes import every, overall
from membership.studies.bayes_optimal import logistic, names
from membership.studies.bayes_optimal.exhibits import per_target
from membership.studies.bayes_optimal.names import ACCURACY

TABLE_1, TABLE_2 = "bayes-optimal-tab-1", "bayes-optimal-tab-2"
POWERS = "bayes-optimal-ctl-11"
# Where a mean of Table 1's measurements may stand, in a run without its evidence.
LOGISTIC = (TABLE_1, "bayes-optimal-ctl-2", "bayes-optimal-ctl-3", "bayes-optimal-ctl-4")
SHIPS, IMAGES = "CIFAR-10 trucks and ships", "CIFAR-10"
LEAST_SPLITS, LEAST_TARGETS = 30, 5

Cell = tuple[str, str]
"""An attack and a metric."""


def sizes(source: Any) -> list[int]:
    """The sizes n of a run's Table 1."""
    return sorted(int(n) for n in source.table(TABLE_1)["n"].unique())


def by_size(source: Any, part: Callable[[int, int], Outcome]) -> Outcome:
    """A claim about every n, from a function of n and of how many there are."""
    return on_ships(source, lambda chosen: every([part(n, len(chosen)) for n in chosen]))


def on_ships(source: Any, judge: Callable[[list[int]], Outcome]) -> Outcome:
    """An outcome as one of the paper's data, where the run's are, or of a substitute.

    The reason says beside it what comes of the sizes whose models agree with the paper's.
    """
    whole = judge(sizes(source))
    word, told = ships(source, whole)
    found = overall({word: whole.on(told)}, [SHIPS])
    return replace(found, unit="splits", reason=found.reason + beside(source, judge))


def beside(source: Any, judge: Callable[[list[int]], Outcome]) -> str:
    """What a claim's test makes of the sizes whose models agree with the paper's, in words."""
    some = comparable_sizes(source)
    if not some or some == sizes(source):
        return ""
    listed = ", ".join(map(str, some))
    return f"; of models that agree with the paper's (n = {listed}): {judge(some).word}"


def comparable_sizes(source: Any) -> list[int]:
    """The sizes at which the attacks are on models whose accuracies do not differ from print."""
    table = source.table(TABLE_1)
    if {one["data"] for one in table.attrs["setup"].values()} != {SHIPS}:
        return []
    judged = logistic.judged(table)
    attacks = judged[judged["attack"] != logistic.MODEL]
    comparable = attacks["verdict"] != "not comparable"
    return sorted(int(n) for n in attacks[comparable]["n"].unique())


def ships(source: Any, outcome: Outcome) -> tuple[str, str]:
    """What Table 1's data are called beside the paper's, and what an outcome holds for."""
    table = source.table(TABLE_1)
    (name,) = {one["data"] for one in table.attrs["setup"].values()}
    told = f"{name}, n = {', '.join(map(str, sizes(source)))}, {splits(outcome)} splits"
    most = int(table["n_repeats"].max())
    if name == SHIPS and most >= LEAST_SPLITS and _models_alike(table):
        return SHIPS, told
    return told if name != SHIPS else f"{told}, features of other models", told


def splits(outcome: Outcome) -> str:
    """On how many random splits its numbers are, "20 to 50" where they differ in it."""
    counts = sorted({one.units for one in outcome.numbers if one.units})
    return " to ".join(str(one) for one in dict.fromkeys((counts[0], counts[-1])))


def _models_alike(table: Any) -> bool:
    """Whether all five sizes are there, with validation accuracies within 2 points of theirs."""
    printed, ours = (
        one[one["metric"] == "validation_accuracy(%)"].set_index("n")["value"]
        for one in (logistic.published_table_1(), table)
    )
    if set(printed.index) != set(ours.index):
        return False
    return bool((ours - printed).abs().max() <= 2)


def contrast(source: Any, n: int, first: Cell, second: Cell, what: str) -> Contrast:
    """One number less another at a size of Table 1, paired by split."""
    each = _less(source, n, first, second)
    return Contrast.of_units(each, f"{what}, n = {n}")


def of_pairs(source: Any, n: int, pairs: Sequence[tuple[Cell, Cell]], what: str) -> Contrast:
    """One difference less another, paired by split."""
    each = [_less(source, n, *pair) for pair in pairs]
    return Contrast.of_units(each[0] - each[1], f"{what}, n = {n}")


def _less(source: Any, n: int, first: Cell, second: Cell) -> FloatArray:
    """One number less another, on every split that has both."""
    one = source.evidence(names.logistic(n))
    each = logistic.number(one, *first) - logistic.number(one, *second)
    return each[~np.isnan(each)]


def mean(source: Any, n: int, cell: Cell) -> Contrast:
    """A number of a run's tables, with its own error."""
    for exhibit in LOGISTIC:
        table = source.table(exhibit)
        found = table[(table["n"] == n) & (table["attack"] == cell[0])]
        found = found[found["metric"] == cell[1]]
        if len(found):
            return row(found.iloc[0], f"{cell[0]} {cell[1]}")
    raise InputError(f"the saved tables lack {cell[1]} of {cell[0]}: it takes the run's evidence")


def row(found: Any, label: str) -> Contrast:
    """A row of a tidy table, with its stated error."""
    error, degrees = found["standard_error"], found["degrees_of_freedom"]
    return Contrast(label, found["value"], error, degrees, int(found["n_repeats"]))


def of_networks(source: Any, first: Cell, second: Cell, label: str) -> Contrast:
    """One number of Table 2 less another, paired by target."""
    wide = per_target(source).pivot_table(
        index="target", columns=["attack", "metric"], values="value"
    )
    return Contrast.of_units(wide[first] - wide[second], label)


def on_images(source: Any, outcome: Outcome, references: int = 0, attack: str = "") -> Outcome:
    """An outcome on networks: as one of the paper's where it has its data, recipe, references.

    Nor is it the paper's where the run says that an attack is another.
    """
    word, told = images(source, references, attack)
    return replace(overall({word: outcome.on(told)}, [IMAGES]), unit="targets")


def images(source: Any, references: int = 0, attack: str = "") -> tuple[str, str]:
    """What Table 2's networks are called beside the paper's, and what an outcome holds for."""
    told, alike = networks(source)
    setup = source.table(TABLE_2).attrs["setup"]["networks"]
    if setup["reference_models"] < references:
        alike, told = False, f"{told} of {references}"
    if attack in setup.get("attacks", {}):
        alike, told = False, f"{told}, {attack} from fewer outputs"
    return IMAGES if alike else told, told


def networks(source: Any) -> tuple[str, bool]:
    """What a run's networks are, in words, and whether they are the paper's."""
    table = source.table(TABLE_2)
    setup = table.attrs["setup"]["networks"]
    targets = int(table["n_repeats"].max())
    told = (
        f"{setup['data']}, {setup['members']:,} members, {targets} targets, "
        f"{setup['reference_models']} references"
    )
    stated = published.setup("bayes_optimal")["Table 2"]
    same = all(
        setup.get(key) == stated[key] for key in ("data", "members", "architecture", "recipe")
    )
    printed = published.table("bayes_optimal_table2")
    printed = printed[printed["attack"].str.startswith("0-1")]["value"].item()
    ours = table.set_index(["attack", "metric"]).loc[("0-1", ACCURACY), "value"]
    return told, bool(same and abs(ours - printed) <= 3 and targets >= LEAST_TARGETS)
