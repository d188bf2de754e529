"""What is set in advance: one threshold for all records, and thresholds by references."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy import stats

from membership import attacks, metrics, plots
from membership.arrays import BoolArray, FloatArray
from membership.book.exhibits import Source
from membership.book.exhibits.rows import of_each
from membership.book.exhibits.sentences import joined
from membership.book.exhibits.tidy import tidy
from membership.book.published.rows import row_at
from membership.book.studies.comparison.leaderboard import trained
from membership.book.studies.comparison.names import in_words, picked
from membership.book.studies.comparison.scores import (
    CellEvidence,
    Table,
    of_targets,
    origin,
    typical,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CHOSEN = ("loss", "attack-r", "lira-offline", "lira", "rmia", "base")
NOMINAL = (0.01, 0.05)
PRIORS = (0.5, 0.1, 0.01)
FEWEST = PRIORS[-1]
ENDS = {"lowest data set": min, "highest data set": max}
SHARES = np.geomspace(0.001, 0.5, 28)
"""Of members among those asked, in the picture."""
RESAMPLES = 2_000
RECORD_RATE = 0.05
SPREAD, ABOVE, BY_CHANCE = (
    "spread of a record's FPR beyond chance (points)",
    "records with an FPR above 20% (%)",
    "the same by chance (%)",
)
PAIR = "LOSS - LiRA offline"
REALISED, DETECTED = "realised FPR (%)", "TPR (%)"
LEVEL = 0.1
FALSE, FOUND = "false discoveries (%)", "members found (%)"


def value_of(prior: float) -> str:
    """The name of a positive predictive value."""
    return f"PPV where {prior:.0%} are members (%)"


def by_record(source: Source) -> pd.DataFrame:
    """The FPR that each record has at the pooled threshold of 5%, over models without it."""
    cells, rows = typical(source), []
    for evidence in cells:
        table, above = evidence.every_model(CHOSEN), {}
        for name in CHOSEN:
            rate, count = record_rates(table.score[name], table.member)
            above[name] = rate > 0.2
            key = {**evidence.key, "attack": attacks.registry()[name].display}
            for metric, number in _of_rates(rate, count).items():
                rows.append({**key, "metric": metric, **number})
        # Both attacks are asked the same records.
        fewer = metrics.summary(100.0 * above["loss"] - 100.0 * above["lira-offline"])
        rows.append({**evidence.key, "attack": PAIR, "metric": ABOVE, **fewer})
    return tidy(rows, origin(cells))


def by_record_said(table: pd.DataFrame) -> str:
    """Shares of records with four times the rate, loss against calibrated."""
    rows = picked(table, ABOVE)
    clauses = [
        f"{name} {rows[rows['attack'] == name]['value'].mean():.1f}%"
        for name in ("LOSS", "LiRA offline")
    ]
    chance = picked(table, BY_CHANCE)["value"].mean()
    return (
        f"Records with an FPR above 20%, on average: {joined(clauses)}. Chance would give "
        f"{chance:.1f}%."
    )


def by_record_drawn(table: pd.DataFrame) -> "Figure":
    """Control 3: how many records are accused again and again though they are no members."""
    shown = table[(table["metric"] == ABOVE) & (table["attack"] != PAIR)]
    chance = picked(table, BY_CHANCE)
    chance = chance.assign(cell=in_words(chance)).groupby("cell")["value"].first().to_dict()
    return plots.dots_by_row(
        shown.assign(cell=in_words(shown), references=trained(shown["attack"])),
        "attack",
        by="references",
        panel="cell",
        label=shown["metric"].iloc[0],
        baseline=chance,
        stems=True,
        told=".1f",
    )


def record_rates(score: FloatArray, member: BoolArray) -> tuple[FloatArray, np.ndarray]:
    """Each record's share of models without it that put it above the pooled threshold."""
    outside = ~member
    threshold = np.quantile(score[outside], 1 - RECORD_RATE, method="higher")
    count = outside.sum(axis=0)
    return ((score > threshold) & outside).sum(axis=0) / count, count


def _of_rates(rate: FloatArray, count: np.ndarray) -> dict[str, dict[str, float]]:
    """How unequal the records' rates are, beyond what so many models make by chance."""
    pooled = float(np.average(rate, weights=count))
    noise = pooled * (1 - pooled) / count
    beyond = np.square(rate - pooled) - noise
    square = metrics.summary(beyond)
    spread = {
        end: 100 * np.sign(square[end]) * np.sqrt(abs(square[end]))
        for end in ("value", "low", "high")
    }
    chance = stats.binom.sf(np.floor(0.2 * count), count, pooled)
    return {
        SPREAD: {**spread, "n_repeats": len(rate)},
        ABOVE: metrics.summary(100 * (rate > 0.2), lowest=0.0, highest=100.0),
        BY_CHANCE: metrics.exactly(float(100 * chance.mean())),
    }


def honest(source: Source) -> pd.DataFrame:
    """Thresholds from reference models alone, and what becomes of their rate on the targets.

    Every reference model is attacked by the others; the threshold is the quantile of what records
    score that it was not trained on.
    """
    cells, rows = typical(source), []
    for nominal in NOMINAL:
        for name in CHOSEN:
            by_cell = [
                rates(evidence.every_model(CHOSEN), name, len(evidence.targets), nominal)
                for evidence in cells
            ]
            key = {"nominal FPR": f"{nominal:.0%}", "attack": attacks.registry()[name].display}
            shares = {m: [numbers[m] for numbers in by_cell] for m in (REALISED, DETECTED)}
            for metric, values in shares.items():
                number = of_targets(cells, values, lowest=0.0, highest=100.0)
                rows.append({**key, "metric": metric, **number})
            for prior in PRIORS:
                number = worth(*shares.values(), prior, source.settings.seed)
                rows.append({**key, "metric": value_of(prior), **number})
            by_set = [
                worth([wrong], [right], FEWEST, source.settings.seed)
                for wrong, right in zip(*shares.values(), strict=True)
            ]
            for end, of_all in ENDS.items():
                number = of_all(by_set, key=lambda one: one["value"])
                rows.append({**key, "metric": f"{value_of(FEWEST)}, {end}", **number})
    return tidy(rows, origin(cells))


def honest_said(table: pd.DataFrame) -> str:
    """The rates kept, and what a flag means where members are few."""
    rows = picked(table, REALISED)
    at_1 = rows[rows["nominal FPR"] == "1%"]
    low, high = at_1.loc[at_1["value"].idxmin()], at_1.loc[at_1["value"].idxmax()]
    where = {"nominal FPR": "1%", "attack": "LiRA", "metric": value_of(0.01)}
    rare = row_at(table, **where)["value"]
    return (
        f"Asked for an FPR of 1%, attacks get {low['value']:.2f}% ({low['attack']}) to "
        f"{high['value']:.2f}% ({high['attack']}). Where 1% are members, {rare:.0f}% of those that "
        "LiRA flags are."
    )


def honest_drawn(table: pd.DataFrame) -> "Figure":
    """Table 3: who of those flagged is a member, by how many of those asked are.

    A predictive value at one share of members is one at every share: only the odds before change.
    Of the attacks with references, which lie close, the curves are of the lowest and the highest.
    """
    shares = {value_of(prior): prior for prior in PRIORS}
    shown = table.assign(share=table["metric"].map(shares)).dropna(subset="share")
    shown = shown[shown["share"] == shown["share"].max()]
    worth = shown[shown["attack"] != "LOSS"].groupby("attack")["value"].mean()
    shown = shown[shown["attack"].isin(("LOSS", worth.idxmin(), worth.idxmax()))]
    parts = [
        shown.assign(
            at=100 * share, **{end: _moved(shown, end, share) for end in ("value", "low", "high")}
        )
        for share in SHARES
    ]
    curves = pd.concat(parts).assign(
        panel=lambda rows: "flagged at " + rows["nominal FPR"] + " FPR"
    )
    axes = ("members among those asked (%)", "predictive value (%)")
    return plots.line_panels(
        curves, x="at", by="attack", log_x=True, labels=dict.fromkeys(curves["panel"], axes)
    )


def _moved(rows: pd.DataFrame, end: str, share: float) -> pd.Series:
    """A predictive value as it is where another share of those asked are members."""
    value = rows[end] / 100
    odds = value / (1 - value) * (1 - rows["share"]) / rows["share"] * share / (1 - share)
    return 100 * odds / (1 + odds)


def worth(
    false: Sequence[FloatArray], true: Sequence[FloatArray], prior: float, seed: int
) -> dict[str, float]:
    """The share of members among those flagged, from the rates of all targets together.

    Rates are of each data set's targets, and data sets are averaged. A mean of each target's own
    share would count a target without false positives as 100%, however few it flags. The interval
    is a bootstrap over the targets of each data set.
    """
    rng = np.random.default_rng([seed, 44])
    right, wrong = np.zeros(1 + RESAMPLES), np.zeros(1 + RESAMPLES)
    for wrongly, rightly in zip(false, true, strict=True):
        count = len(rightly)
        picked = rng.integers(count, size=(RESAMPLES, count))
        rows = np.concatenate([np.arange(count)[None], picked])
        right += prior * rightly[rows].mean(axis=1) / len(true)
        wrong += (1 - prior) * wrongly[rows].mean(axis=1) / len(true)
    called = right + wrong
    share = 100 * np.divide(right, called, out=np.zeros_like(right), where=called > 0)
    low, high = np.quantile(share[1:], (0.025, 0.975))
    units = min(len(rates) for rates in true)
    return {"value": share[0], "low": low, "high": high, "n_repeats": units}


def rates(table: Table, name: str, n_targets: int, nominal: float) -> dict[str, FloatArray]:
    """Rates of each target, in percent, at the threshold that the references give."""
    score, member = table.score[name], table.member
    known = score[n_targets:][~member[n_targets:]]
    above = score[:n_targets] > np.quantile(known, 1 - nominal, method="higher")
    inside = member[:n_targets]
    false = (above & ~inside).sum(axis=1) / (~inside).sum(axis=1)
    true = (above & inside).sum(axis=1) / inside.sum(axis=1)
    return {REALISED: 100 * false, DETECTED: 100 * true}


def false_discoveries(source: Source) -> pd.DataFrame:
    """The share of non-members among those called members at a level of 10%, by p-value."""
    cells, rows = typical(source), []
    for name in P_VALUES:
        for evidence in cells:
            discoveries = [of_target(*pair) for pair in P_VALUES[name](evidence)]
            key = {**evidence.key, "p-values": name}
            shares = {m: [target[m] for target in discoveries] for m in (FALSE, FOUND)}
            rows += of_each(key, "metric", shares, lowest=0.0, highest=100.0)
    return tidy(rows, origin(cells))


def of_target(p: FloatArray, member: BoolArray) -> dict[str, float]:
    """What one target's p-values discover."""
    called = stats.false_discovery_control(p) <= LEVEL
    wrong = (called & ~member).sum() / max(1, called.sum())
    return {FALSE: 100 * float(wrong), FOUND: 100 * float((called & member).sum() / member.sum())}


def _of_normal(name: str) -> Any:
    """One-sided p-values of a score that claims to be standard normal for non-members."""

    def p_values(evidence: CellEvidence) -> list[tuple[FloatArray, BoolArray]]:
        table = evidence.table
        return [(stats.norm.sf(s), m) for s, m in zip(table.score[name], table.member, strict=True)]

    return p_values


def _conformal(evidence: CellEvidence) -> list[tuple[FloatArray, BoolArray]]:
    """Ranks of the offline LiRA score among what references' non-members score."""
    table, count = evidence.every_model(CHOSEN), len(evidence.targets)
    score, member = table.score["lira-offline"], table.member
    known = np.sort(score[count:][~member[count:]])
    above = known.size - np.searchsorted(known, score[:count], side="left")
    return list(zip((1 + above) / (1 + known.size), member[:count], strict=True))


P_VALUES = {
    "BMIA, closed form": _of_normal("bmia-closed"),
    "LiRA offline, normal law": _of_normal("lira-offline"),
    "LiRA offline, conformal by references": _conformal,
}
