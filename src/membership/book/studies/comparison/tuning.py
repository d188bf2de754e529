"""What tuning buys, where every family of attacks is tuned alike: settings by references."""

import functools
from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd

from membership import metrics
from membership.arrays import FloatArray
from membership.attacks import Observed
from membership.attacks.bavaria import bavaria_score
from membership.attacks.bayes_optimal import mast_score
from membership.attacks.lira import lira_score
from membership.attacks.rmia import base_score, rmia_score
from membership.book.exhibits import Source
from membership.book.exhibits.sentences import joined
from membership.book.exhibits.tidy import tidy
from membership.book.studies.comparison.names import AREA, RATE, picked
from membership.book.studies.comparison.scores import (
    CONTRASTS,
    CellEvidence,
    Table,
    origin,
    typical,
)

CHANGED = "gain over the first setting"
# Reference models in the target's place, each from a pair of complements of its own.
ATTACKED = 4
WARM = "temperature 2"
SIGNALS = {"temperature 1": "log_odds", WARM: "halved_log_odds"}

Score = Callable[[Observed], FloatArray]


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
        "mean": functools.partial(mast_score, tau="mean"),
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


def tuned_said(table: pd.DataFrame) -> str:
    """What tuning brings each family, the largest gain first."""
    gain = picked(table, f"{RATE}, {CHANGED}").sort_values("value", ascending=False)
    # No "-0.0": a gain that prints as nothing has no sign.
    clauses = [f"{row.attack} {row.value:+z.1f}" for row in gain.itertuples()]
    return f"Tuning changes TPR at 1% FPR by points: {joined(clauses)}."


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
