"""Tables 1 and 2, the difference without a posterior, and LiRA's variances."""

from typing import Any

import numpy as np
import pandas as pd

from membership import data, published
from membership.errors import InputError
from membership.studies.bmia import scores
from membership.studies.bmia.evidence import Evidence, attrs, out_of_distribution
from membership.studies.bmia.summaries import Pairs, measured, rows, spread
from membership.studies.bmia.worlds import LABELS, PUBLISHED, World, world

TABLE_2_RATES = (0.001, 0.005, 0.01, 0.05)
TABLE_2_SIZE = 8
DIGITS = "digits"
SHIFTED = "shifted"
PAPERS_NAMES = {theirs: LABELS[ours] for ours, theirs in PUBLISHED.items()}
ON = ["dataset", "attack", "n_reference", "metric"]
_SETUP = (
    "LiRA offline, one-sided, a variance a record; RMIA with a = 0.3, untuned; QMIA a small "
    "network without hyper-parameter search",
)

Found = list[tuple[Evidence, dict[tuple[str, int], Pairs]]]


def attack(some: list[Evidence]) -> Found:
    """Run every attack on every world, once for all the tables."""
    return [(each, scores.all_scores(each)) for each in some]


def table_1(found: Found) -> pd.DataFrame:
    """True-positive rates of all attacks (Table 1); times are in `times`.

    Parameters
    ----------
    found : list
        From `attack`.

    Returns
    -------
    DataFrame
        Columns dataset, attack, n_reference, metric ("TPR(%)@FPR=0.1%", "TPR(%)@FPR=1%",
        "auc(%)"), value, low, high, n_repeats (targets). Rows "difference" and "BMIA, mixture"
        are not the paper's.
    """
    table = pd.DataFrame(
        [
            row
            for evidence, results in found
            for (name, n), pairs in results.items()
            for row in rows(_key(evidence, name, n), pairs)
        ]
    )
    table.attrs = attrs([evidence.world for evidence, _ in found], _SETUP)
    return table


def table_1_comparison(table: pd.DataFrame) -> pd.DataFrame:
    """Each number of `table_1` beside the published one, where the paper has one."""
    printed = published.table("bmia_table1").dropna(subset="value")
    printed["dataset"] = printed["dataset"].replace(PAPERS_NAMES)
    return published.compare(table, printed, ON)


def control_1(found: Found) -> pd.DataFrame:
    """What the posterior adds to the plain difference to the same reference (Control 1).

    Returns
    -------
    DataFrame
        Columns dataset, attack, metric, value, low, high, n_repeats: percentage points over the
        difference on the same targets, as an interval of the paired differences.
    """
    listed = []
    for evidence, results in found:
        plain = measured(results[scores.DIFFERENCE, 1])
        mixture = next(pairs for (name, _), pairs in results.items() if name == scores.MIXTURE)
        others = {
            "BMIA": results["BMIA", 1],
            scores.CONSTANT: evidence.each(lambda t, e=evidence: scores.constant_sd(e, t)),
            scores.CLOSED: evidence.each(lambda t, e=evidence: scores.closed_form(e, t)),
            scores.MIXTURE: mixture,
        }
        for name, pairs in others.items():
            for metric, values in measured(pairs).items():
                gain = np.subtract(values, plain[metric])
                key = {"dataset": evidence.world.label, "attack": name}
                name_of_gain = f"{metric.replace('auc', 'AUC')} gained"
                listed.append({**key, "metric": name_of_gain, **spread(gain)})
    table = pd.DataFrame(listed)
    table.attrs = attrs([evidence.world for evidence, _ in found])
    return table


def control_6(found: Found) -> pd.DataFrame:
    """LiRA with a variance a record, with one for all records, and two-sided (Control 6).

    Returns
    -------
    DataFrame
        Columns dataset, variance, n_reference, metric, value, low, high, n_repeats.
    """
    listed = []
    kinds = {
        "a record, one-sided": {},
        "global, one-sided": {"variance": "global"},
        "a record, two-sided": {"sided": "two"},
    }
    for evidence, results in found:
        sizes = [n for name, n in results if name == "LiRA"]
        for name, choice in kinds.items():
            for n in sizes:
                pairs = evidence.each(
                    lambda t, e=evidence, n=n, choice=choice: scores.lira(e, t, n, **choice)
                )
                key = {"dataset": evidence.world.label, "variance": name, "n_reference": n}
                listed += rows(key, pairs)
    table = pd.DataFrame(listed)
    table.attrs = attrs([evidence.world for evidence, _ in found])
    return table


def ood_evidence(worlds: list[World], settings: Any) -> Evidence:
    """The targets of Table 2, with non-members of another source.

    Members are images: those of the first data set of the run that holds images, else digits. The
    others are named by ``ood_dataset``: "shifted" moves the same data set's validation images by
    a pixel to the right; a data set's name takes its images, averaged down to the size
    of the members' where they are larger.

    Raises
    ------
    InputError
        The other source does not fit.
    """
    images = [each for each in worlds if each.dataset.x.ndim == 4]
    members = images[0] if images else world(DIGITS, settings)
    shape = members.dataset.x.shape[1:]
    if settings.ood_dataset == SHIFTED:
        held = members.validation
        x = np.roll(members.dataset.x[held], 1, axis=3)
        return out_of_distribution(members, x, members.dataset.y[held])
    other = data.load(settings.ood_dataset, root=settings.data_root or None)
    x, y = other.x, other.y
    if x.shape[1:] != shape:
        x = _averaged(x, shape)
    return out_of_distribution(members, x[: 10 * len(members.pool)], y[: 10 * len(members.pool)])


def table_2(evidence: Evidence, settings: Any) -> pd.DataFrame:
    """Members against non-members of another source (Table 2).

    Parameters
    ----------
    evidence : Evidence
        From `ood_evidence`.
    settings : Settings
        Uses ``ood_dataset``.

    Returns
    -------
    DataFrame
        Columns attack, n_reference, metric (rates at 0.1, 0.5, 1 and 5%, and the AUC), value,
        low, high, n_repeats.
    """
    listed = [
        row
        for (name, n), pairs in scores.all_scores(evidence).items()
        if n in (0, 1, TABLE_2_SIZE)
        for row in rows({"attack": name, "n_reference": n}, pairs, TABLE_2_RATES)
    ]
    table = pd.DataFrame(listed)
    name = evidence.world.label
    text = f"non-members {settings.ood_dataset!r} instead of CINIC-10, members {name}"
    table.attrs = attrs([evidence.world], (text,))
    return table


def table_2_comparison(table: pd.DataFrame) -> pd.DataFrame:
    """Each number of `table_2` beside the published one."""
    return published.compare(table, published.table("bmia_table2"), ON[1:])


def _averaged(x: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Images cut at the edges and averaged over blocks, so that they have the given shape."""
    (_, height, width), block = shape, min(x.shape[2] // shape[1], x.shape[3] // shape[2])
    if x.ndim != 4 or x.shape[1] != shape[0] or block < 1:
        raise InputError(
            f"ood_dataset has records of shape {x.shape[1:]}; members have {shape}, and images can "
            "only be averaged down"
        )
    top, left = (x.shape[2] - block * height) // 2, (x.shape[3] - block * width) // 2
    cut = x[:, :, top : top + block * height, left : left + block * width]
    return cut.reshape(len(x), shape[0], height, block, width, block).mean(axis=(3, 5))


def _key(evidence: Evidence, name: str, n: int) -> dict[str, Any]:
    return {"dataset": evidence.world.label, "attack": name, "n_reference": n}
