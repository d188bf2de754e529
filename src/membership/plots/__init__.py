"""The one visual style, and the kinds of figure drawn in it."""

from membership.plots.images import image_grid, optimisation
from membership.plots.intervals import bars_with_intervals, dots_by_row, lines_with_intervals
from membership.plots.look import narrow, save_bytes, style
from membership.plots.panels import clouds, heat_maps, line_panels, scatter, scatter_panels
from membership.plots.rates import (
    accuracy_by_level,
    densities_with_thresholds,
    prediction_bands,
    roc_panels,
    score_histograms,
)

__all__ = [
    "accuracy_by_level",
    "bars_with_intervals",
    "clouds",
    "densities_with_thresholds",
    "dots_by_row",
    "heat_maps",
    "image_grid",
    "line_panels",
    "lines_with_intervals",
    "narrow",
    "optimisation",
    "prediction_bands",
    "roc_panels",
    "save_bytes",
    "scatter",
    "scatter_panels",
    "score_histograms",
    "style",
]
