"""Where a number stands on an axis, in percent of its width."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

_STEPS = (1, 2, 2.5, 5, 10)
_MOST_TICKS = 4


@dataclass(frozen=True)
class Scale:
    """An axis from ``low`` to ``high``, logarithmic or not; positions are cut to 0 and 100."""

    low: float
    high: float
    logarithmic: bool

    def at(self, value: float) -> float:
        """The position of a value, in percent, between 0 and 100."""
        return min(max(self._share(value), 0.0), 1.0) * 100

    def holds(self, value: float) -> bool:
        """Whether a value lies on the axis."""
        return not self.side(value)

    def side(self, value: float) -> str:
        """``"left"`` or ``"right"`` where a value lies off the axis, else nothing."""
        share = self._share(value)
        return "left" if share < -1e-9 else "right" if share > 1 + 1e-9 else ""

    def ticks(self) -> list[tuple[float, str]]:
        """Round values on the axis with their labels, few enough to stand apart."""
        values = self._decades() if self.logarithmic else self._steps()
        return [(self.at(value), f"{value:g}") for value in values]

    def _share(self, value: float) -> float:
        if math.isnan(value):
            return math.inf
        if not self.logarithmic:
            return (value - self.low) / (self.high - self.low)
        if value <= 0:
            return -math.inf
        return math.log(value / self.low) / math.log(self.high / self.low)

    def _steps(self) -> list[float]:
        rough = (self.high - self.low) / _MOST_TICKS
        power = 10 ** math.floor(math.log10(rough))
        step = next(step * power for step in _STEPS if step * power >= rough * (1 - 1e-9))
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [round(i * step, 12) for i in range(first, last + 1)]

    def _decades(self) -> list[float]:
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        for digits in ((1, 2, 5), (1, 3), (1,)):
            ticks = [d * 10.0**p for p in powers for d in digits if self.holds(d * 10.0**p)]
            if len(ticks) <= _MOST_TICKS:
                return ticks
        return ticks[:: math.ceil(len(ticks) / _MOST_TICKS)]


def fitted(points: Iterable[float], ends: Iterable[float], *, logarithmic: bool) -> Scale:
    """An axis for points and the ends of their intervals.

    Every point lies on it, and an end that lies further out than half the points' range does not:
    one wide interval would press all points together.
    """
    scaled = _finite(points, logarithmic)
    if not scaled:
        return Scale(0.1, 100.0, True) if logarithmic else Scale(0.0, 1.0, False)
    least, most = min(scaled), max(scaled)
    room = max(0.5 * (most - least), 0.3 if logarithmic else 1e-3 * max(1e-6, abs(most)))
    near = [end for end in _finite(ends, logarithmic) if least - room <= end <= most + room]
    low, high = min([least, *near]), max([most, *near])
    pad = 0.06 * (high - low) or room
    low, high = low - pad, high + pad
    return Scale(10**low, 10**high, True) if logarithmic else Scale(low, high, False)


def _finite(values: Iterable[float], logarithmic: bool) -> list[float]:
    kept = [value for value in values if math.isfinite(value) and (value > 0 or not logarithmic)]
    return [math.log10(value) for value in kept] if logarithmic else kept
