import numpy as np
import pytest
import torch

from membership.arrays import as_bool, as_float64, as_scored
from membership.errors import InputError


@pytest.mark.parametrize(
    "values",
    [
        [1, 2, 3],
        np.array([1.0, 2.0, 3.0], dtype=np.float32),
        torch.tensor([1.0, 2.0, 3.0], requires_grad=True),
        torch.tensor([1.0, 2.0, 3.0], dtype=torch.bfloat16),
    ],
)
def test_numbers_of_any_kind_become_float64(values):
    array = as_float64("loss", values, 1)
    assert array.dtype == np.float64
    assert array.tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("values", "ndim", "message"),
    [
        ([1.0, np.nan], 1, "loss holds 1 NaN or infinite entries of 2"),
        ([1.0, np.inf], 1, "loss holds 1 NaN or infinite entries of 2"),
        ([[1.0]], 1, r"loss has shape \(1, 1\); give 1 axis"),
        ([], 1, r"loss has shape \(0,\)"),
        (["a"], 1, "loss must be an array of real numbers"),
        ([[1.0], [1.0, 2.0]], 2, "loss must be an array of real numbers"),
        (None, 1, "loss"),
    ],
)
def test_bad_numbers_are_named(values, ndim, message):
    with pytest.raises(InputError, match=message):
        as_float64("loss", values, ndim)


def test_infinite_scores_pass_where_allowed():
    assert as_float64("score", [-np.inf, np.inf], 1, finite=False).tolist() == [-np.inf, np.inf]
    with pytest.raises(InputError, match="score holds 1 NaN entries of 2"):
        as_float64("score", [np.nan, np.inf], 1, finite=False)


@pytest.mark.parametrize("values", [[True, False], [1, 0], torch.tensor([True, False])])
def test_truth_values_become_bool(values):
    array = as_bool("member", values, (2,))
    assert array.dtype == bool
    assert array.tolist() == [True, False]


@pytest.mark.parametrize(
    ("score", "member", "message"),
    [
        ([1.0, 2.0], [1, 2], "member holds values other than false and true"),
        ([1.0, 2.0], [1, 0, 1], r"member has shape \(3,\); give \(2,\)"),
        ([1.0, 2.0], [1, 1], "member holds members only"),
        ([1.0, 2.0], [0, 0], "member holds non-members only"),
        ([1.0, np.nan], [1, 0], "score holds 1 NaN"),
    ],
)
def test_bad_pairs_are_named(score, member, message):
    with pytest.raises(InputError, match=message):
        as_scored(score, member)
