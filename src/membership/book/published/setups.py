"""Whether a run's set-up is the paper's in what a number depends on."""

import math
from collections.abc import Mapping
from typing import Any

from membership.book.published.tables import notes_of
from membership.errors import InputError

LEAST_FALSE_POSITIVES = 10
_ROUGHLY = 0.01
"""Training sets and sets of reference models that differ by less than this share are alike."""
FACTS = (
    "published",
    "data",
    "members",
    "architecture",
    "networks",
    "reference_models",
    "queried_members",
    "queried_non_members",
    "asked_more",
    "recipe",
    "attacks",
    "paired_targets",
)
"""What a run's set-up may state; ``published``: what the paper calls its data set."""


def setup(chapter: str) -> dict[str, dict[str, Any]]:
    """The set-ups that a paper states, by name.

    Parameters
    ----------
    chapter : str
        Such as ``"iha"``.

    Returns
    -------
    dict
        For each set-up, of `FACTS` those that the paper or its code states; ``recipe_stated``
        (False where the paper leaves out what the number may depend on), ``uses_references``
        (attacks that take reference models) and ``peak`` (metrics at their best threshold).

    Raises
    ------
    InputError
        There are no notes for this chapter.
    """
    listed = notes_of(chapter)["setups"]
    return {
        name: {key: value for key, value in stated.items() if key != "where"}
        for name, stated in listed.items()
    }


def comparability(
    stated: Mapping[str, Any],
    run: Mapping[str, Any],
    *,
    metric: str = "",
    attack: str = "",
    n_reference: int = 0,
    rate: float = math.nan,
) -> list[str]:
    """Why a run's number cannot be set against the published one; empty where it can.

    What only widens the interval (fewer repeats, fewer records asked) is no obstacle, except for
    a rate with fewer than ten expected false positives and for an accuracy at its best threshold.

    Parameters
    ----------
    stated : mapping
        One of `setup`.
    run : mapping
        The same facts of the run: data, members (records a model is trained on), architecture,
        networks, recipe (a mapping), reference_models, queried_members and queried_non_members (a
        target); asked_more, by metric and attack how many non-members are asked where that is not
        queried_non_members; and attacks, a sentence by attack where it is not the paper's. A fact
        that the paper states and the run does not counts as another.
    metric, attack : str
        Whose number it is.
    n_reference : int
        Reference models that the row's attack takes, where the table says so.
    rate : float
        The metric's false positive rate; NaN for other metrics.

    Returns
    -------
    list of str
        Short plain sentences without a full stop.

    Raises
    ------
    InputError
        The run states a fact that is none of `FACTS`.
    """
    unknown = sorted(set(run) - set(FACTS))
    if unknown:
        raise InputError(f"setup states {unknown}; it may state {list(FACTS)}")
    reasons = [_other(name, stated, run) for name in ("data", "architecture", "networks")]
    reasons.append(_training_set(stated, run))
    reasons += _recipe(stated.get("recipe", {}), run.get("recipe", {}))
    if attack in stated.get("uses_references", ()) or n_reference > 0:
        reasons.append(_references(stated, run))
    if metric in stated.get("peak", ()):
        reasons += [
            _queried(name, stated, run) for name in ("queried_members", "queried_non_members")
        ]
    more = run.get("asked_more", {}).get(metric, {})
    queries = more.get(attack, run.get("queried_non_members"))
    reasons.append(_few_false_positives(queries, rate))
    if attack in run.get("attacks", {}):
        reasons.append(f"{attack}: {run['attacks'][attack]}")
    return [reason for reason in reasons if reason]


def _other(name: str, stated: Mapping, run: Mapping) -> str:
    if name not in stated or run.get(name) == stated[name]:
        return ""
    words = {"data": "other data", "architecture": "another network"}.get(name, name)
    return f"{words}: {run.get(name, 'not stated')} instead of {stated[name]}"


def _training_set(stated: Mapping, run: Mapping) -> str:
    paper, own = stated.get("members"), run.get("members", 0)
    if paper is None or abs(own - paper) <= _ROUGHLY * paper:
        return ""
    size = "smaller" if own < paper else "larger"
    return f"a {size} training set: {own:,} records instead of {paper:,}"


def _recipe(stated: Mapping, run: Mapping) -> list[str]:
    return [
        f"another recipe: {name.replace('_', ' ')} {run.get(name, 'not stated')} instead of {value}"
        for name, value in stated.items()
        if run.get(name) != value
    ]


def _references(stated: Mapping, run: Mapping) -> str:
    paper, own = stated.get("reference_models", 0), run.get("reference_models", 0)
    too_few = own < (1 - _ROUGHLY) * paper
    return f"{own} reference models instead of {paper}" if too_few else ""


def _queried(name: str, stated: Mapping, run: Mapping) -> str:
    paper, own = stated.get(name), run.get(name)
    if paper is None or own == paper:
        return ""
    kind = name.removeprefix("queried_").replace("_", "-")
    return f"the best threshold for {own} {kind} instead of {paper}"


def _few_false_positives(queries: int | None, rate: float) -> str:
    if math.isnan(rate) or queries is None:
        return ""
    expected = rate * queries
    if expected >= LEAST_FALSE_POSITIVES - 1e-9:
        return ""
    return (
        f"{expected:.3g} false positives expected of {queries:,} non-members asked; a rate needs "
        f"{LEAST_FALSE_POSITIVES}"
    )
