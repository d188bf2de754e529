"""Gradient and loss attacks on the same models, beside each other and beside what is promised."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from membership import metrics, plots, privacy
from membership.arrays import FloatArray
from membership.book.exhibits.rows import of_error
from membership.book.exhibits.tidy import tidy
from membership.book.studies.gmip import rivals
from membership.book.studies.gmip.setups import observed, recipe_of, steps_described
from membership.metrics.rate_names import tpr_label

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RATES = (0.001, 0.01, 0.1)
AREA, QUANTITIES = "AUC (%)", tuple(map(tpr_label, RATES))
ALL_EPOCHS = "all epochs"
"""How long a training of Table 4 is called."""
PAIRS = (
    (rivals.GLIR, rivals.LIRA_FEW),
    (rivals.GLIR, rivals.LIRA),
    (rivals.GLIR, rivals.LOSS),
    (rivals.LIRA, rivals.RMIA),
)
"""The attacks whose differences have rows."""
PROMISED, PROMISED_MEASURED, PROMISED_COMPOSED = (
    "promised, K = d",
    "promised, K measured",
    "promised, Equation 10",
)
SHORT = {
    rivals.GLIR: "GLiR",
    rivals.GLIR_MORE: "GLiR, 20,000 records",
    rivals.RATIO_MORE: "likelihood ratio",
    rivals.LOSS: "LOSS",
    rivals.LIRA: "LiRA",
    rivals.LIRA_ONE: "LiRA, one variance",
    rivals.RMIA: "RMIA",
    rivals.BMIA: "BMIA",
}
"""The attacks of the picture, in its words."""
STATED = (PROMISED, PROMISED_COMPOSED)
BY_GRADIENT = (rivals.GLIR, rivals.GLIR_MORE, rivals.RATIO_MORE)
_SHOWN = tpr_label(0.01)
_RESAMPLES, _STREAM = 2000, 21
_NOTE = (
    "One threshold for all targets of a training. Found: members above the threshold that "
    "accuses no more others than the rate allows. Intervals are over targets with their records."
)
_OF_ALL_EPOCHS = (
    "After all epochs targets share records and shadow models, and intervals are over both targets "
    "and records. There GLiR adds up each step's likelihood ratio of a place in the batch, knowing "
    "the moments of all records not asked."
)


def table(few: Sequence[xr.Dataset], whole: Sequence[xr.Dataset]) -> pd.DataFrame:
    """AUC and rates of each attack, of what was promised, and differences of pairs of attacks."""
    rows: list[dict[str, Any]] = []
    for evidence in few:
        steps = evidence.attrs["steps"]
        key = {"data": evidence.attrs["set"], "steps": steps_described(steps)}
        rows += [{**key, **row} for row in _of_few_steps(evidence, steps)]
        rows += [{**key, **row} for row in _attacks(evidence)]
    for evidence in whole:
        key = {"data": evidence.attrs["set"], "steps": ALL_EPOCHS}
        rows += [{**key, **row} for row in _of_all_epochs(evidence)]
        rows += [{**key, **row} for row in _attacks(evidence)]
    note = f"{_NOTE} {_OF_ALL_EPOCHS}" if whole else _NOTE
    return tidy(rows, observed([*few, *whole], note=note))


def _rates_of(table: pd.DataFrame) -> Iterator[tuple[str, "pd.Series[float]"]]:
    """The rates at 1% FPR of each data set and length of training, by attack."""
    at = table[table["quantity"] == tpr_label(0.01)]
    for (data, steps), part in at.groupby(["data", "steps"], sort=False):
        yield f"{data}, {steps}", part.set_index("attack")["value"]


def table_said(table: pd.DataFrame) -> str:
    """GLiR beside LiRA, and the promise, after the shortest and the longest training."""
    parts = []
    for name, value in _rates_of(table):
        is_few = PROMISED in value
        stated = value[PROMISED if is_few else PROMISED_COMPOSED]
        glir, lira = value[[rivals.GLIR, rivals.LIRA]]
        by = "" if is_few else " by Equation 10"
        parts.append(f"{name.partition(', ')[2]} {glir:.1f}, {lira:.1f}, {stated:.1f}{by}")
    ends = "; ".join([*parts[:1], *parts[1:][-1:]])
    return f"Members (%) at 1% FPR, GLiR, LiRA, promised at K = d: {ends}."


def table_described(table: pd.DataFrame) -> str:
    """All attacks in words."""
    differences = [difference(*pair) for pair in PAIRS]
    parts = [
        f"{name}: " + ", ".join(f"{attack} {rate:.1f}" for attack, rate in rates.items())
        for name, value in _rates_of(table)
        for rates in [value[~value.index.isin(differences)]]
    ]
    return (
        "A panel a length of training, a row an attack: the percentage of members found at 1% "
        f"false positives, and a line where the promise stands. {'; '.join(parts)}."
    )


def table_drawn(table: pd.DataFrame) -> "Figure":
    """Control 20: what each attack finds at each length of training, beside what is promised."""
    rates = table[table["quantity"] == _SHOWN]
    stated = rates[rates["attack"].isin(STATED)]
    shown = rates[rates["attack"].isin(SHORT)]
    shown = shown.assign(
        row=shown["attack"].map(SHORT),
        kind=shown["attack"].isin(BY_GRADIENT).map({True: "by gradients", False: "by losses"}),
    )
    return plots.dots_by_row(
        shown,
        "row",
        by="kind",
        panel="steps",
        label=_SHOWN,
        baseline=stated.set_index("steps")["value"].to_dict(),
        baseline_label="promised at K = d",
    )


def _of_all_epochs(evidence: xr.Dataset) -> Iterator[dict[str, Any]]:
    """Rates at Equation 10's level of the whole training, K = d parameters."""
    r = recipe_of(evidence)
    step = privacy.mip_mu_step(r.dimension, r.batch_size, r.dimension)
    mu = privacy.subsampled_mu(step, r.batch_size, evidence.attrs["trained_on"], r.steps)
    rates = privacy.gaussian_tpr(np.array(RATES), mu)
    yield from _stated(PROMISED_COMPOSED, [privacy.gaussian_auc(mu), *rates])


def _of_few_steps(evidence: xr.Dataset, steps: int) -> Iterator[dict[str, Any]]:
    """Rates promised at K = d parameters, and after one step to records with the K measured."""
    r = recipe_of(evidence)
    n, d, rank = r.audit_batch, r.dimension, r.rank
    mean = privacy.composed_mu(privacy.mip_mu_step(d, n, d), steps)
    rates = np.array(RATES)
    tpr = privacy.gaussian_tpr(rates, mean)
    if steps == 1:
        tpr = privacy.mip_tpr(rates, d, n, d)
    yield from _stated(PROMISED, [privacy.gaussian_auc(mean), *tpr])
    if "share" not in evidence:
        return
    mu = np.array([privacy.mip_mu_step(rank, n, k * rank) for k in evidence["share"].values])
    grid = np.r_[0.0, np.geomspace(1e-6, 1, 2001)]
    curve = 1 - privacy.gaussian_mixture_tradeoff(grid, mu)
    area = float(np.trapezoid(curve, grid))
    yield from _stated(
        PROMISED_MEASURED, [area, *(1 - privacy.gaussian_mixture_tradeoff(rates, mu))]
    )


def _stated(name: str, values: Sequence[float]) -> Iterator[dict[str, Any]]:
    for quantity, value in zip((AREA, *QUANTITIES), values, strict=True):
        key = {"attack": name, "quantity": quantity}
        yield {**key, "asked": 0, "found": 0, **metrics.exactly(100 * float(value))}


def _attacks(evidence: xr.Dataset) -> Iterator[dict[str, Any]]:
    """Each attack's AUC and rates with their counts, and the differences of pairs of attacks."""
    present = evidence["attack"].values.tolist()
    sides = [evidence[side].values.astype(float) for side in ("hits", "alarms")]
    targets, blocks = sides[0].shape[1:3]
    weight = _weights(targets, blocks)
    resampled = {
        name: 100 * outcomes(*(side[i] for side in sides), weight) for i, name in enumerate(present)
    }
    for i, name in enumerate(present):
        members, hits = _counts(sides[0][i].sum((0, 1)), sides[1][i].sum((0, 1)))
        for j, quantity in enumerate((AREA, *QUANTITIES)):
            row = {"attack": name, "quantity": quantity, "asked": members, "found": hits[j]}
            ends = {"lowest": 0.0, "highest": 100.0}
            yield {**row, **_interval(resampled[name][:, j], targets, **ends)}
    for first, second in PAIRS:
        if first in present and second in present:
            gain = resampled[first] - resampled[second]
            for j, quantity in enumerate((AREA, *QUANTITIES)):
                row = {"attack": difference(first, second), "quantity": quantity}
                yield {**row, "asked": 0, "found": 0, **_interval(gain[:, j], targets)}


def _counts(hits: FloatArray, alarms: FloatArray) -> tuple[int, list[int]]:
    """Members asked, and those found at each rate; of the AUC, which is no count, none."""
    at_rates = [int(hits[alarms <= rate * alarms[-1]].max()) for rate in RATES]
    return int(hits[-1]), [0, *at_rates]


def _weights(targets: int, blocks: int) -> FloatArray:
    """How often each target and block is drawn: as they are, then resamples of both."""
    rng = np.random.default_rng(_STREAM)
    drawn = [
        rng.multinomial(size, np.full(size, 1 / size), _RESAMPLES) for size in (targets, blocks)
    ]
    # One block is no sample: there the records go with their target.
    of_blocks = drawn[1] if blocks > 1 else np.ones((_RESAMPLES, 1))
    crossed = drawn[0][:, :, None] * of_blocks[:, None, :]
    return np.concatenate([np.ones((1, targets, blocks)), crossed])


def outcomes(hits: FloatArray, alarms: FloatArray, weight: FloatArray) -> FloatArray:
    """AUC and rates of weighted counts, (weights, 1 + rates).

    Parameters
    ----------
    hits, alarms : array of shape (targets, blocks, thresholds)
        How many members and others reach each threshold, which falls until all do.
    weight : array of shape (weights, targets, blocks)
        How often each target and block counts.
    """
    tpr, fpr = (
        counts / counts[:, -1:]
        for counts in (np.einsum("wtb,tbk->wk", weight, side) for side in (hits, alarms))
    )
    numbers = []
    for y, x in zip(tpr, fpr, strict=True):
        area = np.trapezoid(np.r_[0.0, y], np.r_[0.0, x])
        numbers.append([area, *np.interp(RATES, x, y)])
    return np.array(numbers)


def _interval(resampled: FloatArray, targets: int, **ends: float) -> dict[str, Any]:
    """The number of all, and Student's interval with the resamples' deviation."""
    value, error = float(resampled[0]), float(resampled[1:].std(ddof=1))
    # Resampling few targets understates their spread by this factor.
    error *= np.sqrt(targets / (targets - 1))
    return of_error(value, error, targets, float(targets - 1), **ends)


def difference(first: str, second: str) -> str:
    """What the row of a pair's difference is called."""
    return f"{first} less {second}"
