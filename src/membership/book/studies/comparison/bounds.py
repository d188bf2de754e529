"""What is proven whichever attack is chosen, and what is found where there is nothing to find."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from membership import attacks, metrics, plots, privacy
from membership.arrays import BoolArray, FloatArray
from membership.book.exhibits import Source
from membership.book.exhibits.rows import share
from membership.book.exhibits.tidy import tidy
from membership.book.published.rows import row_at
from membership.book.studies.comparison import names
from membership.book.studies.comparison.leaderboard import panel
from membership.book.studies.comparison.names import in_words, picked
from membership.book.studies.comparison.scores import CellEvidence, Table, origin, read, typical

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DELTA = 1e-5
BOUND_MU, BOUND_EPSILON = "lower bound on mu", "lower bound on epsilon"
STATED_MU, STATED_EPSILON, MEMBERSHIP_MU = (
    "stated mu (differential privacy)",
    "stated epsilon (differential privacy)",
    "stated mu (membership inference)",
)


def lower_bounds(source: Source) -> pd.DataFrame:
    """The best attack's bounds in every cell, and beside the private target's the stated levels."""
    cells, rows = read(source), []
    for evidence in cells:
        chosen, numbers = best(evidence.table.score, evidence.table.member)
        key = {**evidence.key, "attack": attacks.registry()[chosen].display}
        numbers |= stated(evidence.outputs.attrs["recipe"])
        for metric, value in numbers.items():
            rows.append({**key, "metric": metric, **metrics.exactly(value)})
    return tidy(rows, origin(cells, note=_NOTE))


def lower_bounds_said(table: pd.DataFrame) -> str:
    """The private cell's bound beside its level, and the largest bound."""
    bound = picked(table, BOUND_MU)
    top = bound.loc[bound["value"].idxmax()]
    largest = f"The largest bound is mu {top['value']:.2f} ({top['dataset']}, {top['target']})."
    stated = picked(table, STATED_MU)
    if stated.empty:
        return largest
    private = stated.iloc[0]
    own = row_at(bound, dataset=private["dataset"], target=private["target"])["value"]
    return (
        f"On the private target the attacks prove mu {own:.2f}, where {private['value']:.2f} is "
        f"stated. {largest}"
    )


def lower_bounds_drawn(table: pd.DataFrame) -> "Figure":
    """Table 5: bounds on mu beside the levels that are stated."""
    shown = table[table["metric"].str.contains(" mu")]
    shown = shown.assign(cell=in_words(shown))
    return plots.dots_by_row(shown, "cell", by="metric", label="mu", wide=True)


_NOTE = (
    "The attack is chosen on one half of the targets, and the bounds are counted on the other, for "
    "all thresholds at once; 95% confidence for pairs of target and record as independent trials."
)


def best(score: Mapping[str, FloatArray], member: BoolArray) -> tuple[str, dict[str, float]]:
    """Which attack proves most on half of the targets, and what it proves on the others.

    Attacks of all panels but those of another game.
    """
    known = attacks.registry()
    eligible = [name for name in score if panel(known[name]) != names.ANOTHER]
    half = len(member) // 2
    chosen = max(
        eligible,
        key=lambda name: privacy.mu_lower_bound(*pooled(score[name][:half], member[:half])),
    )
    rest = pooled(score[chosen][half:], member[half:])
    return chosen, {
        BOUND_MU: privacy.mu_lower_bound(*rest),
        BOUND_EPSILON: privacy.epsilon_lower_bound(*rest, delta=DELTA),
    }


def pooled(score: FloatArray, member: BoolArray) -> tuple[FloatArray, BoolArray]:
    """All targets' records as one list."""
    return score.ravel(), member.ravel()


def stated(recipe: Mapping[str, Any]) -> dict[str, float]:
    """The levels of the private target's training; none for others.

    A record is in one batch of each epoch, so that as many steps see it as there are epochs,
    whatever the order: mu sqrt(epochs), without amplification by sampling. A record that is no
    member is replaced by another: the clipped mean moves by at most 2 C / n.
    """
    if "privacy" not in recipe:
        return {}
    own, n, epochs = recipe["privacy"], recipe["batch_size"], recipe["epochs"]
    step = privacy.gdp_mu_step(n, own["noise"], own["clip"])
    mu = privacy.composed_mu(step, epochs)
    d = (recipe["features"] + 1) * recipe["classes"]
    membership = privacy.mip_mu_step(d, n, d, own["noise"], own["clip"])
    return {
        STATED_MU: mu,
        STATED_EPSILON: privacy.gaussian_epsilon(mu, DELTA),
        MEMBERSHIP_MU: privacy.composed_mu(membership, epochs),
    }


PERMUTED, UNTRAINED, BLIND = (
    "membership permuted",
    "models never trained",
    "a score that never sees the model",
)
EXCLUDED = "95% intervals of the AUC without 0.5 (%)"
CHOSEN = ("loss", "attack-r", "lira", "rmia", "bmia-mixture")
PERMUTATIONS = 20


def null_rows(source: Source) -> pd.DataFrame:
    """Shares of intervals that exclude one half, with exact limits."""
    cells, rows = typical(source), []
    rng = np.random.default_rng([source.settings.seed, 43])
    for name in CHOSEN:
        exclusions = [
            _permuted(evidence.table, name, rng)
            for evidence in cells
            if name in evidence.table.score
        ]
        rows.append(_row(PERMUTED, attacks.registry()[name].display, np.concatenate(exclusions)))
    table = _untrained(source)
    for name in [name for name in CHOSEN if name in table.score]:
        exclusions = excluded(zip(table.score[name], table.member, strict=True))
        rows.append(_row(UNTRAINED, attacks.registry()[name].display, exclusions))
    blind = [excluded(_blind(evidence)) for evidence in cells]
    rows.append(_row(BLIND, "mean log-odds of the references", np.concatenate(blind)))
    return tidy(rows, origin(cells))


def null_rows_said(table: pd.DataFrame) -> str:
    """The range of shares, and what was meant."""
    rows = table[table["n_repeats"] >= 20]
    rows = table if rows.empty else rows
    return (
        f"Intervals of 95% that leave one half out: {rows['value'].min():.1f}% to "
        f"{rows['value'].max():.1f}%, where 5% are meant to."
    )


def excluded(pairs: Iterable[tuple[FloatArray, BoolArray]]) -> BoolArray:
    """Whether the interval of each pair of scores and truth leaves one half out."""
    ends = [metrics.auc_interval(score, member) for score, member in pairs]
    return np.array([not low <= 0.5 <= high for low, high in ends])


def _permuted(table: Table, name: str, rng: np.random.Generator) -> BoolArray:
    pairs = zip(table.score[name], table.member, strict=True)
    return excluded(
        (score, rng.permutation(member)) for score, member in pairs for _ in range(PERMUTATIONS)
    )


def _untrained(source: Source) -> Table:
    """The attacks on models at their random starts, which no record has touched."""
    outputs = names.with_hinge(source.evidence(names.UNTRAINED))
    ordinary = ~outputs["canary"].values.astype(bool)
    table = attacks.score_table(outputs)
    return Table(table.score, table.member).on(ordinary)


def _blind(evidence: CellEvidence) -> list[tuple[FloatArray, BoolArray]]:
    """What the references say of a record, of each target's members."""
    odds = evidence.outputs["log_odds"].values[:, ~evidence.canary].astype(float)
    mean = odds[evidence.references].mean(axis=0)
    return [(mean, evidence.member[target]) for target in evidence.targets]


def _row(null: str, attack: str, exclusions: BoolArray) -> dict[str, Any]:
    """A share in percent with Clopper and Pearson's limits."""
    key = {"null": null, "attack": attack, "metric": EXCLUDED}
    return {**key, **share(exclusions), "n_repeats": int(exclusions.size)}
