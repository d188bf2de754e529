"""The one visual style, and the kinds of figure drawn in it."""

from membership.plots.bars import bars_with_intervals
from membership.plots.distributions import score_histograms
from membership.plots.dots import dots_by_row
from membership.plots.heat import heat_maps
from membership.plots.images import image_grid, optimisation
from membership.plots.lines import lines_with_intervals
from membership.plots.look import narrow, save_bytes, style
from membership.plots.panels import line_panels, scatter_panels
from membership.plots.points import scatter
from membership.plots.predictions import densities_with_thresholds, prediction_bands
from membership.plots.rates import accuracy_by_level, roc_panels

__all__ = [
    "accuracy_by_level",
    "bars_with_intervals",
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
