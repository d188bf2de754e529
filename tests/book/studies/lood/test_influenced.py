"""The most influenced query in one dimension, and what influence is worth to an auditor."""

import numpy as np
import pytest
from scipy import stats

from membership.book.exhibits import files
from membership.book.studies.lood import influenced


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


def test_on_the_networks_of_figure_1_the_mean_distance_ranks_no_worse_than_kl():
    """What auditors are told: KL's lead over the mean distance is the process's alone."""
    table = files.load("lood-fig-1", "paper")[0]
    of = {name: part.set_index("record") for name, part in table.groupby("series")}
    auc = of["networks"]["y"]
    ranks = {
        "KL": of["networks"]["x"].rank(),
        "distance": of["mean-distance LOOD"]["x"].loc[auc.index].rank(),
    }
    rng, apart = np.random.default_rng(0), []
    for _ in range(500):
        rows = rng.integers(len(auc), size=len(auc))
        found = [stats.spearmanr(rank.iloc[rows], auc.iloc[rows])[0] for rank in ranks.values()]
        apart.append(found[0] - found[1])
    assert np.quantile(apart, 0.025) < 0 < np.quantile(apart, 0.975)
