"""What the posterior gains against how well the networks generalise (Control 16).

One small network is trained on more and more members. Statistics of it are kept and no scores: of
so many queries they would not fit.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy import stats

from membership import attacks, evidence, metrics, training
from membership.attacks.bmia import bmia_from_moments
from membership.book.exhibits.rows import of_error
from membership.book.exhibits.sentences import span
from membership.book.exhibits.tidy import origin, tidy
from membership.book.published import Contrast
from membership.book.studies.bmia import posteriors
from membership.book.studies.bmia.answers import about
from membership.book.studies.bmia.experiment import LABELS, ON_A_CPU, World, some_of, world
from membership.book.studies.bmia.scores import (
    ON_MEMBERS,
    ON_OTHERS,
    Seen,
    accuracies,
    gained_of,
    gains,
    measured,
    rate_name,
)
from membership.book.studies.bmia.settings import Settings
from membership.book.studies.bmia.trained import Trained, train
from membership.signals import loss_of_log_odds

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ASKED = 10_000
"""Queries of a target at most, about half of them members."""
EPOCHS = {"tiny": 10, "quick": 60, "paper": 60}
COSINE = training.TrainingConfig(
    epochs=1,
    batch_size=256,
    learning_rate=0.02,
    momentum=0.9,
    weight_decay=5e-4,
    schedule="cosine",
)
"""By it 25,000 Purchase-like members give 84% on other records."""
PLAIN, BMIA, ATTACK_R, LIRA = "difference", "BMIA", "Attack-R", "LiRA, a variance a record"
"""With one reference each, but LiRA has all."""
TEST = "test accuracy (%)"
RATE, AUC = gained_of(rate_name(0.01)), gained_of("auc(%)")
CORRECTED = "Laplace sd and retraining sd, corrected correlation"
LESS = "at the fewest members less at the most"


def gather(name: str, network: str, settings: Settings) -> xr.Dataset:
    """Rates, AUC and accuracies by target, and how the Laplace deviation is related."""
    trained = train(swept(name, network, settings))
    attacked = [_attacked(trained, t) for t in range(trained.n_targets)]
    reliability = posteriors.identified(trained.answers.hinge[list(trained.references)])
    related = [_related(trained, t, reliability) for t in range(trained.n_targets)]
    value = [[list(rates.values()) for rates in by_attack.values()] for by_attack in attacked]
    return evidence.dataset(
        "measured",
        {
            "value": (("target", "attack", "metric"), np.array(value)),
            "related": (("target", "quantity"), np.array([list(r.values()) for r in related])),
        },
        {
            "attack": list(attacked[0]),
            "metric": list(attacked[0][BMIA]),
            "quantity": list(related[0]),
        },
        **about(trained),
    )


def swept(name: str, network: str, settings: Settings) -> World:
    """A world of some data and network; Purchase-like ones are trained by one recipe."""
    own = {"architecture": network, "epochs": 0}
    game = world(name, settings.model_copy(update=own))
    if game.name not in ON_A_CPU:
        game = replace(game, config=replace(COSINE, epochs=EPOCHS[settings.profile]))
    queries = some_of(settings.seed, len(game.pool), ASKED)
    return replace(game, queries=queries, validation=game.validation[: ASKED // 2])


def _attacked(trained: Trained, target: int) -> dict[str, dict[str, float]]:
    """Rates and AUC of BMIA and of attacks without a posterior."""
    hinge, odds, first = trained.answers.hinge, trained.answers.log_odds, trained.first(target)
    loss, references = loss_of_log_odds(odds[[target, first]]), list(trained.references)
    scores = {
        PLAIN: attacks.difference(hinge[target], hinge[[first]]),
        BMIA: bmia_from_moments(hinge[target], *trained.sampled(first)),
        ATTACK_R: attacks.attack_r(loss[0], loss[1:]),
        LIRA: attacks.lira(odds[target], odds[references], mode="offline", sided="one"),
    }
    return {
        name: {metric: v for metric, [v] in measured([(score, trained.member[target])]).items()}
        for name, score in scores.items()
    }


def _related(trained: Trained, target: int, reliability: float) -> dict[str, float]:
    """The Laplace deviation beside the score and beside retraining; accuracies."""
    over = trained.answers.hinge[list(trained.references)]
    moments = trained.sampled(trained.first(target))
    unseen = trained.held_out.hinge[target] > 0
    members = trained.answers.hinge[target][trained.member[target]] > 0
    return {
        **posteriors.related(over, *moments, reliability),
        ON_OTHERS: 100 * unseen.mean(),
        ON_MEMBERS: 100 * members.mean(),
    }


def control_16(
    datasets: list[Seen], architectures: list[Seen], sweep: list[xr.Dataset]
) -> pd.DataFrame:
    """BMIA's gains over the plain difference by data set and network, and accuracies (Control 16).

    A hinge above 0 is a right answer. Networks other than a data set's own are those of Figure 4,
    and those of the sweep: more and more members, and CIFAR-100.
    """
    listed: list[dict[str, Any]] = []
    known: set[tuple[str, str]] = set()
    for seen in [*datasets, *architectures]:
        named = (seen.label, seen.outputs.attrs["recipe"]["architecture"])
        if named not in known:
            known.add(named)
            listed += _rows(seen.outputs.attrs, _of(seen))
    swept_runs = [(run, _of_sweep(run)) for run in sweep]
    for run, own in swept_runs:
        listed += _rows(run.attrs, own)
    one_design = [(run.attrs, own) for run, own in swept_runs if _design(run) == _design(sweep[0])]
    if len(one_design) > 1:
        listed += _falls(one_design)
    return tidy(listed, origin([*datasets, *sweep], note=_orders(pd.DataFrame(listed))))


def control_16_drawn(table: pd.DataFrame) -> "Figure":
    """Control 16: both gains against the accuracy."""
    # Imported here: who gathers evidence draws nothing.
    from membership import plots

    panels = {RATE: "TPR at 1% FPR gained (points)", AUC: "AUC gained (points)"}
    shown = table[table["metric"].isin(panels)]
    simulated = shown["dataset"] == LABELS["purchase_like"]
    own = simulated & (shown["network"] == "mlp-32")
    series = (
        shown["dataset"]
        .mask(simulated, "Purchase-like, other networks")
        .mask(own, "Purchase-like, mlp-32")
    )
    panel = shown["metric"].map(panels)
    return plots.lines_with_intervals(
        shown.assign(series=series, panel=panel).sort_values(TEST),
        x=TEST,
        by="series",
        panel="panel",
        x_label="accuracy on other records (%)",
    )


def control_16_said(table: pd.DataFrame) -> str:
    """With how many networks the rate at 1% gains clearly, and how good the networks are."""
    rows = table[table["metric"] == RATE]
    clear, right = rows["low"] > 0, rows[TEST]
    sentence = f"At 1% false positives {clear.sum()} of {len(rows)} networks gain clearly."
    sides = {"These": clear, "the others": ~clear}
    clauses = [f"{who} on {span(right[at])}" for who, at in sides.items() if at.any()]
    words = ", ".join(clauses).replace(" on ", " are right on ", 1)
    return f"{sentence} {words[0].upper()}{words[1:]} of new records."


def _orders(table: pd.DataFrame) -> str:
    """How the networks' gains at 1% are ordered by the accuracy and by each guess at a cause."""
    keys = ["dataset", "network", "members"]
    wide = table.pivot_table(index=keys, columns="metric", values="value")
    correlations = []
    for name in (ON_OTHERS, posteriors.SD_AND_SCORE, CORRECTED):
        pairs = wide.reindex(columns=[name, RATE]).dropna()
        if len(pairs) > 2:
            rank = stats.spearmanr(pairs[name], pairs[RATE]).statistic
            correlations.append(f"{name} {rank:.2f} ({len(pairs)} networks)")
    if not correlations:
        return ""
    sentence = f"Rank correlation of the gain at 1% FPR with: {'; '.join(correlations)}."
    if CORRECTED in wide:
        sentence += " Without an interval: above 1, the reliability in it is underestimated."
    return sentence


def _key_of(attrs: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    return {
        "dataset": attrs["set"],
        "network": attrs["recipe"]["architecture"],
        "members": int(attrs["recipe"]["members"]),
        TEST: float(np.mean(own[ON_OTHERS])),
    }


def _rows(attrs: dict[str, Any], own: dict[str, Any]) -> list[dict[str, Any]]:
    key = _key_of(attrs, own)
    rows = [
        {**key, "metric": name, **metrics.summary(values)}
        for name, values in own.items()
        if not np.isnan(values).any()
    ]
    for row in rows:
        if row["metric"] == CORRECTED:
            # The evidence of the sweep lacks the reliability's error, so that none is whole.
            row |= dict.fromkeys(("low", "high", "standard_error"), np.nan)
    return rows


def _of(seen: Seen) -> dict[str, Any]:
    hinge, right = posteriors.retrained(seen), accuracies(seen)
    reliability = posteriors.identified(hinge)
    laws = [seen.moments(seen.first(t)) for t in seen.targets]
    related = pd.DataFrame([posteriors.related(hinge, *law, reliability) for law in laws])
    return {
        **gains(seen.attack("bmia"), seen.attack("difference")),
        ON_OTHERS: right[ON_OTHERS],
        ON_MEMBERS: right[ON_MEMBERS],
        posteriors.SD_AND_SCORE: related[posteriors.SD_AND_SCORE].tolist(),
        CORRECTED: related[posteriors.CORRECTED].tolist(),
    }


def _of_sweep(run: xr.Dataset) -> dict[str, Any]:
    """The same from statistics that the evidence has, and other attacks less BMIA."""
    value = {str(name): run["value"].sel(attack=name).values.T for name in run["attack"].values}
    statistics = [str(name) for name in run["metric"].values]
    gained = value[BMIA] - value[PLAIN]
    related = {str(n): run["related"].sel(quantity=n).values for n in run["quantity"].values}
    return {
        **{gained_of(m): gain for m, gain in zip(statistics, gained, strict=True)},
        ON_OTHERS: related[ON_OTHERS],
        ON_MEMBERS: related[ON_MEMBERS],
        posteriors.SD_AND_SCORE: related[posteriors.SD_AND_SCORE],
        CORRECTED: related[posteriors.CORRECTED],
        **{
            f"{m}, {name} less BMIA": less
            for name in (ATTACK_R, LIRA)
            for m, less in zip(statistics, value[name] - value[BMIA], strict=True)
        },
    }


def _design(run: xr.Dataset) -> tuple[str, dict[str, Any]]:
    """The data and the recipe but for the number of members."""
    recipe = {k: v for k, v in run.attrs["recipe"].items() if k != "members"}
    return run.attrs["set"], recipe


def _falls(sweep: list[tuple[dict[str, Any], dict[str, Any]]]) -> list[dict[str, Any]]:
    """What the gains with the fewest members have more than those with the most."""
    ordered = sorted(sweep, key=lambda entry: entry[0]["recipe"]["members"])
    (attrs, fewest), (_, most) = ordered[0], ordered[-1]
    listed = []
    for metric in (RATE, AUC):
        first, second = (Contrast.of_units(own[metric], metric) for own in (fewest, most))
        less = first.less(second)
        key = {**_key_of(attrs, fewest), "metric": f"{metric}, {LESS}"}
        numbers = less.difference, less.standard_error, len(fewest[metric])
        listed.append({**key, **of_error(*numbers, less.degrees_of_freedom)})
    return listed
