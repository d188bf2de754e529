"""The numbers that a claim is about: a difference with its own standard error."""

from dataclasses import dataclass, replace
from math import ceil, inf, isfinite, sqrt
from typing import Any, Self

import numpy as np
from scipy import stats

from membership.arrays import as_float64
from membership.errors import InputError

# 80% power at a two-sided level of 5%: 1.96 + 0.84.
POWER = 2.8


@dataclass(frozen=True)
class Claimed:
    """What a claim's rule asks of a contrast.

    Attributes
    ----------
    kind : {"above", "below", "within", "at most"}
        On one side of the number, within plus or minus it, or, of a residual, not beyond it.
    number : float
        In the unit of the contrast.
    """

    kind: str
    number: float

    def __str__(self) -> str:
        """Such as "> 0.01"."""
        return f"{_SIGNS[self.kind]}{self.number:g}"


_SIGNS = {"above": "> ", "below": "< ", "within": "within ±", "at most": "at most "}


@dataclass(frozen=True)
class Contrast:
    """One number that a claim's rule looks at, and how far it may be off.

    Attributes
    ----------
    label : str
        What it is, with its data: "AUC of IHA less LiRA, MNIST-Odd".
    difference : float
        The number, in the unit of its metric.
    standard_error : float
        0 where it is exact.
    degrees_of_freedom : float
        Of Student's t, above 0; infinity is allowed.
    units : int, optional
        Independent units that it is a mean over; None where there are none to add.
    claimed : Claimed, optional
        What the claim's rule asks of it; entered by the rule.
    is_limit : bool
        Whether the number is itself the end of an interval, and so without one of its own.

    Raises
    ------
    InputError
        A number is not finite, or the error is negative, or the degrees are not positive.
    """

    label: str
    difference: float
    standard_error: float = 0.0
    degrees_of_freedom: float = inf
    units: int | None = None
    claimed: Claimed | None = None
    is_limit: bool = False

    def __post_init__(self) -> None:
        if not (isfinite(self.difference) and 0 <= self.standard_error < inf):
            raise InputError(
                f"{self.label}: difference {self.difference} with standard error "
                f"{self.standard_error}; a contrast needs finite numbers, the error 0 or more"
            )
        if not self.degrees_of_freedom > 0:
            raise InputError(f"{self.label}: {self.degrees_of_freedom} degrees; give more than 0")

    @classmethod
    def of(cls, estimate: Any, label: str) -> Self:
        """From a `metrics.PairedInterval`, a `CrossedInterval`, or a row of a tidy table."""

        def read(*names: str) -> Any:
            return next(
                (getattr(estimate, name) for name in names if hasattr(estimate, name)), None
            )

        degrees = read("degrees_of_freedom")
        units = read("units", "n_repeats")
        return cls(
            label,
            float(read("difference", "value")),
            float(read("standard_error")),
            inf if degrees is None else float(degrees),
            None if units is None or units != units else int(units),
        )

    @classmethod
    def of_units(cls, values: Any, label: str) -> Self:
        """The mean of one number a unit: the units are independent, two or more of them."""
        values = as_float64("values", values, 1)
        if values.size < 2:
            raise InputError(f"{label}: one unit; a contrast over units needs at least two")
        return cls(label, values.mean(), stats.sem(values), values.size - 1.0, values.size)

    @property
    def low(self) -> float:
        """Lower end of the 95% interval."""
        return self.interval()[0]

    @property
    def high(self) -> float:
        """Upper end of the 95% interval."""
        return self.interval()[1]

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Student's t interval at a confidence in (0, 1)."""
        half = float(stats.t.ppf((1 + level) / 2, self.degrees_of_freedom)) * self.standard_error
        return self.difference - half, self.difference + half

    def less(self, other: "Contrast", label: str = "") -> "Contrast":
        """The difference of two that share nothing, by Welch and Satterthwaite."""
        first, second = self.standard_error**2, other.standard_error**2
        variance = first + second
        spent = first**2 / self.degrees_of_freedom + second**2 / other.degrees_of_freedom
        return Contrast(
            label or f"{self.label} less {other.label}",
            self.difference - other.difference,
            sqrt(variance),
            variance**2 / spent if spent > 0 else inf,
            min((n for n in (self.units, other.units) if n is not None), default=None),
        )

    def minus(self, constant: float, label: str = "") -> Self:
        """The same less an exact number."""
        return replace(self, label=label or self.label, difference=self.difference - constant)

    def scaled(self, factor: float, label: str = "") -> "Contrast":
        """The same in another unit, or turned round."""
        return Contrast(
            label or self.label,
            factor * self.difference,
            abs(factor) * self.standard_error,
            self.degrees_of_freedom,
            self.units,
            self.claimed,
        )

    def units_needed(self, distance: float) -> int | None:
        """Units like these that would show a number so far from its threshold, four times in five.

        (2.8 sd / distance)^2, sd the standard deviation of one unit; None where no units are known
        or the distance is 0.
        """
        if self.units is None or not distance > 0:
            return None
        deviation = self.standard_error * sqrt(self.units)
        return max(2, ceil((POWER * deviation / distance) ** 2))

    def __str__(self) -> str:
        """Such as "AUC, IHA less LiRA: +0.012 [+0.003, +0.021], claimed > 0"."""
        low, high = self.interval()
        ends = f" [{low:+.4g}, {high:+.4g}]" if low < high else ""
        claimed = f", claimed {self.claimed}" if self.claimed else ""
        # A zero has no sign.
        value = f"{self.difference:+.4g}" if self.difference else "0"
        return f"{self.label}: {value}{ends}{claimed}"


@dataclass(frozen=True)
class Dependent(Contrast):
    """A number of targets that others are numbers of, too: of a sum the standard errors are added.

    That is at least the error of the sum, however the numbers are paired.
    """

    def less(self, other: Contrast, label: str = "") -> "Dependent":
        """The difference of two numbers of the same targets."""
        return Dependent(
            label or f"{self.label} less {other.label}",
            self.difference - other.difference,
            self.standard_error + other.standard_error,
            min(self.degrees_of_freedom, other.degrees_of_freedom),
            min((n for n in (self.units, other.units) if n is not None), default=None),
        )

    def scaled(self, factor: float, label: str = "") -> "Dependent":
        """The same in another unit, or turned round."""
        error = abs(factor) * self.standard_error
        return replace(
            self,
            label=label or self.label,
            difference=factor * self.difference,
            standard_error=error,
        )


@dataclass(frozen=True)
class Share(Contrast):
    """A share of independent trials, with exact limits (Clopper and Pearson).

    Made by `Share.count`; ``offset`` has been subtracted from the share.
    """

    successes: int = 0
    offset: float = 0.0

    @classmethod
    def count(cls, successes: int, trials: int, label: str, offset: float = 0.0) -> Self:
        """`successes` of `trials`, less `offset` (one half, say, for "most").

        Raises
        ------
        InputError
            Not 0 <= successes <= trials, or no trials.
        """
        if not 0 <= successes <= trials or trials < 1:
            raise InputError(f"{label}: {successes} of {trials} trials; give 0 to {trials} of 1 up")
        share = successes / trials
        error = sqrt(share * (1 - share) / trials)
        return cls(
            label,
            *(share - offset, error, inf, int(trials)),
            successes=int(successes),
            offset=offset,
        )

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Exact limits at a confidence in (0, 1)."""
        limits = stats.binomtest(self.successes, self.units).proportion_ci(level, method="exact")
        return limits.low - self.offset, limits.high - self.offset

    def minus(self, constant: float, label: str = "") -> Self:
        """The same less an exact number."""
        return self.count(self.successes, self.units, label or self.label, self.offset + constant)


@dataclass(frozen=True)
class Correlation(Contrast):
    """A correlation over independent records, with Fisher's interval.

    Made by `Correlation.over`; ``offset`` has been subtracted from it.
    """

    offset: float = 0.0

    @classmethod
    def over(cls, value: float, records: int, label: str) -> Self:
        """`value` over more than three records."""
        return cls(label, value, (1 - value**2) / sqrt(records - 3), units=records)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Fisher's limits at a confidence in (0, 1)."""
        half = stats.norm.ppf((1 + level) / 2) / sqrt(self.units - 3)
        middle = np.arctanh(np.clip(self.difference + self.offset, -1 + 1e-12, 1 - 1e-12))
        low, high = (float(np.tanh(middle + sign * half)) for sign in (-1, 1))
        return low - self.offset, high - self.offset

    def minus(self, constant: float, label: str = "") -> Self:
        """The same less an exact number."""
        return replace(super().minus(constant, label), offset=self.offset + constant)
