import numpy as np
import pytest
import torch
from torch import nn

from membership import attacks, curvature, models
from membership.errors import InputError


def cross_entropy(output, y):
    return nn.functional.cross_entropy(output, y, reduction="none")


@pytest.fixture
def problem():
    torch.manual_seed(0)
    model = models.mlp(6, (5,), 3)
    x, y = torch.randn(40, 6), torch.randint(0, 3, (40,))
    return model, cross_entropy, (x[:30], y[:30]), (x[20:], y[20:]), np.arange(20, 40) < 30


def residuals(problem, weight_decay, convention="paper"):
    """R_0 of each queried record and its gradient, in loops."""
    model, loss, train, query, member = problem
    mean = curvature.per_record_gradients(model, loss, *train).mean(axis=0)
    own = curvature.per_record_gradients(model, loss, *query)
    n = len(train[0])
    w = torch.nn.utils.parameters_to_vector(model.parameters()).detach().double().numpy()
    rows = []
    for g, m in zip(own, member, strict=True):
        others = mean
        if m:
            others = (n * mean - g) / (n - 1) if convention == "authors" else mean - g / n
        rows.append(others + weight_decay * w)
    return np.array(rows), own


@pytest.mark.parametrize("convention", ["paper", "authors"])
@pytest.mark.parametrize("weight_decay", [0.0, 0.03])
def test_each_statistic_is_its_formula(problem, weight_decay, convention):
    r, g = residuals(problem, weight_decay, convention)
    expected = {
        "norm": [a @ a - (a + b / 30) @ (a + b / 30) for a, b in zip(r, g, strict=True)],
        "product": [-a @ b for a, b in zip(r, g, strict=True)],
        "cosine": [
            -a @ b / np.linalg.norm(a) / np.linalg.norm(b) for a, b in zip(r, g, strict=True)
        ],
    }
    for statistic, values in expected.items():
        ours = attacks.residual(*problem, weight_decay, statistic, convention)
        np.testing.assert_allclose(ours, values, rtol=1e-9, atol=1e-13)


def test_the_basis_does_not_matter(problem):
    model, loss, train, query, member = problem
    spectrum = curvature.spectrum(model, loss, *train)
    view = curvature.white_box_view(model, loss, train, query, spectrum)
    forms = attacks.quadratic_forms(view, spectrum.values, 0.03, "identity")
    for knowledge in ("leave-one-out", "everyone", "everyone-less-own"):
        for statistic in ("norm", "product"):
            options = {"statistic": statistic, "knowledge": knowledge}
            np.testing.assert_allclose(
                attacks.residual_from_forms(forms, member, view.n_train, **options),
                attacks.residual(*problem, 0.03, **options),
                rtol=1e-8,
                atol=1e-13,
            )


def test_the_mask_decides_only_what_it_says(problem):
    *front, member = problem
    truth = attacks.residual(*front, member, 0.03)
    everyone = attacks.residual(*front, ~member, 0.03, knowledge="everyone")
    less = attacks.residual(*front, ~member, 0.03, knowledge="everyone-less-own")
    np.testing.assert_allclose(truth, np.where(member, less, everyone), rtol=1e-12)


def test_a_gradient_of_zero_scores_zero(problem):
    model, _, train, query, member = problem

    def flat(output, y):
        return (output * 0.0).sum(1)

    ours = attacks.residual(model, flat, train, query, member, 0.03, "cosine")
    np.testing.assert_array_equal(ours, 0)


def test_bad_input(problem):
    with pytest.raises(
        InputError, match="statistic = 'angle': expected one of norm, product, cosine"
    ):
        attacks.residual(*problem, 0.03, "angle")
    with pytest.raises(InputError, match="weight_decay = -1"):
        attacks.residual(*problem, -1)
    *front, member = problem
    with pytest.raises(InputError, match="query_member has shape"):
        attacks.residual(*front, member[1:], 0.03)
