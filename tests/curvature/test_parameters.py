"""Curvature of some of a model's parameters: blocks of the whole."""

import numpy as np
import pytest
import torch
from torch import nn

from membership import attacks, curvature
from membership.errors import InputError
from tests.attacks.networks import RECIPE, cross_entropy

NAMES = ["0.weight", "0.bias", "1.weight", "1.bias", "4.weight", "4.bias"]


@pytest.fixture
def given():
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Linear(5, 4), nn.BatchNorm1d(4), nn.Tanh(), nn.Dropout(), nn.Linear(4, 3)
    ).eval()
    return model, cross_entropy, torch.randn(20, 5), torch.randint(0, 3, (20,))


def places(model, names):
    sizes = [value.numel() for value in model.parameters()]
    ends = np.cumsum(sizes)
    parts = [np.arange(e - s, e) for n, s, e in zip(NAMES, sizes, ends, strict=True) if n in names]
    return np.concatenate(parts)


CHOICES = {
    "a module": (["4"], ["4.weight", "4.bias"]),
    "one name as a word": ("1.weight", ["1.weight"]),
    "names and modules, in any order": (["4.bias", "0"], ["0.weight", "0.bias", "4.bias"]),
    "a predicate": (lambda name: name.endswith("bias"), ["0.bias", "1.bias", "4.bias"]),
}


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("frozen", [False, True])
def test_a_choice_has_its_part_of_the_whole(given, choice, frozen):
    asked, names = CHOICES[choice]
    at = places(given[0], names)
    whole = {
        "hessian": curvature.hessian(*given),
        "ggn": curvature.ggn(*given),
        "gradients": curvature.per_record_gradients(*given),
    }
    given[0].requires_grad_(not frozen)
    np.testing.assert_allclose(
        curvature.hessian(*given, parameters=asked), whole["hessian"][np.ix_(at, at)], atol=1e-12
    )
    np.testing.assert_allclose(
        curvature.ggn(*given, parameters=asked), whole["ggn"][np.ix_(at, at)], atol=1e-12
    )
    np.testing.assert_allclose(
        curvature.per_record_gradients(*given, parameters=asked),
        whole["gradients"][:, at],
        atol=1e-12,
    )
    found = curvature.spectrum(*given, matrix="ggn", parameters=asked)
    expected = np.linalg.eigvalsh(whole["ggn"][np.ix_(at, at)])
    np.testing.assert_allclose(found.values, expected, atol=1e-12)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (["head"], "'head' is no parameter and no module.*0.weight"),
        (["4", "4.weights"], "'4.weights' is no parameter"),
        ([], "names none"),
        (lambda name: False, "true of none"),
    ],
)
def test_a_choice_of_nothing_says_what_there_is(given, asked, words):
    with pytest.raises(InputError, match=f"parameters: .*{words}"):
        curvature.hessian(*given, parameters=asked)


def test_a_padded_embedding_outside_of_the_choice_is_a_constant():
    torch.manual_seed(1)
    model = nn.Sequential(nn.Embedding(5, 2, padding_idx=0), nn.Flatten(), nn.Linear(6, 2))
    given = model, cross_entropy, torch.randint(0, 5, (8, 3)), torch.randint(0, 2, (8,))
    whole = curvature.hessian(*given)
    found = curvature.hessian(*given, parameters=["2"])
    np.testing.assert_allclose(found, whole[10:, 10:], atol=1e-12)


def test_attacks_on_a_head_are_those_on_a_model_of_it_alone(given):
    model, loss, x, y = given
    with torch.no_grad():
        features = model[:4](x)
    head = model[4]
    member = np.arange(20) < 12
    for matrix in ("hessian", "ggn"):
        how = {"damping": "least", "matrix": matrix}
        for of, by, more in ((model, x, {"parameters": ["4"]}), (head, features, {})):
            records = (of, loss, (by[:12], y[:12]), (by, y))
            found = attacks.iha(*records, member, **RECIPE, **how, **more)
            sif = attacks.sif(*records, **how, **more)
            rest = attacks.residual(*records, member, 0.01, **more)
            if of is model:
                whole = found, sif, rest
        # The features were computed in float32.
        np.testing.assert_allclose(whole[0].score, found.score, rtol=1e-3)
        np.testing.assert_allclose(whole[1], sif, rtol=1e-3)
        np.testing.assert_allclose(whole[2], rest, rtol=1e-3, atol=1e-6)
        assert whole[0].damping == pytest.approx(found.damping, rel=1e-4)
