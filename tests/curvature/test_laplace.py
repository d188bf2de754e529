"""The structured posteriors against dense float64 algebra, and the errors that come first."""

import warnings

import numpy as np
import pytest
from scipy.special import log_softmax

from membership.curvature import laplace_structures, last_layer_laplace
from membership.curvature.laplace import GRID
from membership.errors import InputError, RunError

STRUCTURES = ("full", "kron", "diag")
structures = pytest.mark.parametrize("structure", STRUCTURES)


def fit(last_layer_problem, precision, structure, **keywords):
    return last_layer_laplace(
        last_layer_problem.features, last_layer_problem.logits, precision, structure, **keywords
    )


@structures
@pytest.mark.parametrize("precision", [0.01, 1.0, 30.0])
def test_covariance_is_the_dense_one(last_layer_problem, structure, precision):
    posterior = fit(last_layer_problem, precision, structure)
    expected = last_layer_problem.covariance(structure, precision)
    np.testing.assert_allclose(
        posterior.covariance(last_layer_problem.query), expected, rtol=1e-10, atol=1e-12
    )
    variance = np.einsum("ncc->nc", expected)
    np.testing.assert_allclose(posterior.variance(last_layer_problem.query), variance, rtol=1e-10)


@structures
def test_difference_variance_is_that_of_the_covariance(last_layer_problem, structure):
    posterior = fit(last_layer_problem, 0.7, structure)
    v = last_layer_problem.covariance(structure, 0.7)
    rng = np.random.default_rng(0)
    rows, classes = np.arange(len(v)), len(last_layer_problem.weight)
    first = rng.integers(0, classes, len(v))
    second = (first + 1) % classes
    expected = v[rows, first, first] + v[rows, second, second] - 2 * v[rows, first, second]
    answer = posterior.difference_variance(last_layer_problem.query, first, second)
    np.testing.assert_allclose(answer, expected, rtol=1e-10)


@structures
@pytest.mark.parametrize("precision", [0.01, 1.0, 30.0])
def test_marginal_likelihood_is_the_dense_one(last_layer_problem, structure, precision):
    posterior = fit(last_layer_problem, precision, structure, **last_layer_problem.layer)
    expected = last_layer_problem.evidence(structure, precision)
    assert posterior.log_marginal_likelihood == pytest.approx(expected, rel=1e-11)


@structures
def test_marginal_likelihood_is_maximised(last_layer_problem, structure):
    posterior = fit(
        last_layer_problem, "marginal-likelihood", structure, **last_layer_problem.layer
    )
    best, log_best = posterior.log_marginal_likelihood, np.log(posterior.prior_precision)
    # The flat top hides the optimum from values; a difference of slopes does not.
    up, down = (
        last_layer_problem.evidence(structure, np.exp(log_best + step)) for step in (0.01, -0.01)
    )
    assert best > max(up, down)
    assert abs(up - down) < 0.01 * (2 * best - up - down)
    everywhere = [last_layer_problem.evidence(structure, d) for d in np.logspace(-6, 6, 200)]
    assert best >= max(everywhere)


@structures
def test_validation_takes_the_best_of_the_grid(last_layer_problem, structure):
    rng = np.random.default_rng(5)
    label = rng.integers(0, len(last_layer_problem.weight), len(last_layer_problem.query))
    logits = last_layer_problem.answers(last_layer_problem.query)
    held_out = (last_layer_problem.query, logits, label)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        posterior = fit(last_layer_problem, "validation", structure, validation=held_out)
    at_edge = posterior.prior_precision in (GRID[0], GRID[-1])
    assert [str(one.message) for one in said] == [posterior.doubt] * at_edge
    assert ("the edge of its grid" in posterior.doubt) == at_edge
    scores = []
    for precision in GRID:
        v = np.einsum("ncc->nc", last_layer_problem.covariance(structure, precision))
        log_p = log_softmax(logits / np.sqrt(1 + np.pi * v / 8), axis=1)
        scores.append(log_p[np.arange(len(label)), label].sum())
    assert posterior.prior_precision == GRID[np.argmax(scores)]


def test_more_records_than_are_taken_at_once():
    rng = np.random.default_rng(3)
    n = laplace_structures.RECORDS_AT_ONCE + 10
    features, logits = rng.standard_normal((n, 2)), rng.standard_normal((n, 3))
    whole = last_layer_laplace(features, logits, 1.0, "full")
    answer = whole.covariance(features)
    apart = np.concatenate([whole.covariance(row[None]) for row in features])
    np.testing.assert_allclose(answer, apart, rtol=1e-12)


OTHER_NETWORK = np.zeros((7, 4)), np.zeros((7, 9)), np.zeros(7)
FEW = {"features": np.ones((4, 4)), "logits": np.zeros((4, 3))}
NO_LAYER = {"weight": np.zeros((3, 4)), "bias": np.zeros(3)}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"structure": "block"}, "structure = 'block': expected one of full, kron, diag"),
        ({"engine": "magic"}, "engine = 'magic': expected one of structured, laplace-torch"),
        ({"prior_precision": 0}, "prior_precision = 0: expected a positive number"),
        ({"prior_precision": -1.0}, "prior_precision = -1.0: expected a positive number"),
        ({"prior_precision": float("nan")}, "prior_precision = nan: expected a positive"),
        ({"prior_precision": True}, "prior_precision = True: expected a positive"),
        ({"prior_precision": "marglik"}, "prior_precision = 'marglik': expected a positive"),
        ({"prior_precision": "marginal-likelihood"}, "give weight, bias and label too"),
        ({"prior_precision": "validation"}, "give validation = "),
        ({"engine": "laplace-torch"}, "give weight and bias of the last layer too"),
        ({"logits": np.zeros((39, 3))}, "logits of shape \\(39, 3\\): expected"),
        ({"logits": np.zeros((40, 1))}, "at least two classes"),
        ({"bias": np.zeros(3)}, "bias is given without weight; give both, or weight alone"),
        ({"weight": np.zeros((3, 5)), "bias": np.zeros(3)}, "ask for \\(3, 4\\) and \\(3,\\)"),
        ({"weight": np.zeros((3, 5))}, "\\(3, 5\\), no bias; features and logits ask for"),
        (NO_LAYER, "logits differ from features @ weight.T \\+ bias by"),
        ({"weight": np.zeros((3, 4))}, "logits differ from features @ weight.T by .* where it has"),
        ({"label": np.full(40, 3)}, "label: classes 3 to 3 do not fit logits of 3 classes"),
        ({"label": np.zeros(39)}, "give one class for 40 records"),
        ({"features": np.full((40, 4), np.inf)}, "features holds 160 NaN or infinite entries"),
        ({"prior_precision": 1e-310}, "1e-300 to 1e300"),
        ({"prior_precision": 1e301}, "1e-300 to 1e300"),
        ({"validation": (np.zeros((40, 4)), np.zeros((40, 3)))}, "three arrays"),
        ({"prior_precision": "validation", "validation": OTHER_NETWORK}, "validation has"),
        ({**FEW, **NO_LAYER, "structure": "full"}, "4 records for 5 parameters a class"),
        (FEW, "do not tell whether the layer has a bias; give weight, and bias if it has one"),
    ],
)
def test_bad_input_is_named(change, message):
    rng = np.random.default_rng(0)
    arguments = {
        "features": rng.standard_normal((40, 4)),
        "logits": rng.standard_normal((40, 3)),
        "prior_precision": 1.0,
    }
    with pytest.raises(InputError, match=message):
        last_layer_laplace(**(arguments | change))


def test_kron_needs_no_record_for_each_parameter():
    posterior = last_layer_laplace(**FEW, **NO_LAYER, prior_precision=1.0, structure="kron")
    assert posterior.prior_precision == 1.0


def test_full_says_how_much_memory_it_needs(monkeypatch):
    monkeypatch.setattr("membership.memory.available", lambda device: 1e9)
    features, logits = np.zeros((200, 128)), np.ones((200, 100))
    # 12,900 parameters: three matrices of 1.33 GB.
    message = "12900 parameters .* needs about 4.0 gigabytes of memory, and 1.0 are free; take kron"
    with pytest.raises(InputError, match=message):
        last_layer_laplace(features, logits, 1.0, "full")


def test_zero_weights_have_no_best_prior(last_layer_problem):
    zero = {
        "weight": 0 * last_layer_problem.weight,
        "bias": None if last_layer_problem.bias is None else 0 * last_layer_problem.bias,
        "label": last_layer_problem.label,
    }
    with pytest.raises(InputError, match="there is no maximum"):
        last_layer_laplace(
            last_layer_problem.features,
            0 * last_layer_problem.logits,
            "marginal-likelihood",
            "kron",
            **zero,
        )


def test_a_network_that_is_certain_leaves_no_prior_of_meaning():
    rng = np.random.default_rng(0)
    features, weight, bias = rng.normal(size=(200, 5)), rng.normal(size=(3, 5)), rng.normal(size=3)
    weight, bias = 1e5 * weight, 1e5 * bias
    logits = features @ weight.T + bias
    layer = {"weight": weight, "bias": bias, "label": logits.argmax(1)}
    with pytest.warns(UserWarning, match="less than one"):
        posterior = last_layer_laplace(features, logits, "marginal-likelihood", **layer)
    assert "less than one" in repr(posterior)
    assert last_layer_laplace(features, logits, 1.0, **layer).doubt == ""


def test_the_smallest_prior_answers_alone_where_the_curvature_is_silent(last_layer_problem):
    """Adding a constant to all logits changes no probability: along it there is only the prior."""
    features, logits = last_layer_problem.features, last_layer_problem.logits
    variance = last_layer_laplace(features, logits, 1e-300).variance(features)
    share = 1 / logits.shape[1]  # of each logit in that direction
    has_bias = last_layer_problem.bias is not None
    expected = share * (has_bias + np.square(features).sum(1)) * 1e300
    np.testing.assert_allclose(variance, np.tile(expected, (logits.shape[1], 1)).T, rtol=1e-6)
    full = last_layer_laplace(features, logits, 1e-300, "full")
    with pytest.raises(RunError, match="lost in the rounding of its curvature"):
        full.variance(features)


@structures
def test_a_layer_that_is_not_given_has_a_bias_where_its_logits_need_one(structure):
    rng = np.random.default_rng(2)
    features, weight = rng.standard_normal((30, 4)), rng.standard_normal((3, 4))
    for bias in (None, np.array([1e-3, 0.0, 0.0]), np.array([0.4, -0.2, 0.1])):
        logits = features @ weight.T + (0 if bias is None else bias)
        given = last_layer_laplace(features, logits, 1.0, structure, weight=weight, bias=bias)
        # As a float32 network answers.
        for rounded in (logits, logits.astype(np.float32)):
            found = last_layer_laplace(features, rounded, 1.0, structure)
            np.testing.assert_allclose(
                found.covariance(features), given.covariance(features), rtol=1e-6, atol=1e-9
            )
