"""What many plain references buy, beside one with a posterior. Control 15."""

from typing import Any

import numpy as np
import pandas as pd

from membership import attacks, metrics
from membership.attacks.bmia import bmia_from_moments
from membership.exhibits.tidy import origin, tidy
from membership.signals import loss_of_log_odds
from membership.studies.bmia.seen import Seen
from membership.studies.bmia.summaries import Pairs, rate_name, rows, tpr
from membership.studies.bmia.truth import RECORDS, read_many

FEW, MANY = 8, 64
FPR = 0.01
RATE = rate_name(FPR)
BMIA, ATTACK_R = "BMIA", "Attack-R"
LIRA, GLOBAL = "LiRA, a variance a record", "LiRA, one variance"
LESS_BMIA = f"{RATE}, less BMIA's"
LESS_FEWER = f"{RATE}, less its own with fewer"


def control_15(source: Any) -> pd.DataFrame:
    """Rates at 1% of Attack-R and LiRA with 8 and 64 references, less BMIA's (Control 15)."""
    seen = read_many(source)
    base = seen.each(
        lambda t: bmia_from_moments(seen.hinge[t], *seen.moments(seen.first(t))),
    )
    ours = np.array(tpr(base, FPR))
    listed = rows({"dataset": seen.label, "attack": BMIA, "n_reference": 1}, base, (FPR,))
    sizes = sorted({min(n, seen.n_reference) for n in (FEW, MANY)})
    for name in (ATTACK_R, LIRA, GLOBAL):
        each = {n: _scores(seen, name, n) for n in sizes}
        fewer = tpr(each[sizes[0]], FPR)
        for n, pairs in each.items():
            key = {"dataset": seen.label, "attack": name, "n_reference": n}
            rate = np.array(tpr(pairs, FPR))
            listed += rows(key, pairs, (FPR,))
            listed.append({**key, "metric": LESS_BMIA, **metrics.summary(rate - ours)})
            if n > sizes[0]:
                listed.append({**key, "metric": LESS_FEWER, **metrics.summary(rate - fewer)})
    attrs = origin([seen])
    count = min(int((~seen.member[target]).sum()) for target in seen.targets)
    return tidy(listed, {**attrs, "sizes": {**attrs["sizes"], RECORDS: f"{count:,}"}})


def _scores(seen: Seen, name: str, n: int) -> Pairs:
    odds = seen.outputs["log_odds"].values.astype(float)
    if name == ATTACK_R:
        loss = loss_of_log_odds(odds)
        return seen.each(lambda t: attacks.attack_r(loss[t], loss[seen.references(t, n)]))
    variance = "global" if name == GLOBAL else "per-record"
    how = {"mode": "offline", "variance": variance, "sided": "one"}
    return seen.each(lambda t: attacks.lira(odds[t], odds[seen.references(t, n)], **how))
