"""What models with one record more or less tell: Section 4.4 (iha-ctl-8) and Table 5."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from membership import attacks, metrics
from membership.arrays import BoolArray, FloatArray
from membership.book import published
from membership.book.exhibits import Source
from membership.book.exhibits.rows import of_each
from membership.book.exhibits.sentences import joined
from membership.book.exhibits.tidy import tidy
from membership.book.studies.iha.left_out import Experiment, experiments, origin_of
from membership.book.studies.iha.scores import KEYS, PAIRED, columns, signs
from membership.book.studies.iha.settings import Settings
from membership.metrics.rate_names import tpr_column
from membership.metrics.roc import flagged

RATES = (0.05, 0.3)
# The attacks in the order of the table.
PROTOCOL = (
    *("LOSS", "L-attack", "LiRA", "LiRA-L, one-sided", "LiRA-L, two-sided"),
    *("IHA", "IHA*", "residual norm"),
)
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
LEADS = (
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
        _by_outputs(experiment, target, queries, references)
        | experiment.white_box(target, queries, member)
        for target in targets
    ]
    scores = {name: np.stack([part[name] for part in parts]) for name in PROTOCOL}
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
        rows += [_paired(game, first, second) for first, second in LEADS]
    return tidy(rows, origin_of([game.experiment for game in played]))


def _paired(game: Protocol, first: str, second: str) -> dict[str, Any]:
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


def control_8_said(table: pd.DataFrame) -> str:
    """The L-attack beside IHA, and the residual norm beside the L-attack."""
    return leads(table, "L-attack less IHA", "residual norm less")


def leads(table: pd.DataFrame, *names: str) -> str:
    """The signs of some of a table's paired differences, by the beginning of their names."""
    rows = table[table["metric"] == PAIRED]
    kept = [name for name in rows["attack"].unique() if name.startswith(names)]
    parts = [f"{name}: {signs(rows[rows['attack'] == name])}" for name in kept]
    return f"Paired in AUC, {'; '.join(parts)}."


def table_5(played: list[Protocol]) -> pd.DataFrame:
    """How often two attacks agree on members, and on non-members (Tables 5a and 5b)."""
    rows = []
    for game in played:
        truth = np.tile(game.member, (len(next(iter(game.scores.values()))), 1))
        for rate in RATES:
            calls = {
                name: np.stack([flagged(s, game.member, rate) for s in game.scores[attack]])
                for name, attack in TABLE_5.items()
            }
            calls["GT"] = truth
            rows += _agreements(game.experiment.label, calls, game.member, rate)
    return tidy(rows, origin_of([game.experiment for game in played]))


def table_5_judged(table: pd.DataFrame) -> pd.DataFrame:
    """Table 5 beside the published one."""
    return _beside(table, [published.reference(f"iha_table5{part}") for part in "ab"])


def table_5_said(table: pd.DataFrame) -> str:
    """The pairs that agree most on members."""
    pairs = table[table["metric"] == "agreement on members @FPR 0.3"]
    pairs = pairs[~pairs["attack"].str.contains("GT")]
    most = pairs.loc[pairs.groupby("dataset", sort=False)["value"].idxmax()]
    parts = [
        f"{attacks} on {joined(part['dataset'].tolist())}"
        for attacks, part in most.groupby("attack", sort=False)
    ]
    return f"At 30% false positives these agree most on members: {joined(parts)}."


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


def _by_outputs(
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
