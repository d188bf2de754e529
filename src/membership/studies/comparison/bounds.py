"""Lower bounds on privacy levels that stay valid after choosing the attack and its threshold."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from membership import attacks, metrics, privacy
from membership.arrays import BoolArray, FloatArray
from membership.exhibits import Source
from membership.exhibits.tidy import tidy
from membership.studies.comparison import names
from membership.studies.comparison.leaderboard import panel
from membership.studies.comparison.scores import origin, read

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
