"""Outcomes of several parts and over data sets, as this chapter's claims tell them."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pandas as pd

from membership.errors import InputError
from membership.published import Contrast, Outcome
from membership.published.outcomes import every, overall

PAPER = ("Adult",)
"""Data sets with the paper's records, sizes and features; CIFAR-10 has other features here."""
UNITS = ("Audited models", "Seeds")
_SHOWN = 2


def summed_up(outcomes: Iterable[Outcome]) -> Outcome:
    """All of a claim's parts, of which those that come nearest to failing are shown.

    Of a contradicted claim the ones that fail by most.
    """
    outcomes = list(outcomes)
    whole = every(outcomes)
    telling = [one for one in outcomes if one.word == whole.word] or outcomes
    numbers = [number for one in telling for number in one.numbers]
    numbers.sort(key=_to_spare)
    return replace(whole, numbers=tuple(numbers[:_SHOWN]))


def _to_spare(one: Contrast) -> float:
    """How far the interval stays within what is claimed, less the threshold that all share."""
    low, high = one.interval()
    kind = one.claimed.kind if one.claimed else ""
    if kind in ("below", "at most"):
        return -high
    return low if kind == "above" else -max(-low, high)


def over_data(
    table: pd.DataFrame,
    test: Callable[[str, int], Outcome],
    *,
    column: str = "dataset",
    **options: Any,
) -> Outcome:
    """One outcome from those on each data set; the test takes its name and how many there are."""
    names = [name for name in dict.fromkeys(table[column]) if is_real(name)]
    if not names:
        raise InputError("the run has no real data")
    sizes = table.attrs.get("sizes", {})
    units = next((f"{key.lower()}: {sizes[key]}" for key in UNITS if key in sizes), "")
    found = {
        name: test(name, len(names)).on(f"{name}, {units}" if units else name) for name in names
    }
    return overall(found, PAPER, **options)


def is_real(name: str) -> bool:
    """Whether a row is of a data set, and not of a simulation or a formula."""
    return not name.startswith("simulated")


def on_simulation(outcome: Outcome) -> Outcome:
    """What a simulation says of a sentence about real data: it is told and decides nothing."""
    return overall({"simulation": outcome}, PAPER, simulated=("simulation",))
