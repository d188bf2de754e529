"""Table 2: attacks on small networks, and what thresholds, references and temperature change."""

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.stats import iqr, spearmanr

from membership import attacks, metrics, plots
from membership.book import published
from membership.book.exhibits.rows import of_each, over_units
from membership.book.exhibits.tidy import tidy
from membership.book.studies.bayes_optimal.names import (
    ACCURACY,
    AUC,
    MEMBERS,
    OTHER,
    PEAK,
    SHADOW,
    SHARE,
    SPREAD,
    TEST,
    TRAIN,
    rows_of,
)
from membership.book.studies.bayes_optimal.networks import ReferenceGame, Target
from membership.book.studies.bayes_optimal.splits import GAIN, crossed, random_half
from membership.metrics.rate_names import tpr_column

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FALSE_POSITIVE_RATES = (0.01, 0.001)
PAIRS = (("MALT", SHADOW), ("MALT", "0-1"), ("MAST", "MALT"))
# Whose threshold another accuracy has than the best one.
WHOSE = (("others", OTHER), ("other models", ACCURACY))
KEYS = ["attack", "metric"]
# What a record's score is compared with, by attack.
COMPARED = {
    "0-1": "one threshold for all records",
    "MALT": "one threshold for all records",
    "MAST": "a threshold for each record",
    "shadow attack": "learnt from reference models",
}
# Accuracy beside names found, and what a coin has of each.
PANELS = {
    ACCURACY: ("right decisions (%)", 50.0),
    tpr_column(0.01): ("members found at 1% false positives (%)", 1.0),
}
TAU, RANKS, LEAD = "threshold tau(z)", "MAST and MALT", "MAST less MALT"
FITTED, UNFIT = "networks that fit", "networks that do not fit"
EVERY = "every network a target"
FEWEST, STEP = 5, 3
QUARTILES = (25, 50, 75)
# Two a decade, in nats; what lies beyond falls in the last bin of its side.
BINS = 10.0 ** np.arange(-6, 2, 0.5)


def table_2(game: ReferenceGame) -> pd.DataFrame:
    """Accuracy of 0-1, the shadow attack, MALT and MAST, over the target networks.

    The shadow attack's cut is where its attack models think both equally likely. MALT's threshold
    is the one that separates members from non-members best over the reference models; MAST's is
    each record's own, from the same models (Section 6.3). The last rows are paired by target.
    """
    other = game.attrs["setup"].get("networks", {}).get("attacks", {})
    departures = [f"{attack}: {sentence}" for attack, sentence in other.items()]
    attrs = game.attrs | {"deviations": [*game.attrs["deviations"], *departures]}
    return tidy(over_units(per_target(game), KEYS), attrs)


def per_target(game: ReferenceGame, *, halves: bool = True) -> pd.DataFrame:
    """Every number of Table 2 for each target: columns target, attack, metric, value.

    Without ``halves`` none of those for which half of the target's records choose a threshold.
    """
    rows = []
    for number, target in enumerate(game.targets()):
        half = random_half(np.random.default_rng(number), len(target.member))
        numbers = _of_target(target, half if halves else None)
        rows += rows_of(numbers, target=number)
    return pd.DataFrame(rows)


def _of_target(target: Target, half: np.ndarray | None) -> dict[tuple[str, str], float]:
    """Its numbers, in percent, by attack and metric."""
    member = target.member
    numbers = {
        ("(model)", name): 100 * float(right.mean())
        for name, right in ((TRAIN, target.correct[member]), (TEST, target.correct[~member]))
    }
    for attack, (score, cut) in _scores(target).items():
        numbers[attack, ACCURACY] = 100 * metrics.balanced_accuracy(score, member, threshold=cut)
        numbers[attack, PEAK] = 100 * metrics.balanced_accuracy(score, member)
        if half is not None:
            numbers[attack, OTHER] = crossed(score, member, half)
        numbers |= _of_curve(attack, score, member)
    for first, second in PAIRS:
        for name in [name for attack, name in numbers if attack == second]:
            less = numbers[first, name] - numbers[second, name]
            numbers[f"{first} less {second}", name] = less
    for attack, (whose, name) in itertools.product(("MALT", "MAST"), () if half is None else WHOSE):
        gain = numbers[attack, PEAK] - numbers[attack, name]
        numbers[f"{attack}, {GAIN} {whose}", ACCURACY] = gain
    return numbers


def _scores(target: Target) -> dict[str, tuple[np.ndarray, float]]:
    """The score of each attack, and from where on it says "member"."""
    threshold = metrics.best_threshold(
        attacks.malt(target.reference_loss.ravel()), target.reference_member.ravel()
    )
    scores = {"0-1": (attacks.zero_one(target.correct), 0.5)}
    if target.shadow is not None:
        scores[SHADOW] = (attacks.learned(target.shadow), 0.5)
    return scores | {
        "MALT": (attacks.malt(target.loss), threshold),
        "MAST": (target.mast("best-separating"), 0.0),
    }


def judged(table: pd.DataFrame) -> pd.DataFrame:
    """Table 2 beside the published numbers, each with its verdict."""
    reference = published.reference("bayes_optimal_table2")
    return published.compare(table, reference, on=["attack", "metric"])


def judged_on_imagenet(table: pd.DataFrame) -> pd.DataFrame:
    """Table 3, which the recipe makes, beside the published numbers."""
    reference = published.reference("bayes_optimal_table3")
    return published.compare(table, reference, on=["model", "attack", "metric"])


def table_2_drawn(table: pd.DataFrame) -> "Figure":
    """Table 2: how often each attack is right, beside how many members it can name."""
    shown = table[table["attack"].isin(COMPARED) & table["metric"].isin(PANELS)]
    order = list(COMPARED)
    shown = shown.sort_values("attack", key=lambda attack: attack.map(order.index), kind="stable")
    return plots.dots_by_row(
        shown.assign(
            compared=shown["attack"].map(COMPARED),
            panel=shown["metric"].map(lambda metric: PANELS[metric][0]),
        ),
        "attack",
        by="compared",
        panel="panel",
        label="share (%)",
        baseline=dict(PANELS.values()),
        baseline_label="a coin",
        stems=True,
        told=".1f",
    )


def averages(game: ReferenceGame, gaussian: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """MAST by how it aggregates the reference losses: log-mean-exp, mean, best separation.

    The first two use only reference models that did not see the record, the last those that did
    as well: it knows more. Section 5.3 does not say over which models its mean is taken, so that
    over all stands beside.
    """
    names = {
        "log-mean-exp": "MAST, log-mean-exp (OUT)",
        "mean": "MAST, mean (OUT)",
        "best-separating": "MAST, best separating (IN and OUT)",
    }
    rows = []
    for target in game.targets():
        scores = {
            "MALT": attacks.malt(target.loss),
            **{name: target.mast(tau) for tau, name in names.items()},
            "MAST, mean (IN and OUT)": attacks.mast(target.loss, target.reference_loss, tau="mean"),
        }
        for name, score in scores.items():
            rows += rows_of(_of_curve(name, score, target.member), game="networks")
    networks = pd.DataFrame(over_units(pd.DataFrame(rows), ["game", *KEYS]))
    played = [
        own.assign(game=name, attack="MAST, " + own["tau"])[networks.columns]
        for name, own in gaussian.items()
    ]
    return tidy([networks, *played], game.attrs)


def _of_curve(attack: str, score: np.ndarray, member: np.ndarray) -> dict[tuple[str, str], float]:
    """AUC and the low rates, in percent."""
    rates = {
        tpr_column(rate): metrics.tpr_at_fpr(score, member, rate) for rate in FALSE_POSITIVE_RATES
    }
    numbers = {AUC: metrics.auc(score, member), **rates}
    return {(attack, name): 100 * value for name, value in numbers.items()}


def by_references(game: ReferenceGame) -> pd.DataFrame:
    """MALT and MAST by the number of references, MAST's best cut, and the spread of thresholds.

    "MAST less MALT" is paired by target. With all references there are quartiles, over records, of
    MAST's thresholds and of the losses. Where some networks do not fit their members, the last rows
    say what either kind is like, and are Table 2 without those, as targets and as references; its
    shadow attack learnt from all. Where the evidence has more networks than targets, rows before
    those have every network as a target.
    """
    rows = over_units(by_count(game), ["references", *KEYS])
    return tidy([*rows, *_every_network(game), *_without_unfit(game)], game.attrs)


def by_references_drawn(table: pd.DataFrame) -> "Figure":
    """Control 12: both accuracies of MALT and MAST by the number of reference models."""
    shown = table[table["attack"].isin(["MALT", "MAST"]) & (table["metric"] != AUC)]
    return plots.lines_with_intervals(
        shown, "references", panel="metric", same_scale=True, x_label="reference models"
    )


def _every_network(game: ReferenceGame) -> list[dict]:
    """Table 2 with every network as a target in turn; the shadow attack has not asked them all."""
    count = len(game.loss)
    if len(game.attacked) == count:
        return []
    whole = replace(game, attacked=tuple(range(count)), shadow=None)
    return _table_2_of(whole, EVERY)


def _table_2_of(game: ReferenceGame, name: str) -> list[dict]:
    table = per_target(game, halves=False)
    named = table.assign(references=len(game.loss) - 1, attack=table["attack"] + f", {name}")
    return over_units(named, ["references", *KEYS])


def _without_unfit(game: ReferenceGame) -> list[dict]:
    """Table 2 on the networks that fit, where that is another table and has two targets."""
    fitted = game.fitted()
    count = len(fitted.loss)
    if count == len(game.loss) or len(fitted.attacked) < 2 or count <= FEWEST:
        return []
    rows = []
    for name, kind in ((FITTED, game.fits), (UNFIT, ~game.fits)):
        key = {"references": len(game.loss) - 1, "attack": name}
        own = pd.DataFrame([_described(game, row) for row in np.flatnonzero(kind)])
        if len(own) > 1:
            rows += of_each(key, "metric", dict(own.items()))
        else:
            rows += [key | {"metric": m} | metrics.exactly(v) for m, v in own.iloc[0].items()]
    return rows + _table_2_of(fitted, FITTED)


def _described(game: ReferenceGame, row: int) -> dict[str, float]:
    """Accuracies of one network, and its losses on its members and on the other records."""
    member, correct, loss = game.member[row], game.correct[row], game.loss[row]
    return {
        TRAIN: 100 * float(correct[member].mean()),
        TEST: 100 * float(correct[~member].mean()),
        "median loss of members(nats)": float(np.median(loss[member])),
        "mean loss of members(nats)": float(loss[member].mean()),
        "mean loss of others(nats)": float(loss[~member].mean()),
    }


def by_count(game: ReferenceGame) -> pd.DataFrame:
    """Every number for each target: references, target, attack, metric, value."""
    most = len(game.loss) - 1
    rows = []
    for number, target in enumerate(game.targets()):
        for count in (*range(FEWEST, most, STEP), most):
            key = {"references": count, "target": number}
            rows += [key | row for row in _attacks(_first(target, count))]
        key = {"references": most, "target": number}
        rows += [key | row for row in _thresholds(target)]
    return pd.DataFrame(rows)


def histograms(game: ReferenceGame) -> pd.DataFrame:
    """How MAST's thresholds, with all references, and the losses spread over bins of nats.

    And how many of the records of a bin of losses are members, where every target has some.
    """
    rows = []
    for target in game.targets():
        tau = target.mast("best-separating") + target.loss
        for name, values in ((TAU, tau), ("loss", target.loss)):
            rows += _binned(name, SHARE, 100 * _counts(values) / len(values))
        total, members = _counts(target.loss), _counts(target.loss[target.member])
        with np.errstate(invalid="ignore"):
            rows += _binned("loss", MEMBERS, 100 * members / total)
    table = pd.DataFrame(rows)
    keys = ["metric", "quantity", "nats"]
    whole = table.groupby(keys)["value"].transform(lambda values: values.notna().all())
    return tidy(over_units(table[whole], keys), game.attrs)


def histograms_said(table: pd.DataFrame) -> str:
    """Whether the least losses are the members'."""
    members = table[table["metric"] == MEMBERS].sort_values("nats")
    most, least = members.loc[members["value"].idxmax()], members.iloc[0]
    start, last = "Of the records with", f"the least loss {least['value']:.0f}%"
    if most["nats"] == least["nats"]:
        return f"{start} {last} are members, the most of all."
    peak = f"a loss about {most['nats']:.1g} nats {most['value']:.0f}% are members"
    return f"{start} {peak}, of those with {last}."


def histograms_described(table: pd.DataFrame) -> str:
    """How far the two histograms overlap, and where the members are."""
    shares = table[table["metric"] == SHARE]
    overlap = shares.pivot_table(index="nats", columns="quantity", values="value").min(axis=1)
    return (
        "Two panels on one logarithmic axis of nats. Left: histograms of MAST's thresholds and of "
        f"the target's losses as lines; {overlap.sum():.0f}% of their areas overlap. Right: the "
        f"share of members among the records of each loss. {histograms_said(table)}"
    )


def _counts(values: np.ndarray) -> np.ndarray:
    return np.histogram(np.clip(values, BINS[0], BINS[-1]), BINS)[0]


def _binned(quantity: str, metric: str, values: np.ndarray) -> list[dict]:
    middle = np.sqrt(BINS[1:] * BINS[:-1])
    key = {"quantity": quantity, "metric": metric}
    return [key | {"nats": x, "value": y} for x, y in zip(middle, values, strict=True)]


def _attacks(target: Target) -> list[dict]:
    """MALT and MAST as in Table 2, each with the best cut for the records asked beside it."""
    shown = itertools.product(("MALT", "MAST", LEAD), (ACCURACY, PEAK, AUC))
    numbers = _of_target(target, None)
    return rows_of({name: numbers[name] for name in shown})


def _thresholds(target: Target) -> list[dict]:
    mast = target.mast("best-separating")
    tau = mast + target.loss
    width = iqr(target.loss)
    numbers = {
        (RANKS, "rank_correlation"): float(spearmanr(mast, -target.loss)[0]),
        (TAU, SPREAD): float(iqr(tau) / width) if width > 0 else np.inf,
    }
    for name, values in ((TAU, tau), ("loss", target.loss)):
        for q in QUARTILES:
            numbers[name, f"quartile_{q}(nats)"] = float(np.percentile(values, q))
    return rows_of(numbers)


def _first(target: Target, count: int) -> Target:
    """The same target with its first reference models, on records that some of them saw."""
    seen = target.reference_member[:count]
    kept = seen.any(0) & ~seen.all(0)
    return Target(
        target.loss[kept],
        target.correct[kept],
        target.member[kept],
        target.reference_loss[:count, kept],
        seen[:, kept],
    )
