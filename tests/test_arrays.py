import numpy as np
import pytest
import torch

from membership import attacks, curvature, nngp
from membership.arrays import as_bool, as_float64, as_scored, deviation
from membership.errors import InputError


@pytest.mark.parametrize(
    "values",
    [
        [1, 2, 3],
        np.array([1.0, 2.0, 3.0], dtype=np.float32),
        torch.tensor([1.0, 2.0, 3.0], requires_grad=True),
        torch.tensor([1.0, 2.0, 3.0], dtype=torch.bfloat16),
        np.array([1, 2, 3], dtype=object),
        np.array([3.0, 2.0, 1.0])[::-1],
        np.array([1, 2, 3], dtype=">u2"),
        np.ma.array([1.0, 2.0, 3.0], mask=False),
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
        ([1.0, None], 1, "loss must be an array of real numbers"),
        ([1 + 2j], 1, "loss must be an array of real numbers, not of type complex128"),
        (np.ma.array([1.0, 2.0], mask=[0, 1]), 1, "loss: some entries are masked"),
        ([1.0, -1e76], 1, r"loss holds numbers up to 1e\+76 in size; give at most 1e\+75"),
        (np.array(["2020-01-01"], "M8[D]"), 1, "loss must be an array of real numbers"),
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


def test_masked_truth_is_refused():
    member = np.ma.array([True, False, True], mask=[0, 0, 1])
    with pytest.raises(InputError, match="member: some entries are masked"):
        as_bool("member", member, (3,))


@pytest.mark.parametrize("constant", [0.1, 1 / 3, 7.7, -1e-75, 0.0])
def test_what_is_constant_has_no_deviation_whatever_its_mean_rounds_to(constant):
    x = np.tile([constant, 0.0], (40, 1))
    x[::2, 1] = 2.0
    assert deviation(x).tolist() == [0.0, 1.0]
    assert deviation(x, (0,), keepdims=True).shape == (1, 2)
    with pytest.raises(InputError, match="all samples of record 0 are equal"):
        attacks.bmia_sampled([1.0, 1.0], x)


@pytest.mark.parametrize(
    "run",
    [
        lambda: nngp.fully_connected(2)(1e150 * np.eye(3)),
        lambda: attacks.lira(np.zeros(3), 1e200 * np.eye(4, 3), np.eye(4, 3) > 0),
        lambda: attacks.mast([1.0], [[2.0], [3.0]], temperature=1e-320),
        lambda: curvature.conditioned_inverse(np.array([np.nan, 1.0])),
        lambda: attacks.malt(np.ma.array([1.0, 2.0], mask=[0, 1])),
        lambda: attacks.malt(np.array([1 + 5j, 2 - 3j])),
    ],
)
def test_what_would_end_in_no_number_is_refused_before(run):
    with pytest.raises(InputError):
        run()


def test_the_largest_numbers_end_in_numbers():
    x = np.array([[1e75, 0.0], [0.0, 1e-75], [1e75, 1e75]])
    assert np.isfinite(nngp.fully_connected(2)(x)).all()
    assert np.isfinite(attacks.malt([1e75, -1e75])).all()
    assert np.isfinite(attacks.mast([1e75], [[2.0], [3.0]], temperature=1e-75)).all()
