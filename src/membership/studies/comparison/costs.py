"""What an attack takes: reference models, and seconds on the machine of the run."""

import numpy as np
import xarray as xr

from membership import attacks
from membership.studies.comparison.read import Seen

# Of one pair of complements.
PAIRED = ("bmia-closed", "matt")


def references(name: str, seen: Seen, count: int | None = None) -> int:
    """How many reference models an attack uses of those that there are."""
    every = len(seen.references) if count is None else count
    if "reference models" not in attacks.registry()[name].knowledge:
        return 0
    if name in PAIRED:
        return min(every, 2)
    # The mixture has the pairs whose posteriors were gathered.
    return min(every, 2 * len(seen.predicted)) if name == "bmia-mixture" else every


def seconds(name: str, seen: Seen, times: xr.Dataset, count: int | None = None) -> float:
    """End to end on one target: training and asking references, opening models, scoring.

    With fewer references the statistic is taken to cost in proportion. NaN where the run did not
    time the attack: it was entered later.
    """
    taken = dict(zip(times["part"].values.tolist(), times["seconds"].values, strict=True))
    attack, used = attacks.registry()[name], references(name, seen, count)
    share = 1.0 if count is None or not used else used / references(name, seen)
    total = taken["ask"] + used * (taken["train"] + taken["ask"])
    total += share * taken.get(f"score: {name}", np.nan)
    if name.startswith("bmia"):
        # What was timed is of a pair.
        total += used / 2 * taken["posterior"]
    total += taken["regression"] if name == "qmia" else 0.0
    total += taken["open"] if any(need.startswith("form.") for need in attack.needs) else 0.0
    return float(total)
