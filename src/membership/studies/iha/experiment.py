"""The evidence of one leave-one-out experiment, as the clean game and Section 4.4 read it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import xarray as xr

from membership import signals
from membership.arrays import FloatArray
from membership.studies.iha import names, scores
from membership.studies.iha.audit import origin


@dataclass(frozen=True)
class Experiment:
    """Models retrained with one record more or less.

    Attributes
    ----------
    outputs, forms : xarray.Dataset
        The evidence called outputs-left-out and white-box-left-out.
    """

    outputs: xr.Dataset
    forms: xr.Dataset

    @property
    def label(self) -> str:
        """What tables call the data set."""
        return self.outputs.attrs["set"]

    @cached_property
    def groups(self) -> dict[str, np.ndarray]:
        """Which models are which: see `loo.LeaveOneOut`."""
        return {name: np.array(rows) for name, rows in self.outputs.attrs["groups"].items()}

    @cached_property
    def inside(self) -> np.ndarray:
        """Places of the records left out."""
        return self._places(self.outputs.attrs["inside"])

    @cached_property
    def outside(self) -> np.ndarray:
        """Places of the records added."""
        return self._places(self.outputs.attrs["outside"])

    @cached_property
    def scaled(self) -> FloatArray:
        """Log-odds of the true label, shape (models, records asked)."""
        return self.outputs["log_odds"].values.astype(float)

    @cached_property
    def loss(self) -> FloatArray:
        """The loss that was minimised, shape (models, records asked)."""
        # NaN where a model was not asked.
        with np.errstate(invalid="ignore"):
            return signals.loss_of_log_odds(self.scaled, self.outputs.attrs["recipe"]["loss"])

    def white_box(self, model: int, rows: np.ndarray) -> tuple[dict[str, scores.Forms], FloatArray]:
        """The forms of a model by inverse for some of the records asked, and its norms."""
        place = int(np.flatnonzero(self.forms["target"].values == model)[0])
        return scores.by_inverse(self.forms, place, rows), self.forms["norm"].values[place]

    @property
    def size(self) -> str:
        """The size of the experiment in words."""
        n_records, n_models = self.groups["with"].shape
        n_base = self.outputs.attrs["recipe"]["members"]
        return (
            f"{self.label}: {n_base} training records, {n_records} records left out "
            f"and {n_records} added, {n_models} models each (the paper: 25,000 records of "
            "Purchase-100(S), 500 left out, 100 models each)"
        )

    def _places(self, records: list[int]) -> np.ndarray:
        return np.searchsorted(self.outputs["record"].values, records)


def experiments(source: Any) -> list[Experiment]:
    """Every experiment of a run; `source` has the evidence named in `names.LEFT_OUT`."""
    return [
        Experiment(*(source.evidence(f"{kind}-{one.slug}") for kind in names.LEFT_OUT))
        for one in names.left_out(source.settings)
    ]


def origin_of(some: Sequence[Experiment]) -> dict[str, Any]:
    """What a table made from these experiments says about its origin."""
    found = origin([{**one.outputs.attrs, "deviations": []} for one in some])
    sizes = {one.label: one.size.partition(": ")[2] for one in some}
    return {**found, "deviations": [one.size for one in some], "sizes": sizes}
