"""What noise costs, and which noise a level takes."""

import pytest

from membership.book.studies.gmip import utility
from membership.book.studies.gmip.settings import Recipe


def test_figure_3_costs_accuracy(trained, settings):
    table = utility.figure_3(trained)
    assert len(table) == 2 * 2 * settings.n_levels
    independent = table[(table["noise"] == "independent") & (table["notion"] == "GDP")]
    by_mu = independent.set_index("mu")["value"]
    assert by_mu.iloc[0] < by_mu.iloc[-1]
    # One noise level has one accuracy, whichever notion asked for it.
    own = table[table["noise"] == "independent"]
    assert (own.groupby("tau")["value"].nunique() == 1).all()


def test_shared_noise_costs_sgd_nothing(trained):
    table = utility.shared_noise(trained).set_index(["optimiser", "noise"])["value"]
    assert table["sgd", "shared"] == pytest.approx(table["sgd", "none"], abs=1.0)
    assert table["sgd", "independent"] < table["sgd", "none"] - 5


def test_a_smaller_norm_takes_less_noise_for_the_same_level(gathered, settings):
    one = gathered["clipped-digits"]
    recipe = Recipe(**one.attrs["recipe"])
    assert one.attrs["clip"] < recipe.clip
    assert (one["tau"].sel(norm=utility.MEDIAN) < one["tau"].sel(norm=utility.OWN)).all()
    sigma = one["tau"].sel(norm=utility.MEDIAN).values * recipe.batch_size / one.attrs["clip"]
    for mu, multiplier in zip(one["level"].values, sigma, strict=True):
        assert utility.shown_level("either", 2 / multiplier, recipe) == pytest.approx(mu, rel=1e-3)
    table = utility.by_clipping([one])
    assert set(table["series"].str.split(",").str[0]) == {"GDP", "GMIP"}
    free = table[table["series"].str.startswith("GMIP") & (table["mu"] >= one.attrs["free"])]
    assert (free["tau"] == 0).all()
    costs = utility.clipping_costs([one]).set_index("quantity")["value"]
    assert costs["mu without noise, numerically"] == pytest.approx(one.attrs["free"])
