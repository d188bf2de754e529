"""How a regenerated number is judged by the published one, and how often that rule errs."""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from membership.errors import InputError

WORDS = ("agrees", "compatible", "differs")
"""Of comparable numbers."""
SECONDS = "seconds of another machine"
"""Of a printed time, whatever a run says: the rule compares no seconds of two machines."""

# Printed numbers are decimals: |51.0 - 50.9| must not exceed 0.1 by a rounding of doubles.
_SLACK = 1e-9


@dataclass(frozen=True)
class Verdict:
    """A word, and regenerated less published with its 95% interval."""

    word: str
    difference: float
    low: float
    high: float


def verdict(
    value: float,
    standard_error: float,
    degrees_of_freedom: float,
    published: float,
    *,
    margin: float,
    spread: float | None = None,
    n_models: int | None = None,
    decimals: int | None = None,
) -> Verdict:
    """Judge one regenerated number by the interval of its difference from the published one.

    The variance of the difference is ours, the published number's (its spread over its models),
    and that of its rounding; degrees of freedom by Welch and Satterthwaite. The 95% interval of
    the difference lies within the margin: *agrees*; excludes 0: *differs*; else *compatible*.
    The ends of interval and margin are included.

    Parameters
    ----------
    value, standard_error : float
        The regenerated number and the standard error of that mean; 0 where it is exact.
    degrees_of_freedom : float
        Of the standard error, above 0; ``inf`` where it is known.
    published : float
        What the paper prints, in the same unit.
    margin : float
        A difference that makes no difference, at least 0, in the same unit.
    spread, n_models : float and int, optional
        The sample standard deviation that the paper prints, and over how many models (at least
        2). Without them the published number counts as exact; see `imputed` where it is not.
    decimals : int, optional
        Digits after the point in the published column; -1 where it is rounded to tens.

    Returns
    -------
    Verdict
        ``word``, ``difference``, ``low``, ``high``; the interval is never cut.

    Raises
    ------
    InputError
        A number is not finite or below its range, or only one of spread and n_models is given.
    """
    _check_numbers(value, standard_error, degrees_of_freedom, published, margin, decimals)
    _check_published_error(spread, n_models)
    difference, variance, degrees = moments(
        value, standard_error, degrees_of_freedom, published, spread, n_models, decimals
    )
    half = half_width(variance, degrees)
    low, high = difference - half, difference + half
    slack = _SLACK * max(1.0, abs(published))
    return Verdict(str(words(low, high, margin, slack)), difference, float(low), float(high))


def imputed(
    standard_error: float, n_units: float, paper_repeats: float = 1, ratio: float = 1.0
) -> float:
    """The standard error to judge by where the paper prints no spread.

    The published mean is taken to vary as ours does, over the paper's own number of repeats:
    se * sqrt(1 + ratio^2 n/m). Pass it to `verdict` with n - 1 degrees and no spread.

    Parameters
    ----------
    standard_error, n_units : float
        Ours, and over how many independent units.
    paper_repeats : float
        m, 1 where the paper does not say.
    ratio : float
        The paper's spread over ours, where another metric of the same row shows that it is
        greater than 1.
    """
    return standard_error * math.sqrt(1 + ratio**2 * n_units / paper_repeats)


def moments(value, error, degrees, published, spread=None, n_models=None, decimals=None) -> tuple:
    """The difference, its variance, and Welch's degrees of freedom; numbers or arrays."""
    own_variance = np.square(error)
    paper_variance = 0.0 if spread is None else np.square(spread) / n_models
    rounding = 0.0 if decimals is None else (0.5 * 10.0 ** (-decimals)) ** 2 / 3
    variance = own_variance + paper_variance + rounding
    terms = np.square(own_variance) / degrees
    if spread is not None:
        terms = terms + np.square(paper_variance) / (n_models - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        welch = np.where(terms > 0, np.square(variance) / terms, np.inf)
    return value - published, variance, welch


def half_width(variance: Any, degrees: Any) -> Any:
    """Half of the 95% interval; numbers or arrays."""
    return stats.t.ppf(0.975, degrees) * np.sqrt(variance)


def words(low: Any, high: Any, margin: Any, slack: Any = _SLACK) -> np.ndarray:
    """The rule itself, for numbers or arrays of interval ends."""
    within = (low >= -margin - slack) & (high <= margin + slack)
    apart = (low > slack) | (high < -slack)
    return np.where(within, "agrees", np.where(apart, "differs", "compatible"))


def p_value(difference: float, variance: float, degrees: float) -> float:
    """Two-sided, of no difference."""
    if variance == 0:
        return 1.0 if abs(difference) <= _SLACK else 0.0
    return float(2 * stats.t.sf(abs(difference) / math.sqrt(variance), degrees))


def _check_numbers(value, standard_error, degrees, published, margin, decimals) -> None:
    numbers = {
        "value": value,
        "standard_error": standard_error,
        "published": published,
        "margin": margin,
        "decimals": 0 if decimals is None else decimals,
    }
    for name, number in numbers.items():
        if not math.isfinite(number):
            raise InputError(f"{name} = {number}: a verdict needs finite numbers")
    for name in ("standard_error", "margin"):
        if numbers[name] < 0:
            raise InputError(f"{name} = {numbers[name]}: give a number of at least 0")
    if not degrees > 0:
        raise InputError(f"degrees_of_freedom = {degrees}: give a number above 0, or inf")


def _check_published_error(spread: float | None, n_models: int | None) -> None:
    if (spread is None) != (n_models is None):
        raise InputError(f"spread = {spread}, n_models = {n_models}: give both or neither")
    if spread is None:
        return
    if not (math.isfinite(spread) and spread >= 0):
        raise InputError(f"spread = {spread}: give a finite number of at least 0")
    if not (math.isfinite(n_models) and n_models >= 2):
        raise InputError(f"n_models = {n_models}: a spread needs at least 2")


REPEATS = 20_000
MARGIN = 0.01
"""Of an AUC, the metric that most published numbers are."""


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
    repeats: int = REPEATS,
    seed: int = 0,
) -> dict[str, float]:
    """The share of each verdict when a whole experiment is repeated many times."""
    rng = np.random.default_rng([seed, *design[:2], *(round(1e6 * sd) for sd in design[2:])])
    n, m = design.n, design.m
    value = rng.normal(shift * MARGIN, design.sd / math.sqrt(n), repeats)
    published = rng.normal(0.0, design.sd_paper / math.sqrt(m), repeats)
    own = design.sd * np.sqrt(rng.chisquare(n - 1, repeats) / (n - 1) / n)
    known: dict = {}
    if error == "printed":
        spread = design.sd_paper * np.sqrt(rng.chisquare(m - 1, repeats) / (m - 1))
        known = {"spread": spread, "n_models": m}
    elif error == "imputed":
        own = own * imputed(1.0, n, m)
    difference, variance, degrees = moments(value, own, n - 1, published, **known)
    half = half_width(variance, degrees)
    outcome = words(difference - half, difference + half, MARGIN)
    return {word: float(np.mean(outcome == word)) for word in WORDS}


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
                shares(design, margins, error, repeats=repeats) for margins in (0, 1, 3)
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
