import numpy as np
import pytest

from membership import lood, nngp
from membership.errors import InputError
from membership.lood import comparison as module

NOISE = 0.1
KERNEL = nngp.fully_connected(2, "gelu", 1.6, 0.2)


def definition(kernel, x, y, differing, query, noise):
    """Joint KL both ways and the mean distance, from the two posteriors as they are defined."""

    def predict(x, y):
        inverse = np.linalg.inv(kernel(x) + noise * np.eye(len(x)))
        cross = kernel(query, x)
        return cross @ inverse @ y, kernel(query) - cross @ inverse @ cross.T

    larger = np.concatenate([x, differing[0]]), np.concatenate([y, differing[1]])
    (mean, cov), (mean_s, cov_s) = predict(x, y), predict(*larger)
    shift = mean - mean_s

    def kl(a, b):
        logs = np.linalg.slogdet(b)[1] - np.linalg.slogdet(a)[1]
        inverse = np.linalg.inv(b)
        spread = logs - len(a) + np.trace(inverse @ a)
        return 0.5 * (shift.shape[1] * spread + np.sum(shift * (inverse @ shift)))

    return kl(cov, cov_s), kl(cov_s, cov), 0.5 * np.square(shift).sum()


@pytest.mark.parametrize("members", [1, 4])
@pytest.mark.parametrize("kernel", [KERNEL, nngp.rbf(0.5), nngp.convolutional(1, "erf")])
def test_joint_queries_follow_the_definition(task, kernel, members):
    x, y, differing = task.without(slice(0, members))
    query = 0.7 * task.x[2:7] + 0.3 * task.x[20:25]
    expected = definition(kernel, x, y, differing, query, NOISE)
    comparison = lood.compare(kernel, x, y, differing, NOISE)
    found = [comparison.measure(query, m, joint=True) for m in ("kl", "kl-reverse", "mean")]
    np.testing.assert_allclose(found, expected, rtol=1e-8)


@pytest.mark.parametrize("members", [1, 4])
def test_separate_queries_are_joint_queries_of_one(task, members, monkeypatch):
    monkeypatch.setattr(module, "_BLOCK", 2)
    x, y, differing = task.without(slice(0, members))
    comparison = lood.compare(KERNEL, x, y, differing, NOISE)
    query = np.concatenate([task.x[:2], task.x[30:33] / 2])
    for measure in ("kl", "kl-reverse", "mean", "auc"):
        found = comparison.measure(query, measure)
        assert found.shape == (5,)
        for value, q in zip(found, query, strict=True):
            assert value == pytest.approx(
                comparison.measure(q[None], measure, joint=True), rel=1e-9
            )
            assert value == pytest.approx(comparison.measure(q, measure), rel=1e-12)


def test_distinguishability_and_tradeoff_are_the_comparison(task):
    x, y, differing = task.without(5)
    comparison = lood.compare(KERNEL, x, y, differing, NOISE)
    for measure in ("kl", "auc"):
        found = lood.distinguishability(KERNEL, x, y, differing, task.x[6], NOISE, measure)
        assert isinstance(found, float)
        assert found == comparison.measure(task.x[6], measure)
    joint = lood.distinguishability(KERNEL, x, y, differing, task.x[3:7], NOISE, joint=True)
    assert joint == comparison.measure(task.x[3:7], joint=True)
    alpha = np.array([0.0, 0.1, 0.5])
    missed = lood.tradeoff(KERNEL, x, y, differing, task.x[5], NOISE, alpha)
    np.testing.assert_array_equal(missed, comparison.contrast(task.x[5]).tradeoff(alpha))
    with_others = lood.tradeoff(KERNEL, x, y, differing, task.x[3:7], NOISE, alpha)
    # Sufficiency: more queries beside the record add no power.
    np.testing.assert_allclose(with_others, missed, atol=1e-9)


def test_labels_of_one_output_may_be_plain_numbers(task):
    x, y, (x_s, y_s) = task.without(0)
    flat = lood.distinguishability(KERNEL, x, y[:, 0], (x_s, y_s[0]), x_s, NOISE)
    column = lood.distinguishability(KERNEL, x, y[:, :1], (x_s, y_s[:1]), x_s, NOISE)
    assert flat == column


def test_the_joint_posterior_has_the_separate_one_on_its_diagonal(task):
    posterior = lood.posterior(KERNEL, task.x[5:], task.y[5:], NOISE)
    mean, covariance = posterior.joint(task.x[:5])
    separate = posterior.predict(task.x[:5])
    np.testing.assert_allclose(mean, separate[0], rtol=1e-12)
    np.testing.assert_allclose(np.diagonal(covariance), separate[1], rtol=1e-11)


def test_a_query_without_any_variance_tells_nothing(task):
    x, y, differing = task.without(0)
    kernel = nngp.fully_connected(2, "relu")
    found = lood.distinguishability(kernel, x, y, differing, np.zeros_like(x[0]), NOISE)
    assert found == 0.0


def test_a_record_left_in_the_training_set_is_refused_or_a_control(task):
    with pytest.raises(InputError, match="differing record 0 is row 7 of x already"):
        lood.compare(KERNEL, task.x, task.y, (task.x[7], task.y[7]), NOISE)
    repeated = lood.compare(
        KERNEL, task.x, task.y, (task.x[7], task.y[7]), NOISE, allow_repeated=True
    )
    # With S in D already, the variance at most halves: t <= 1/2.
    assert repeated.contrast(task.x[7]).excess[0] < 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"noise": 0.0}, "noise = 0.0: give a number above 0"),
        ({"query": np.ones((2, 3))}, r"query has records of shape \(3,\); give \(1, 8, 8\)"),
        ({"measure": "tv"}, "measure = 'tv'"),
        ({"differing": np.ones(3)}, r"differing must be a pair"),
        ({"differing": (np.ones((1, 8, 8)), np.ones(3))}, "label has 3 outputs; y has 10"),
        ({"differing": (np.ones((2, 1, 8, 8)), np.ones((3, 10)))}, "3 labels for 2 records"),
        ({"differing": (np.ones(64), np.ones(10))}, "differing has"),
        ({"y": np.ones(4)}, "y has 4 labels for"),
    ],
)
def test_bad_input_is_refused(task, changes, message):
    x, y, differing = task.without(0)
    arguments = {"x": x, "y": y, "differing": differing, "query": x[0], "noise": NOISE}
    with pytest.raises(InputError, match=message):
        lood.distinguishability(KERNEL, **(arguments | changes))
