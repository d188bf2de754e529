import numpy as np
import pytest

from membership import attacks, curvature
from tests.attacks.networks import KNOWLEDGE, Seen, cross_entropy, problem


@pytest.fixture(scope="module")
def seen():
    model, train, query, member = problem(n=30, hidden=(5,))
    arguments = (model, cross_entropy, train, query)
    return arguments, member, Seen(model, train, query)


@pytest.mark.parametrize("convention", ["paper", "authors"])
@pytest.mark.parametrize("weight_decay", [0.0, 0.03])
@pytest.mark.parametrize("knowledge", KNOWLEDGE)
def test_each_statistic_is_its_formula(seen, weight_decay, convention, knowledge):
    arguments, member, reference = seen
    pairs = list(reference.pairs(member, knowledge, convention, weight_decay))
    length = np.linalg.norm
    expected = {
        "norm": [rest @ rest - (rest + g / 30) @ (rest + g / 30) for g, rest in pairs],
        "product": [-rest @ g for g, rest in pairs],
        "cosine": [-rest @ g / length(rest) / length(g) for g, rest in pairs],
    }
    view = curvature.white_box_view(*arguments)
    forms = attacks.quadratic_forms(view, None, weight_decay, "identity")
    for statistic, values in expected.items():
        options = {"statistic": statistic, "convention": convention, "knowledge": knowledge}
        found = [attacks.residual(*arguments, member, weight_decay, **options)]
        if statistic != "cosine":
            found.append(attacks.residual_from_forms(forms, member, 30, **options))
        for score in found:
            np.testing.assert_allclose(score, values, rtol=1e-8, atol=1e-12)


def test_the_basis_does_not_matter(seen):
    (model, loss, train, query), member, _ = seen
    spectrum = curvature.spectrum(model, loss, *train)
    view = curvature.white_box_view(model, loss, train, query, spectrum)
    forms = attacks.quadratic_forms(view, spectrum.values, 0.03, "identity")
    np.testing.assert_allclose(
        attacks.residual_from_forms(forms, member, 30),
        attacks.residual(model, loss, train, query, member, 0.03),
        rtol=1e-8,
        atol=1e-13,
    )


def test_a_gradient_of_zero_scores_zero(seen):
    (model, _, train, query), member, _ = seen

    def flat(output, y):
        return (output * 0.0).sum(1)

    ours = attacks.residual(model, flat, train, query, member, 0.03, "cosine")
    np.testing.assert_array_equal(ours, 0)
