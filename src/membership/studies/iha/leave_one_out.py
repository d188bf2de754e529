"""Leave-one-out reference models: Section 4.4 (iha-ctl-8) and Table 5, by the paper's protocol."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from membership import attacks, metrics, published, signals
from membership.arrays import BoolArray, FloatArray
from membership.exhibits import Source
from membership.exhibits.rows import of_each
from membership.exhibits.tidy import origin, tidy
from membership.metrics.rate_names import tpr_column
from membership.studies.iha import subjects
from membership.studies.iha.scores import (
    KEYS,
    PAIRED,
    Forms,
    by_inverse,
    called,
    columns,
    white_box,
)
from membership.studies.iha.settings import Settings


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
        """Which models are which: see `left_out.LeaveOneOut`."""
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

    def white_box(self, model: int, rows: np.ndarray) -> tuple[dict[str, Forms], FloatArray]:
        """The forms of a model by inverse for some of the records asked, and its norms."""
        place = int(np.flatnonzero(self.forms["target"].values == model)[0])
        return by_inverse(self.forms, place, rows), self.forms["norm"].values[place]

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


def experiments(source: Source) -> list[Experiment]:
    """Every experiment of a run; `source` has the evidence named in `subjects.LEFT_OUT`."""
    return [
        Experiment(*(source.evidence(f"{kind}-{subject.slug}") for kind in subjects.LEFT_OUT))
        for subject in subjects.left_out(source.settings)
    ]


def origin_of(retrained: Sequence[Experiment]) -> dict[str, Any]:
    """What a table made from these experiments says about its origin."""
    sizes = {experiment.label: experiment.size.partition(": ")[2] for experiment in retrained}
    attributes = {"deviations": [experiment.size for experiment in retrained], "sizes": sizes}
    return {**origin(experiment.outputs for experiment in retrained), **attributes}


RATES = (0.05, 0.3)
TABLE_5 = {"LiRA": "LiRA", "L": "L-attack", "LiRA-L": "LiRA-L, one-sided", "IHA": "IHA"}
SECTION_4_4 = {
    "IHA": "IHA",
    "L-attack": "L-attack",
    "LiRA": "LiRA",
    "LiRA-L, two-sided": "LiRA-L (offline, LOO refs)",
    "LiRA-L, one-sided": "LiRA-L (offline, LOO refs)",
}
TPR_30 = tpr_column(0.3, "")
RESAMPLES = 200
CONTRASTS = (
    ("L-attack", "IHA"),
    ("residual norm", "L-attack"),
    ("L-attack", "LiRA-L, one-sided"),
)
_SHARE = {"lowest": 0.0, "highest": 1.0}


@dataclass(frozen=True)
class Protocol:
    """Scores of several targets trained on D, asked about records left out and records outside.

    Attributes
    ----------
    experiment : Experiment
    scores : dict of str to ndarray of shape (targets, queries)
    member : ndarray of bool, shape (queries,)
    """

    experiment: Experiment
    scores: dict[str, FloatArray]
    member: BoolArray


def protocol(experiment: Experiment, settings: Settings) -> Protocol:
    """Every attack of Section 4.4 on models trained on D.

    The references of a member were trained without it; those of a non-member are models
    retrained on D. IHA is asked as in the paper: by records of one model at a time.
    """
    targets = experiment.groups["targets"][: settings.n_targets]
    inside, queries = experiment.inside, np.arange(experiment.scaled.shape[1])
    outside = queries[len(inside) :]
    member = queries < len(inside)
    references = np.stack(
        [
            *experiment.groups["without"],
            *(experiment.groups["references"] for _ in outside),
        ],
        axis=1,
    )
    parts = [
        _black(experiment, target, queries, references)
        | _white(experiment, target, queries, member)
        for target in targets
    ]
    scores = {name: np.stack([part[name] for part in parts]) for name in parts[0]}
    return Protocol(experiment, scores, member)


def protocols(source: Source) -> list[Protocol]:
    """That of every experiment of a run."""
    return [protocol(experiment, source.settings) for experiment in experiments(source)]


def control_8(played: list[Protocol]) -> pd.DataFrame:
    """Attacks with leave-one-out references beside IHA (Section 4.4), then paired differences.

    The intervals of single attacks are over the targets; those of differences over the targets
    and the records, which are few.
    """
    rows = []
    for game in played:
        for name, scores in game.scores.items():
            key = {"dataset": game.experiment.label, "attack": name}
            numbers = {
                "AUC": [metrics.auc(score, game.member) for score in scores],
                TPR_30: [metrics.tpr_at_fpr(score, game.member, 0.3) for score in scores],
            }
            rows += of_each(key, "metric", numbers, **_SHARE)
        rows += [_less(game, first, second) for first, second in CONTRASTS]
    return tidy(rows, origin_of([game.experiment for game in played]))


def _less(game: Protocol, first: str, second: str) -> dict[str, Any]:
    member = np.tile(game.member, (len(game.scores[first]), 1))
    scores = game.scores[first], game.scores[second]
    interval = metrics.paired_interval("auc", *scores, member, resamples=RESAMPLES)
    key = {"dataset": game.experiment.label, "attack": f"{first} less {second}", "metric": PAIRED}
    return {**key, **columns(interval)}


def control_8_judged(table: pd.DataFrame) -> pd.DataFrame:
    """iha-ctl-8 beside the numbers of Section 4.4."""
    printed = published.reference("iha_sec4_4").set_index("attack")
    named = [printed.loc[[there]].assign(attack=here) for here, there in SECTION_4_4.items()]
    return _beside(table, named)


def table_5(played: list[Protocol]) -> pd.DataFrame:
    """How often two attacks agree on members, and on non-members (Tables 5a and 5b)."""
    rows = []
    for game in played:
        truth = np.tile(game.member, (len(next(iter(game.scores.values()))), 1))
        for rate in RATES:
            calls = {
                name: np.stack([called(s, game.member, rate) for s in game.scores[attack]])
                for name, attack in TABLE_5.items()
            }
            calls["GT"] = truth
            rows += _agreements(game.experiment.label, calls, game.member, rate)
    return tidy(rows, origin_of([game.experiment for game in played]))


def table_5_judged(table: pd.DataFrame) -> pd.DataFrame:
    """Table 5 beside the published one."""
    return _beside(table, [published.reference(f"iha_table5{part}") for part in "ab"])


def _beside(table: pd.DataFrame, printed: list[pd.DataFrame]) -> pd.DataFrame:
    """The published numbers, of another data set, beside those of each of ours."""
    copies = [
        numbers.assign(dataset=label) for label in table["dataset"].unique() for numbers in printed
    ]
    return published.compare(table, pd.concat(copies, ignore_index=True), list(KEYS))


def _agreements(label: str, calls: dict[str, BoolArray], member: BoolArray, rate: float) -> list:
    """Pairs as in the paper: above the diagonal on members, below it on non-members."""
    rows, names = [], list(calls)
    for i, first in enumerate(names):
        for j, second in enumerate(names):
            if i != j:
                side, kind = (member, "members") if i < j else (~member, "non-members")
                same = np.mean(calls[first][:, side] == calls[second][:, side], axis=1)
                key = {"dataset": label, "attack": f"{first} vs {second}"}
                metric = {"metric": f"agreement on {kind} @FPR {rate:g}"}
                rows.append({**key, **metric, **metrics.summary(same, **_SHARE)})
    return rows


def _black(
    experiment: Experiment, target: int, queries: np.ndarray, references: np.ndarray
) -> dict[str, FloatArray]:
    phi, loss = experiment.scaled[target, queries], experiment.loss[target, queries]
    of_references = experiment.scaled[references, queries]
    ordinary = experiment.groups["ordinary"]
    # Every other row is a random half of the pool, the next its complement (`experiment.halves`).
    seen = experiment.outputs["member"].values[ordinary][:, queries]
    return {
        "LOSS": attacks.malt(loss),
        "L-attack": attacks.attack_r(loss, experiment.loss[references, queries]),
        "LiRA": attacks.lira(phi, experiment.scaled[np.ix_(ordinary, queries)], seen),
        "LiRA-L, one-sided": attacks.lira(phi, of_references, mode="offline"),
        "LiRA-L, two-sided": attacks.lira(phi, of_references, mode="offline", sided="two"),
    }


def _white(
    experiment: Experiment, target: int, queries: np.ndarray, member: BoolArray
) -> dict[str, FloatArray]:
    forms, norm = experiment.white_box(target, queries)
    loss, recipe = experiment.loss[target, queries], experiment.outputs.attrs["recipe"]
    scores = white_box(forms, norm, loss, member, recipe)
    return {name: scores[name] for name in ("IHA", "IHA*", "residual norm")}
