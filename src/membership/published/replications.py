"""How often the rule of verdicts errs, from simulated replications."""

import math
from typing import NamedTuple

import numpy as np
import pandas as pd

from membership.published import verdicts

REPEATS = 20_000
MARGIN = 0.01
"""Of an AUC, the metric that most published numbers are."""
SHIFTS = {"exact replication": 0, "shifted by one margin": 1, "shifted by three margins": 3}


class Design(NamedTuple):
    """Independent units and their standard deviation, ours and the paper's."""

    n: int
    m: int
    sd: float
    sd_paper: float


DESIGNS = (
    Design(10, 10, 0.005, 0.005),
    Design(5, 10, 0.005, 0.005),
    Design(10, 10, 0.010, 0.010),
    Design(5, 10, 0.010, 0.010),
    Design(10, 10, 0.007, 0.018),
    Design(20, 1, 0.005, 0.005),
    Design(20, 1, 0.010, 0.010),
)


def shares(
    design: Design,
    shift: float,
    error: str,
    *,
    margin: float = MARGIN,
    repeats: int = REPEATS,
    seed: int = 0,
) -> dict[str, float]:
    """The share of each verdict when a whole experiment is repeated many times."""
    rng = np.random.default_rng([seed, *design[:2], *(round(1e6 * sd) for sd in design[2:])])
    n, m = design.n, design.m
    value = rng.normal(shift * margin, design.sd / math.sqrt(n), repeats)
    published = rng.normal(0.0, design.sd_paper / math.sqrt(m), repeats)
    own = design.sd * np.sqrt(rng.chisquare(n - 1, repeats) / (n - 1) / n)
    known: dict = {}
    if error == "printed":
        spread = design.sd_paper * np.sqrt(rng.chisquare(m - 1, repeats) / (m - 1))
        known = {"spread": spread, "n_models": m}
    elif error == "imputed":
        own = own * verdicts.imputed(1.0, n, m)
    difference, variance, degrees = verdicts.moments(value, own, n - 1, published, **known)
    half = verdicts.half_width(variance, degrees)
    outcome = verdicts.words(difference - half, difference + half, margin)
    return {word: float(np.mean(outcome == word)) for word in verdicts.WORDS[:3]}


def error_rates(repeats: int = REPEATS) -> pd.DataFrame:
    """The rule's error rates for an AUC, design by design.

    Returns
    -------
    pandas.DataFrame
        Columns n, m, sd, sd_paper, error ("printed" or "imputed"), then the shares "agrees" and
        "false differs" of exact replications, "false agrees" under a shift of one margin (within
        which a number may agree; on its edge 2.5% do), and "differs" under a shift of three.
    """
    rows = []
    for design in DESIGNS:
        for error in ("printed", "imputed"):
            if error == "printed" and design.m < 2:
                continue
            exact, at_one, at_three = (
                shares(design, shift, error, repeats=repeats) for shift in SHIFTS.values()
            )
            rows.append(
                {
                    **design._asdict(),
                    "error": error,
                    "agrees": exact["agrees"],
                    "false differs": exact["differs"],
                    "false agrees": at_one["agrees"],
                    "differs": at_three["differs"],
                }
            )
    return pd.DataFrame(rows)
