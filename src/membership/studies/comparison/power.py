"""What reference models buy: power against their number, and against seconds."""

import numpy as np
import pandas as pd

from membership import attacks, metrics
from membership.arrays import FloatArray
from membership.exhibits import Source
from membership.exhibits.rows import of_each
from membership.exhibits.tidy import tidy
from membership.studies.comparison.leaderboard import seconds_of
from membership.studies.comparison.names import AREA
from membership.studies.comparison.scores import CONTRASTS, Table, origin, per_target, typical

COUNTS = (2, 4, 8, 16, 32, 64)
POWER = (
    "loss",
    "lira-offline-global",
    "lira",
    "bavaria",
    "rmia",
    "base",
    "bmia-mixture",
)
FRONT = "on the front"


def counts(source: Source) -> list[int]:
    """The numbers of reference models that are tried."""
    return [n for n in COUNTS if n <= source.settings.n_reference]


def against_references(source: Source) -> pd.DataFrame:
    """AUC and TPR at 1% FPR of attacks by the number of references, over one cell a data set.

    References come in pairs of complements: of two, each record has one trained without it.
    """
    cells, rows = typical(source), []
    times = {evidence.cell: source.evidence(f"times-{evidence.cell.word}") for evidence in cells}
    for count in counts(source):
        tables = [(evidence.set, evidence.fewer(POWER, count)) for evidence in cells]
        for name in POWER:
            if not all(name in table.score for _, table in tables):
                continue
            seconds = [
                seconds_of(name, evidence, times[evidence.cell], count) for evidence in cells
            ]
            key = {"references": count, "attack": attacks.registry()[name].display}
            more = {"seconds": float(np.mean(seconds))}
            for metric, contrast in CONTRASTS.items():
                number = contrast(tables, {name: 1.0}, source.settings)
                rows.append({**key, "metric": metric, **number, **more})
    return tidy(rows, {**origin(cells), "timing": True})


def against_seconds(source: Source) -> pd.DataFrame:
    """The same numbers by seconds; on the front are those that none is better than for no more.

    Costs are equal that differ by less than the training of one reference model: a second is spent
    on whole models, and was timed once. Attacks that the run did not time are left out.
    """
    table = source.table("comparison-fig-2")
    timed = (table["metric"] == AREA) & table["seconds"].notna()
    points = table[timed].reset_index(drop=True)
    is_on = front(points, _of_one_reference(source))
    marked = points.assign(**{FRONT: np.where(is_on, "yes", "no")})
    marked.attrs = dict(table.attrs)
    return marked


def front(points: pd.DataFrame, step: float) -> np.ndarray:
    """Which points no other is better than for no more, nor as good for less, by whole steps."""
    dearer, better = (
        points[name].to_numpy()[None] - points[name].to_numpy()[:, None]
        for name in ("seconds", "value")
    )
    return ~(((dearer < step) & (better > 0)) | ((dearer <= -step) & (better == 0))).any(axis=1)


def _of_one_reference(source: Source) -> float:
    """Seconds that one reference model takes to train, averaged as those of the attacks are."""
    timed = [source.evidence(f"times-{evidence.cell.word}") for evidence in typical(source)]
    return float(np.mean([times["seconds"][times["part"] == "train"].item() for times in timed]))


GAIN_RATE, GAIN_ACCURACY = "gain in TPR at 1% FPR (points)", "gain in accuracy (points)"
GAINERS, EIGHT = ("mast", "lira", "attack-r"), 8


def gains(source: Source) -> pd.DataFrame:
    """What three attacks with eight references gain over the loss, target by target."""
    cells, rows = typical(source), []
    for evidence in cells:
        table = evidence.fewer(("loss", *GAINERS), min(EIGHT, source.settings.n_reference))
        base = _measured(table, "loss")
        for name in GAINERS:
            key = {**evidence.key, "attack": attacks.registry()[name].display}
            gained = {
                metric: values - base[metric] for metric, values in _measured(table, name).items()
            }
            rows += of_each(key, "metric", gained)
    return tidy(rows, origin(cells))


def _measured(table: Table, name: str) -> dict[str, FloatArray]:
    score, member = table.score[name], table.member
    return {
        GAIN_RATE: 100 * per_target(metrics.tpr_at_fpr, score, member, fpr=0.01),
        GAIN_ACCURACY: 100 * per_target(metrics.balanced_accuracy, score, member),
    }
