import numpy as np
import pytest

from membership import lood, nngp
from membership.errors import InputError

KERNEL = nngp.rbf(1.0)


def test_it_is_two_posteriors_on_two_normalisations(task):
    raw = 3 * task.x + 1
    x, y, (x_s, y_s) = raw[1:], task.y[1:], (raw[0], task.y[0])
    comparison = lood.compare_normalised(KERNEL, x, y, (x_s, y_s), 0.1)
    for measure, order in (("kl", (0, 1)), ("kl-reverse", (1, 0))):
        moments = []
        for data, labels in ((x, y), (raw, task.y)):
            centre, width = data.mean(), data.std()
            fitted = lood.posterior(KERNEL, (data - centre) / width, labels, 0.1)
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
    side = lood.compare_normalised(KERNEL, table[1:], label[1:], (table[0], label[0]), 0.1).without
    np.testing.assert_allclose(side.mean, table[1:].mean(axis=0))
    assert side.std[1] == 1.0
    images = rng.standard_normal((20, 2, 3, 3))
    sides = lood.compare_normalised(KERNEL, images[1:], label[1:], (images[0], label[0]), 0.1)
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


def test_bad_input_is_refused(task):
    with pytest.raises(InputError, match="is row 3 of x already"):
        lood.compare_normalised(KERNEL, task.x, task.y, (task.x[3], task.y[3]), 0.1)
    with pytest.raises(InputError, match="noise = -2"):
        lood.compare_normalised(KERNEL, task.x[1:], task.y[1:], (task.x[0], task.y[0]), -2)


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
