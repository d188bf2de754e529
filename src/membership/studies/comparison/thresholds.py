"""What is set in advance: one threshold for all records, thresholds and settings by references."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from membership import attacks, metrics
from membership.arrays import BoolArray, FloatArray
from membership.attacks import Observed, mast
from membership.attacks.adversary import loss_of
from membership.attacks.bavaria import bavaria_score
from membership.attacks.lira import lira_score
from membership.attacks.rmia import base_score, rmia_score
from membership.exhibits import Source
from membership.exhibits.rows import of_each
from membership.exhibits.tidy import tidy
from membership.studies.comparison.names import AREA, RATE
from membership.studies.comparison.scores import (
    CONTRASTS,
    CellEvidence,
    Table,
    of_targets,
    origin,
    typical,
)
from membership.studies.comparison.sentences import CHANGED

CHOSEN = ("loss", "attack-r", "lira-offline", "lira", "rmia", "base")
NOMINAL = (0.01, 0.05)
PRIORS = (0.5, 0.1, 0.01)
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
    return tidy(rows, origin(cells))


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


# Reference models in the target's place, each from a pair of complements of its own.
ATTACKED = 4
WARM = "temperature 2"
SIGNALS = {"temperature 1": "log_odds", WARM: "halved_log_odds"}

Score = Callable[[Observed], FloatArray]


def _mean(seen: Observed) -> FloatArray:
    references = loss_of(seen, "references.log_odds")
    return mast(loss_of(seen), references, "mean", seen["references.member"])


# The first setting of each is the one that the leaderboard has.
FAMILIES: dict[str, Mapping[str, Score]] = {
    "RMIA": {
        f"a = {a:g}, {words}": functools.partial(rmia_score, signal=signal, a=a)
        for words, signal in SIGNALS.items()
        for a in (0.3, 0.0, 0.1, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
    },
    "BASE": {
        words: functools.partial(base_score, signal=signal) for words, signal in SIGNALS.items()
    },
    "LiRA": {
        words: functools.partial(lira_score, mode="online", variance=variance)
        for words, variance in (("a variance a record", "per-record"), ("one variance", "global"))
    },
    "LiRA offline": {
        words: functools.partial(lira_score, mode="offline", variance=variance)
        for words, variance in (("a variance a record", "per-record"), ("one variance", "global"))
    },
    "BaVarIA": {
        law: functools.partial(bavaria_score, mode="online", predictive=law)
        for law in ("t", "normal")
    },
    "MAST": {
        "log-mean-exp": functools.partial(base_score, online=False),
        "mean": _mean,
    },
}
MEASURES = {AREA: metrics.auc, RATE: functools.partial(metrics.tpr_at_fpr, fpr=0.01)}
"""What a setting is chosen by."""


def tuned(source: Source) -> pd.DataFrame:
    """What each family reaches when its setting is chosen as that of every other.

    The adversary attacks some of its reference models by the others and takes the setting with
    the largest mean AUC there, or TPR at 1% FPR, whichever of the two is shown.
    """
    cells, rows = typical(source), []
    for family, settings in FAMILIES.items():
        settings = {word: of for word, of in settings.items() if _allowed(cells, word)}
        tables = [(evidence.set, _on_targets(evidence, settings)) for evidence in cells]
        first = next(iter(settings))
        for metric, measure in MEASURES.items():
            chosen = [_chosen(evidence, settings, measure) for evidence in cells]
            picked = []
            for (name, table), word in zip(tables, chosen, strict=True):
                score = {"chosen": table.score[word], "first": table.score[first]}
                picked.append((name, Table(score, table.member)))
            key = {"attack": family, "chosen": "; ".join(dict.fromkeys(chosen))}
            for suffix, weights in (
                ("", {"chosen": 1.0}),
                (f", {CHANGED}", {"chosen": 1.0, "first": -1.0}),
            ):
                number = CONTRASTS[metric](picked, weights, source.settings)
                rows.append({**key, "metric": f"{metric}{suffix}", **number})
    return tidy(rows, origin(cells, note=_NOTE))


_NOTE = (
    f"Settings are chosen on {ATTACKED} reference models, each attacked by the others but its "
    "complement: by the AUC for the AUC, by the TPR for the TPR. Targets are not touched."
)


def _allowed(cells: list[CellEvidence], word: str) -> bool:
    """Whether the evidence of every cell has the signal of a setting."""
    signal = SIGNALS[WARM] if word.endswith(WARM) else "log_odds"
    return all(signal in evidence.outputs for evidence in cells)


def _on_targets(evidence: CellEvidence, settings: Mapping[str, Score]) -> Table:
    views = [evidence.observed(target, evidence.references) for target in evidence.targets]
    score = {word: np.stack([of(view) for view in views]) for word, of in settings.items()}
    return Table(score, evidence.member[evidence.targets])


def _chosen(
    evidence: CellEvidence, settings: Mapping[str, Score], measure: Callable[..., float]
) -> str:
    """The setting that does best on reference models."""
    reached = dict.fromkeys(settings, 0.0)
    for place in range(0, 2 * min(ATTACKED, len(evidence.references) // 2 - 1), 2):
        references = evidence.references[:place] + evidence.references[place + 2 :]
        view = evidence.observed(evidence.references[place], references)
        for word, of in settings.items():
            reached[word] += measure(of(view), view.member)
    return max(reached, key=lambda word: reached[word])
