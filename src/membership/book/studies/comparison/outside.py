"""Two attacks as others run them, beside the bench's own: QMIA by trees, the only public BMIA.

Of each cell that is looked at some targets are attacked, by the references of their pairs; what
they answer is compared with the cell's own evidence when the scores are read.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import torch
import xarray as xr
from scipy import stats

from membership import curvature, evidence, metrics, signals, training
from membership.arrays import FloatArray
from membership.book.exhibits import Source
from membership.book.exhibits.tidy import tidy
from membership.book.studies import hinge_laws
from membership.book.studies.comparison import names
from membership.book.studies.comparison.experiment import World, about, train, world
from membership.book.studies.comparison.names import (
    BOOSTED,
    OUTSIDE_TARGETS,
    PUBLIC,
    RATE,
    Cell,
    picked,
)
from membership.book.studies.comparison.scores import CONTRASTS, CellEvidence, Table, origin, read
from membership.book.studies.comparison.settings import Settings
from membership.book.studies.hinge_laws import with_label
from membership.errors import InputError
from membership.training.cache import Cache

OWN = {"LOSS": "loss", "QMIA": "qmia", "BMIA, closed form": "bmia-closed"}
"""What the bench has of the same targets."""
LESS: Mapping[str, tuple[str, str]] = {
    "QMIA by trees less QMIA": (BOOSTED, "qmia"),
    "QMIA by trees less LOSS": (BOOSTED, "loss"),
    "public BMIA less closed form": (PUBLIC, "bmia-closed"),
}
ENDS, SAME = "records scored exactly 0 or 1 (%)", 0.01


def outside(source: Source) -> pd.DataFrame:
    """comparison-ctl-8: what both find on some targets, and what the bench's own find there."""
    chosen = names.outside(source.settings)
    every, rows = read(source), []
    cells = [one for one in every if one.cell in chosen]
    if not cells:
        key = {"dataset": "", "target": "", "attack": "none", "metric": names.NO_TABLES}
        return tidy([{**key, **metrics.exactly(0)}], origin(every, note=_NOTE))
    for bench in cells:
        found = source.evidence(f"outside-{bench.cell.word}")
        table = together(bench, found)
        for words, name in (*OWN.items(), (BOOSTED, BOOSTED), (PUBLIC, PUBLIC)):
            rows += _rows(bench, table, words, {name: 1.0}, source.settings)
        for words, (first, second) in LESS.items():
            rows += _rows(bench, table, words, {first: 1.0, second: -1.0}, source.settings)
        score = table.score[PUBLIC]
        ends = metrics.summary(100 * ((score == 0) | (score == 1)).mean(axis=1), lowest=0.0)
        rows.append({**bench.key, "attack": PUBLIC, "metric": ENDS, **ends})
    return tidy(rows, origin(cells, note=_NOTE))


def outside_said(table: pd.DataFrame) -> str:
    """What each finds at 1% beside the bench's own, by data set."""
    if names.NO_TABLES in set(table["metric"]):
        return f"Trees are fitted to records of at most {names.MOST_COLUMNS} numbers: here none is."
    rate = picked(table, RATE).set_index(["dataset", "attack"])["value"]
    each = [
        f"On {name} QMIA finds {rate[name, 'QMIA']:.1f}% at 1% FPR, by trees "
        f"{rate[name, names.BOOSTED]:.1f}%; BMIA {rate[name, 'BMIA, closed form']:.1f}%, the "
        f"public code's {rate[name, names.PUBLIC]:.1f}%."
        for name in dict.fromkeys(table["dataset"])
    ]
    return " ".join(each[:2])


_NOTE = (
    "QMIA by trees: scikit-learn's quantile boosting at five levels. The public BMIA: LeakPro's, "
    "as its code stands: log-odds for the hinge, and Student's distribution function of 50 draws."
)


def together(bench: CellEvidence, outside: xr.Dataset) -> Table:
    """Both attacks' scores and the bench's on the targets that both have, canaries left out.

    The targets were trained again; they have to be the ones that the bench attacks.
    """
    targets, keep = outside["target"].values, ~bench.canary
    places = [bench.targets.index(target) for target in targets]
    odds = bench.outputs["log_odds"].values[targets]
    apart = np.quantile(np.abs(outside["log_odds"].values - odds), 0.99)
    if apart > SAME:
        raise InputError(
            f"outside-{bench.cell.word}: its targets' log-odds differ from those of the cell by "
            f"{apart:.2g}; gather both on one machine"
        )
    score = {name: bench.table.score[name][places] for name in OWN.values()}
    for name in (BOOSTED, PUBLIC):
        score[name] = outside["score"].sel(attack=name).values[:, keep]
    return Table(score, bench.table.member[places])


def _rows(
    bench: CellEvidence,
    table: Table,
    words: str,
    weights: Mapping[str, float],
    settings: Settings,
) -> list[dict[str, Any]]:
    key, tables = {**bench.key, "attack": words}, [(bench.set, table)]
    return [
        {**key, "metric": metric, **contrast(tables, weights, settings)}
        for metric, contrast in CONTRASTS.items()
    ]


TREES = {"tiny": 5, "quick": 20, "paper": 200}
"""Most trees a level of the quantile."""
_VERSION = "trees 1"
DRAWS, EPSILON = 50, 1e-6
"""Draws of the last layer's weights, and what the public code adds to a standard error."""


def gathered(cell: Cell, settings: Settings) -> xr.Dataset:
    """Scores of both attacks on some of a cell's targets, with the log-odds that they are of."""
    game = world(cell, settings)
    targets = list(game.targets)[:OUTSIDE_TARGETS]
    # All of them, as for the cell's other evidence: a model rounds as those trained beside it do.
    ensemble = train(game)
    scores = [
        [_boosted(game, ensemble, target), _public(game, ensemble, target, game.pair(target))]
        for target in targets
    ]
    odds = [_log_odds(ensemble, target, game.pool) for target in targets]
    variables = {
        "score": (("target", "attack", "record"), np.array(scores)),
        "log_odds": (("target", "record"), np.array(odds, dtype=np.float32)),
    }
    labels = {"target": targets, "attack": [BOOSTED, PUBLIC], "record": game.record}
    return evidence.dataset("process", variables, labels, **about(game))


def _log_odds(ensemble: training.Ensemble, model: int, records: Any) -> FloatArray:
    return signals.scaled_logit(ensemble.module(model), np.array(records.x), records.y)[0]


def _boosted(game: World, ensemble: training.Ensemble, target: int) -> FloatArray:
    """QMIA by gradient-boosted trees, fitted on the target's hinges of the population."""
    module, held_out, pool = ensemble.module(target), game.held_out, game.pool
    known, asked = (
        signals.hinge(module, np.array(records.x), records.y)[0] for records in (held_out, pool)
    )
    trees = TREES[game.settings.profile]
    how: dict[str, Any] = {"seed": game.settings.seed, "trees": trees}
    told = (game.digest, game.cell.kind, how, _VERSION, known.tobytes(), asked.tobytes())
    cache, key = Cache(), hashlib.sha256(repr(told).encode()).hexdigest()
    # A target takes minutes on a busy machine; a run that was stopped goes on with the next.
    with cache.lock(key):
        kept = cache.load(key)
        if kept is None:
            held_inputs, inputs = (
                with_label(part.x, part.y, part.n_classes) for part in (held_out, pool)
            )
            fitted = training.fit_qmia(held_inputs, known, "boosted", **how)
            kept = {"score": torch.tensor(fitted.score(inputs, asked))}
            cache.save(key, kept)
    return kept["score"].numpy()


def _public(
    game: World, ensemble: training.Ensemble, target: int, pair: tuple[int, int]
) -> FloatArray:
    """BMIA's p-value as LeakPro computes it, from the one of a pair without the record.

    Log-odds for the hinge, fifty draws, Student's distribution function for the score. The prior
    is the marginal likelihood's, as laplace-torch has it by default.
    """
    log_odds = _log_odds(ensemble, target, game.pool)
    scores = [public_score(log_odds, _draws(game, ensemble, reference)) for reference in pair]
    return np.where(ensemble.membership[pair[0]], scores[1], scores[0])


def public_score(target: FloatArray, drawn: FloatArray) -> FloatArray:
    """Student's distribution function at the t of the draws (draws, records); it saturates."""
    less = target - drawn
    error = less.std(axis=0) / np.sqrt(len(drawn))
    return stats.t.cdf(less.mean(axis=0) / (error + EPSILON), len(drawn) - 1)


def _draws(game: World, ensemble: training.Ensemble, model: int) -> FloatArray:
    """Log-odds of every record under drawn weights of the last layer, (draws, records)."""
    member, module, x = ensemble.membership[model], ensemble.module(model), np.array(game.pool.x)
    layer = curvature.last_layer(module, x)
    fitted = replace(layer, features=layer.features[member], logits=layer.logits[member])
    law = hinge_laws.posterior_of(fitted, game.pool.y[member])
    logits = law.sample(layer.features, DRAWS, game.settings.seed, "mc")
    return signals.scaled_logit(logits, None, game.pool.y)
