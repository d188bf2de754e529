"""Scores from quadratic forms are those from the gradients themselves."""

import itertools

import numpy as np
import pytest
import torch

from membership import attacks, curvature, models

CONVENTIONS = list(itertools.product(("published", "regularised"), ("paper", "authors")))
RECIPE = (0.05, 0.9, 5e-3)
MEMBER = np.arange(20) < 10


@pytest.fixture(scope="module")
def seen():
    torch.manual_seed(0)
    model = models.mlp(4, (3,), 3)
    x, y = torch.randn(40, 4), torch.randint(3, (40,))
    arguments = (model, torch.nn.CrossEntropyLoss(reduction="none"))
    spectrum = curvature.spectrum(*arguments, x, y)
    view = curvature.white_box_view(*arguments, (x, y), (x[10:30], y[10:30]), spectrum)
    return view, spectrum.values


@pytest.mark.parametrize(("stationarity", "convention"), CONVENTIONS)
@pytest.mark.parametrize("knowledge", ["leave-one-out", "everyone", "everyone-less-own"])
def test_iha_from_forms_is_iha_from_gradients(seen, stationarity, convention, knowledge):
    view, values = seen
    others = attacks.others_gradient(view, MEMBER, knowledge, convention)
    expected = attacks.iha_from_view(
        view, others, values, *RECIPE, damping=0.5, stationarity=stationarity
    )
    forms = attacks.quadratic_forms(view, values, RECIPE[2], "damping", 0.5, stationarity)
    found = attacks.iha_from_forms(
        *(forms, view.loss, MEMBER, view.n_train, *RECIPE),
        stationarity=stationarity,
        knowledge=knowledge,
        convention=convention,
    )
    for name in ("score", "i1", "i2", "i3", "i4"):
        np.testing.assert_allclose(
            getattr(found, name), getattr(expected, name), rtol=1e-9, atol=1e-12
        )


@pytest.mark.parametrize("convention", ["paper", "authors"])
@pytest.mark.parametrize("statistic", ["norm", "product"])
def test_the_residual_from_forms_is_that_from_gradients(seen, convention, statistic):
    view, values = seen
    others = attacks.others_gradient(view, MEMBER, "leave-one-out", convention)
    expected = attacks.residual_from_view(view, others, RECIPE[2], statistic)
    forms = attacks.quadratic_forms(view, values, RECIPE[2], "identity")
    found = attacks.residual_from_forms(
        forms, MEMBER, view.n_train, statistic=statistic, convention=convention
    )
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
