"""A record is called a member where two attacks both call it one, as Section 4.5 proposes.

Both attacks accuse at one false positive rate of their own. The two together accuse fewer, and are
compared with each attack alone where that accuses as few non-members in vain.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from membership import metrics
from membership.arrays import BoolArray, FloatArray
from membership.studies.iha.evaluation import Evaluation, table_of
from membership.studies.iha.scores import called

PAIR = ("IHA", "LiRA")
RATE = 0.05
BOTH = f"{PAIR[0]} and {PAIR[1]}, both at {100 * RATE:g}% FPR"
FALSE, TRUE = "non-members accused (%)", "members accused (%)"
AHEAD = "members accused less non-members accused (points)"
LESS = "members accused, less {attack}'s at that rate (points)"


def control_19(evaluations: Sequence[Evaluation]) -> pd.DataFrame:
    """iha-ctl-19: IHA and LiRA together, beside each alone at the same false positive rate."""
    rows = []
    for evaluation in evaluations:
        scores = [evaluation.scores(name) for name in PAIR]
        targets = zip(*scores, evaluation.member, strict=True)
        numbers = [together(pair, member, RATE) for *pair, member in targets]
        for metric in numbers[0]:
            values = np.array([number[metric] for number in numbers])
            key = {"dataset": evaluation.label, "attack": BOTH, "metric": metric}
            ends = {"lowest": 0.0, "highest": 100.0} if metric in (FALSE, TRUE) else {}
            rows.append(key | metrics.summary(values, evaluation.units, **ends))
    return table_of(rows, evaluations)


def together(pair: Sequence[FloatArray], member: BoolArray, rate: float) -> dict[str, float]:
    """What both attacks accuse at `rate`, in percent, and what each alone finds at that rate."""
    accused = np.logical_and(*(called(score, member, rate) for score in pair))
    false, true = float(accused[~member].mean()), float(accused[member].mean())
    alone = {
        LESS.format(attack=name): 100 * (true - metrics.tpr_on(score, member, np.array([false]))[0])
        for name, score in zip(PAIR, pair, strict=True)
    }
    return {FALSE: 100 * false, TRUE: 100 * true, AHEAD: 100 * (true - false), **alone}
