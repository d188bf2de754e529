"""A report as one HTML page that needs nothing beside it."""

from functools import cache

import jinja2
import numpy as np
import pandas as pd

from membership import markup, metrics
from membership.audit.reading import Scored
from membership.metrics import tpr_interval

A_DECADE = 8
"""Points of a curve in each power of ten, which are among them as the rates of the tables are."""
MOST_CURVES = 6
HEIGHT = 3.2
"""Inches of a figure: enough for three powers of ten to be told apart."""


def html(report: dict, scored: Scored | None, title: str) -> str:
    """The page; everything that comes from a file is escaped."""
    if scored is None:
        name, close = "comparison.html", report["strongest"]
        drawing = _roc(_named(close["roc"], "this attack")) if close else ""
        of_all = _of_all(report["attacks"])
    else:
        name, of_all = "audit.html", ""
        drawing = _roc(curve(scored, report["level"]).assign(series="this attack"))
    shared = {"drawing": drawing, "of_all": of_all, "curves": MOST_CURVES}
    return _templates().get_template(name).render(report=report, title=title, **shared)


def curve(scored: Scored, level: float) -> pd.DataFrame:
    """The ROC curve at rates that logarithmic axes show, with the interval of each point."""
    rates = grid(int((~scored.member).sum()))
    band = np.array([tpr_interval(scored.score, scored.member, r, level) for r in rates])
    tpr = metrics.tpr_on(scored.score, scored.member, rates)
    return pd.DataFrame({"fpr": rates, "tpr": tpr, "low": band[:, 0], "high": band[:, 1]})


def grid(non_members: int) -> np.ndarray:
    """False positive rates that logarithmic axes show, from 0.1%, or 0.01% where that is more."""
    decades = 4 if non_members > 1000 else 3
    return np.unique(np.r_[10.0 ** (np.arange(-A_DECADE * decades, 0) / A_DECADE), 0.5, 0.9])


def _named(points: list[dict[str, float]], name: str) -> pd.DataFrame:
    return pd.DataFrame(points).assign(series=name)


def _of_all(attacks: list[dict]) -> str:
    """The curves of the strongest with each kind of references, where there are two attacks."""
    if len(attacks) == 1:
        return ""
    first: dict[str, dict] = {}
    seen = [
        attack for attack in attacks if any(at["tpr"] for at in attack["roc"] if at["fpr"] <= 0.1)
    ]
    for attack in seen or attacks:
        first.setdefault(attack.get("references", attack["name"]), attack)
    shown = [*first.values()][:MOST_CURVES]
    named = [_named(attack["roc"], attack.get("display", attack["name"])) for attack in shown]
    return _roc(pd.concat(named, ignore_index=True))


def _roc(points: pd.DataFrame) -> str:
    """The address of curves on logarithmic axes, with their bands where they have some.

    It holds the whole picture: two that stand in the page itself would share their parts' names.
    """
    # Here and not above: reading a file and refusing it should not wait for matplotlib.
    from membership import plots

    named = points.assign(panel="")
    with plots.style():
        figure = plots.roc_panels(named, floor=float(points["fpr"].min()))
        figure.set_size_inches(figure.get_figwidth(), HEIGHT)
        drawn = plots.save_bytes(figure, "svg")
    return markup.embedded("svg+xml", drawn)


def _percent(rate: float) -> str:
    # More digits of what is about 0 would look exact.
    return "<0.01%" if 0 < rate < 1e-4 else f"{100 * rate:.3g}%"


def _left_out(attacks: list[dict]) -> list[tuple[str, str]]:
    """Attacks that take the same, together, and what that is."""
    names: dict[str, list[str]] = {}
    for attack in attacks:
        names.setdefault(attack["takes"], []).append(attack["display"])
    return [(", ".join(shown), takes) for takes, shown in names.items()]


@cache
def _templates() -> jinja2.Environment:
    environment = markup.templates("membership.audit")
    environment.filters["percent"] = _percent
    environment.filters["left_out"] = _left_out
    environment.filters["number"] = lambda value: f"{value:.3f}"
    return environment
