"""The most influenced query in one dimension."""

import numpy as np
import pytest

from membership.studies.lood import influenced


@pytest.mark.parametrize("place", list(influenced.PLACES.values()))
def test_kl_peaks_at_the_record_and_the_mean_distance_elsewhere(place, settings):
    found = influenced.comparison(place, settings)
    values = found.measure(influenced.GRID[:, None])
    assert influenced.GRID[np.argmax(values)] == pytest.approx(place, abs=0.006)
    assert found.measure(influenced.GRID[:, None], "mean").max() > found.measure(
        np.array([place]), "mean"
    )


@pytest.mark.slow
def test_algorithm_1_finds_the_top_of_the_slope(settings, gathered):
    table = influenced.figure_11(gathered("measured-worst"), settings)
    slope = table[table["panel"] == influenced.PLACE]
    point = slope[slope["series"] == "Algorithm 1"].iloc[0]
    curve = slope[slope["series"] == "gradient at S"]
    assert point["value"] >= curve["value"].max() * (1 - 1e-6)
