"""A report as one HTML page that needs nothing beside it."""

from functools import cache

import jinja2
import numpy as np
import pandas as pd

from membership import metrics
from membership.audit.reading import Scored
from membership.metrics import tpr_interval

POINTS = 25


def html(report: dict, scored: Scored | None, title: str) -> str:
    """The page; everything that comes from a file is escaped."""
    name = "comparison.html" if scored is None else "audit.html"
    if scored is not None:
        drawing = _roc(curve(scored, report["level"]))
    else:
        drawing = _roc(pd.DataFrame(report["strongest"]["roc"])) if report["strongest"] else ""
    return _templates().get_template(name).render(report=report, title=title, drawing=drawing)


def curve(scored: Scored, level: float) -> pd.DataFrame:
    """The ROC curve at rates that logarithmic axes show, with the interval of each point."""
    floor = max(1e-4, 1 / int((~scored.member).sum()))
    rates = np.unique(np.r_[np.logspace(np.log10(floor), 0, POINTS)[:-1], 0.5, 0.9])
    band = np.array([tpr_interval(scored.score, scored.member, r, level) for r in rates])
    tpr = metrics.tpr_on(scored.score, scored.member, rates)
    return pd.DataFrame({"fpr": rates, "tpr": tpr, "low": band[:, 0], "high": band[:, 1]})


def _roc(points: pd.DataFrame) -> str:
    """The curve on logarithmic axes with its band, as SVG."""
    # Here and not above: reading a file and refusing it should not wait for matplotlib.
    from membership import plots

    named = points.assign(panel="", series="this attack")
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
