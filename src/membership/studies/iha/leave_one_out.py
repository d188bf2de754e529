"""What models with one record more or less tell: Section 4.4 (iha-ctl-8) and Table 5.

Then the clean game on a few records (iha-ctl-5), and which of them give themselves away
(iha-ctl-10); the clean game at scale has the rules.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from membership import attacks, metrics, published
from membership.arrays import BoolArray, FloatArray
from membership.data.public import DIGITS
from membership.exhibits import Source
from membership.exhibits.rows import of_each
from membership.exhibits.tidy import tidy
from membership.metrics.rate_names import tpr_column
from membership.published import Contrast
from membership.studies.iha.clean_game import COUNTED, METRICS, WHITE, Compared
from membership.studies.iha.left_out import Experiment, experiments, origin_of, small_task
from membership.studies.iha.scores import KEYS, NORM, PAIRED, Scores, called, columns
from membership.studies.iha.settings import Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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


# What the page's table leaves out: other tables have it.
ELSEWHERE = ("LiRA-L, two-sided", "residual cosine")
CONTRASTS = (
    ("IHA", "LOSS", 0),
    ("IHA", "LOSS", 1),
    ("IHA*", "IHA", 0),
    ("IHA", "IHA, identity", 0),
    ("LiRA-L, online", "IHA", 0),
    ("LiRA-L, online", "IHA", 1),
)


def play(retrained: Sequence[Experiment], settings: Settings) -> pd.DataFrame:
    """iha-ctl-5: every attack in the clean game, and the norm that a per-model curve rewards.

    Half of the models retrained on D' and on D' + z are played for; the other half are the
    references of the attacks that need some. After the attacks, their paired differences.
    """
    rows = []
    for experiment in retrained:
        scores, trained_on = scored(experiment)
        numbers = {name: redrawn(s, trained_on, settings.seed) for name, s in scores.items()}
        key, count = {"dataset": experiment.label}, len(experiment.outside)
        for name in [name for name in scores if name not in ELSEWHERE]:
            rows += _rows(key | {"attack": name}, numbers[name], count)
        for first, second, place in CONTRASTS:
            name = f"{first} less {second}, {COUNTED[place]}"
            contrast = _less(numbers[first], numbers[second], name, place, count)
            key |= {"attack": name, "metric": PAIRED}
            ends = {"low": contrast.low, "high": contrast.high, "n_repeats": contrast.units}
            rows.append({**key, "value": contrast.difference, **ends})
    return tidy(rows, origin_of(retrained))


def scored(experiment: Experiment) -> tuple[dict[str, FloatArray], BoolArray]:
    """Scores of every played model for its record."""
    half = experiment.groups["with"].shape[1] // 2
    out = experiment.groups["targets"][:half]
    parts = [
        _by_losses(experiment, z, out, experiment.groups["with"][r], half)
        for r, z in enumerate(experiment.outside)
    ]
    scores = {name: np.stack([part[name] for part in parts]) for name in parts[0]}
    trained_on = np.repeat([False, True], [half, half])
    return {**scores, **_by_parameters(experiment, out, half)}, trained_on


def _by_losses(
    experiment: Experiment, z: int, out: np.ndarray, retrained: np.ndarray, half: int
) -> Scores:
    """Attacks on outputs: for each played model the score of the one record z."""
    played = np.concatenate([out, retrained[half : 2 * half]])
    references = [experiment.groups["references"], retrained[:half]]
    seen = np.repeat([False, True], [len(group) for group in references])
    phi, loss = experiment.scaled[:, z], experiment.loss[:, z]
    of_target, count = phi[played], len(played)

    def repeated(rows: np.ndarray, signal: FloatArray) -> FloatArray:
        return np.repeat(signal[rows][:, None], count, axis=1)

    outside = repeated(references[0], phi)
    all_references = repeated(np.concatenate(references), phi)
    member = np.repeat(seen[:, None], count, axis=1)
    return {
        "LOSS": attacks.malt(loss[played]),
        "L-attack": attacks.attack_r(loss[played], repeated(references[0], loss)),
        "LiRA-L, one-sided": attacks.lira(of_target, outside, mode="offline"),
        "LiRA-L, two-sided": attacks.lira(of_target, outside, mode="offline", sided="two"),
        "LiRA-L, online": attacks.lira(of_target, all_references, member),
    }


def _by_parameters(experiment: Experiment, out: np.ndarray, half: int) -> Scores:
    """Attacks on parameters, shape (R, models) each."""
    retrained = experiment.groups["with"][:, half : 2 * half]
    # A model trained on D' is asked about every z, one trained on D' + z about that one.
    nobody = np.zeros(len(experiment.outside), bool)
    shared = [experiment.white_box(model, experiment.outside, nobody) for model in out]
    own = [
        [experiment.white_box(model, experiment.outside[[r]], nobody[[r]]) for model in models]
        for r, models in enumerate(retrained)
    ]
    return {
        name: np.concatenate(
            [
                np.stack([part[name] for part in shared], axis=1),
                np.array([[part[name][0] for part in parts] for parts in own]),
            ],
            axis=1,
        )
        for name in (*WHITE, NORM)
    }


def record_by_record(score: FloatArray, trained_on: BoolArray) -> FloatArray:
    """The AUC of one attack among the models of each record."""
    compared = Compared(score[:, ~trained_on], score[:, trained_on])
    return compared.same.mean(axis=(1, 2))


def redrawn(score: FloatArray, trained_on: BoolArray, seed: int) -> FloatArray:
    """Numbers of one attack by `METRICS`: as they are, then under draws of records and models.

    Every attack sees the same draws.
    """
    compared = Compared(score[:, ~trained_on], score[:, trained_on])
    weights = [compared.ones, *compared.redrawn(seed)]
    return np.stack([compared.numbers(*each) for each in weights])


def _less(first: FloatArray, second: FloatArray, label: str, place: int, count: int) -> Contrast:
    """One attack less another by one of `METRICS`, redrawn alike; the records are the units."""
    value, *draws = (first - second)[:, place]
    return Contrast(label, float(value), float(np.std(draws, ddof=1)), count - 1.0, count)


def _rows(key: dict[str, str], numbers: FloatArray, count: int) -> list[dict[str, Any]]:
    """Rows of one attack: pooled over the records, and record by record."""
    low, high = np.quantile(numbers[1:], [0.025, 0.975], axis=0)
    return [
        {**key, "metric": metric, "value": v, "low": a, "high": b, "n_repeats": count}
        for metric, v, a, b in zip(METRICS, numbers[0], low, high, strict=True)
    ]


ATTACKS = ("LOSS", "LiRA-L, online", "SIF", "IHA", "residual norm")
MOST, MOST_NARROW = 10, 5
"""Records that the picture shows of each attack, and that of a phone."""


def control_10(retrained: Sequence[Experiment], settings: Settings) -> pd.DataFrame:
    """iha-ctl-10: the records in the order in which each attack tells them, best first.

    The value is the AUC of an attack among the models of one record.
    """
    rows = []
    for experiment in retrained:
        scores, trained_on = scored(experiment)
        pictures = _pictures(experiment, settings)
        for attack in ATTACKS:
            values = record_by_record(scores[attack], trained_on)
            # Ties in the order of the records, so that the same run has the same order.
            for place, i in enumerate(np.argsort(-values, kind="stable").tolist()):
                picture = pictures[i]
                cell = {"row": attack, "column": place + 1, "text": f"{values[i]:.2f}"}
                key = {"dataset": experiment.label, "attack": attack}
                key |= {"record": experiment.outputs.attrs["outside"][i]}
                rows.append({**key, "value": values[i], **cell, **picture})
    return tidy(rows, origin_of(retrained))


def _pictures(experiment: Experiment, settings: Settings) -> list[dict[str, str]]:
    """Label and picture of every record played for; empty but for the data set that is embedded.

    Evidence holds no pictures, and the exhibit is computed from it where no data are.
    """
    outside = experiment.outputs.attrs["outside"]
    if DIGITS in experiment.outputs.attrs["data"]:
        task = small_task(DIGITS, settings)
        if task.origin == experiment.outputs.attrs["data"]:
            return [_picture(task.pool.x[row], int(task.pool.y[row])) for row in outside]
    return [{"label": "", "shape": "", "pixels": ""} for _ in outside]


def _picture(x: np.ndarray, y: int) -> dict[str, str]:
    levels = np.rint(255 * x).astype(np.uint8)
    pixels = " ".join(map(str, levels.ravel()))
    return {"label": f"digit {y}", "shape": "x".join(map(str, levels.shape)), "pixels": pixels}


def most_exposed(table: pd.DataFrame) -> "Figure":
    """The records that each attack tells best, side by side."""
    from membership import plots
    from membership.plots.look import is_narrow

    return plots.image_grid(table[table["column"] <= (MOST_NARROW if is_narrow() else MOST)])


def one_by_one(table: pd.DataFrame) -> pd.DataFrame:
    """One row a record with the AUC of every attack, for those who look at them one by one."""
    key = ["dataset", "record", "label", "shape", "pixels"]
    cells = table.assign(**{name: table[name].fillna("") for name in key[2:]})
    wide = cells.pivot(index=key, columns="attack", values="value")[list(table["attack"].unique())]
    flat = wide.reset_index().rename_axis(columns=None).rename(columns={"dataset": "group"})
    label = flat["label"] + ", record " + flat["record"].astype(str)
    return flat.assign(label=label).drop(columns="record")
