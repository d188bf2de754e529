"""A report as one HTML page that needs nothing beside it."""

from functools import cache

import jinja2
import numpy as np
import pandas as pd

from membership import metrics
from membership.audit.reading import Scored
from membership.metrics import tpr_interval

POINTS = 25
MOST_CURVES = 6


def html(report: dict, scored: Scored | None, title: str) -> str:
    """The page; everything that comes from a file is escaped."""
    if scored is None:
        name, close = "comparison.html", report["strongest"]
        drawing = _roc(_named(close["roc"], "this attack")) if close else ""
        of_all = _of_all(report["attacks"])
    else:
        name, of_all = "audit.html", ""
        drawing = _roc(curve(scored, report["level"]).assign(series="this attack"))
    given = {"drawing": drawing, "of_all": of_all, "curves": MOST_CURVES}
    return _templates().get_template(name).render(report=report, title=title, **given)


def curve(scored: Scored, level: float) -> pd.DataFrame:
    """The ROC curve at rates that logarithmic axes show, with the interval of each point."""
    rates = grid(int((~scored.member).sum()))
    band = np.array([tpr_interval(scored.score, scored.member, r, level) for r in rates])
    tpr = metrics.tpr_on(scored.score, scored.member, rates)
    return pd.DataFrame({"fpr": rates, "tpr": tpr, "low": band[:, 0], "high": band[:, 1]})


def grid(non_members: int) -> np.ndarray:
    """False positive rates that logarithmic axes show, from the least that can be told from 0."""
    floor = max(1e-4, 1 / non_members)
    between = np.logspace(np.log10(floor), 0, POINTS)[1:-1]
    return np.unique(np.r_[floor, between, 0.5, 0.9])


def _named(points: list[dict[str, float]], name: str) -> pd.DataFrame:
    return pd.DataFrame(points).assign(series=name)


def _of_all(attacks: list[dict]) -> str:
    """The curves of the strongest attacks, as many as can be told apart, where there are two."""
    if len(attacks) == 1:
        return ""
    shown = [_named(one["roc"], one.get("display", one["name"])) for one in attacks[:MOST_CURVES]]
    return _roc(pd.concat(shown, ignore_index=True))


def _roc(points: pd.DataFrame) -> str:
    """Curves on logarithmic axes, with their bands where they have some, as SVG."""
    # Here and not above: reading a file and refusing it should not wait for matplotlib.
    from membership import plots

    named = points.assign(panel="")
    with plots.style():
        figure = plots.roc_panels(named, floor=float(points["fpr"].min()))
        drawn = plots.save_bytes(figure, "svg").decode()
    return drawn[drawn.index("<svg") :]


@cache
def _templates() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("membership.audit"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["percent"] = lambda rate: f"{100 * rate:.3g}%"
    environment.filters["number"] = lambda value: f"{value:.3f}"
    return environment
