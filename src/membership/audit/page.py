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
    drawing = "" if scored is None else _roc(scored, report["level"])
    return _templates().get_template(name).render(report=report, title=title, drawing=drawing)


def _roc(scored: Scored, level: float) -> str:
    """The ROC curve on logarithmic axes with its band, as SVG."""
    # Here and not above: reading a file and refusing it should not wait for matplotlib.
    from membership import plots

    floor = max(1e-4, 1 / int((~scored.member).sum()))
    rates = np.unique(np.r_[np.logspace(np.log10(floor), 0, POINTS)[:-1], 0.5, 0.9])
    band = np.array([tpr_interval(scored.score, scored.member, r, level) for r in rates])
    curve = pd.DataFrame(
        {
            "panel": "",
            "series": "this attack",
            "fpr": rates,
            "tpr": metrics.tpr_on(scored.score, scored.member, rates),
            "low": band[:, 0],
            "high": band[:, 1],
        }
    )
    with plots.style():
        drawn = plots.save_bytes(plots.roc_panels(curve, floor=floor), "svg").decode()
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
