"""Two posteriors compared, on common records and each on its own normalisation."""

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


OF_NORMALISED = nngp.rbf(1.0)


def test_it_is_two_posteriors_on_two_normalisations(task):
    raw = 3 * task.x + 1
    x, y, (x_s, y_s) = raw[1:], task.y[1:], (raw[0], task.y[0])
    comparison = lood.compare_normalised(OF_NORMALISED, x, y, (x_s, y_s), 0.1)
    for measure, order in (("kl", (0, 1)), ("kl-reverse", (1, 0))):
        moments = []
        for data, labels in ((x, y), (raw, task.y)):
            centre, width = data.mean(), data.std()
            fitted = lood.posterior(OF_NORMALISED, (data - centre) / width, labels, 0.1)
            moments.append(fitted.predict((x_s - centre) / width))
        moments[0], moments[1] = (
            (np.asarray(mean)[0], float(variance[0])) for mean, variance in moments
        )
        # The order of rows does not matter: the differing record is first here, last inside.
        (mean, v), (mean_s, v_s) = (moments[i] for i in order)
        expected = 0.5 * (
            10 * (np.log(v_s / v) - 1 + v / v_s) + np.square(mean - mean_s).sum() / v_s
        )
        assert comparison.measure(x_s, measure) == pytest.approx(expected, rel=1e-8)
    assert comparison.measure(x[:4]).shape == (4,)


def test_features_and_channels_have_their_own_statistics():
    rng = np.random.default_rng(0)
    table, label = rng.standard_normal((20, 3)) * [1, 10, 100], rng.standard_normal(20)
    table[:, 1] = 0.1  # whose mean rounds
    side = lood.compare_normalised(
        OF_NORMALISED, table[1:], label[1:], (table[0], label[0]), 0.1
    ).without
    np.testing.assert_allclose(side.mean, table[1:].mean(axis=0))
    assert side.std[1] == 1.0
    images = rng.standard_normal((20, 2, 3, 3))
    sides = lood.compare_normalised(
        OF_NORMALISED, images[1:], label[1:], (images[0], label[0]), 0.1
    )
    np.testing.assert_allclose(sides.with_s.mean.ravel(), images.mean(axis=(0, 2, 3)))
    assert sides.with_s.std.shape == (2, 1, 1)


@pytest.mark.slow
@pytest.mark.usefixtures("quickly_compiled")
@pytest.mark.parametrize(("shape", "least"), [((1, 8, 8), 1.001), ((64,), 2.0)])
def test_some_query_tells_more_than_the_record(task, shape, least):
    """The theorem needs one kernel for both posteriors; here each has its own.

    One mean and deviation of all pixels hardly moves; those of each pixel move a lot.
    """
    raw, y = (task.x - task.x.min()).reshape(60, *shape)[:50], task.y[:50]
    kernel, gains = nngp.fully_connected(2, "relu"), []
    for i in range(4, 8):
        keep = np.arange(50) != i
        comparison = lood.compare_normalised(kernel, raw[keep], y[keep], (raw[i], y[i]), 0.1)
        found = lood.maximise(
            comparison, raw[[i]], unit=0.01, learning_rate=1.0, steps=200, progress=False
        )
        gains.append(found.value[0] / comparison.measure(raw[i]))
        for measure in ("kl-reverse", "auc"):
            assert comparison.measure(found.query[0], measure) > comparison.measure(raw[i], measure)
    assert min(gains) > 1 + 1e-8
    assert max(gains) > least


def test_near_the_mean_a_homogeneous_kernel_tells_without_bound():
    """Under D' the mean has no variance, under D it has: the KL grows as the query nears it."""
    rng = np.random.default_rng(0)
    x, y = rng.random((30, 5)), rng.choice([-1.0, 1.0], size=(30, 1))
    for row in range(3):
        kept = np.arange(30) != row
        compared = lood.compare_normalised(
            nngp.fully_connected(2), x[kept], y[kept], (x[row], y[row]), 0.05
        )
        step = rng.standard_normal(5)
        near = compared.with_s.mean + np.array([[1e-3], [1e-4], [1e-5]]) * step
        found = compared.measure(near) / compared.measure(x[row])
        assert found[2] > 50 * found[1] > 2000 * found[0]
        assert found[2] > 1000
