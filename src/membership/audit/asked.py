"""What is asked of an audit: confidence, delta, seed, design and promises."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from membership.arrays import check_delta, check_level, one_of, whole
from membership.audit import design as designs
from membership.audit import named, promises

DELTA = 1e-5
"""The chance that a promise of privacy fails altogether: customary, and below one in the number of
training records for up to 100,000 of them."""


@dataclass(frozen=True)
class Asked:
    """As `membership.audit.audit` has them, in plain numbers."""

    level: float = 0.95
    delta: float = DELTA
    seed: int = 0
    design: str = designs.TRIALS
    promised: Mapping[str, float] = field(default_factory=dict)
    fdr: float = named.FDR
    tossed: str | None = None
    """How the audit itself tossed the coins of that design, where it did."""

    @classmethod
    def checked(
        cls,
        level: Any,
        delta: Any,
        seed: Any,
        design: Any,
        promised: Any = None,
        promised_mu: Any = None,
        fdr: Any = named.FDR,
    ) -> "Asked":
        """What was given, or an InputError where something is out of range."""
        whole("seed", seed, 0)
        check_level(level)
        check_delta(delta)
        one_of("design", design, designs.DESIGNS)
        levels = promises.checked(promised, promised_mu)
        return cls(float(level), float(delta), int(seed), design, levels, named.checked(fdr))

    @property
    def paid(self) -> float:
        """The confidence of each bound, so that all promises are judged at `level` together."""
        return 1 - (1 - self.level) / max(len(self.promised), 1)

    def of_first(self, attacks: int) -> "Asked":
        """The same of the first among so many attacks, paid for; its bounds stand elsewhere."""
        level, fdr = 1 - (1 - self.level) / attacks, self.fdr / attacks
        return replace(self, level=level, fdr=fdr, design=designs.TRIALS, promised={})
