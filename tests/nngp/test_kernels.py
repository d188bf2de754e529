import jax
import jax.numpy as jnp
import numpy as np
import pytest

from membership import nngp
from membership.errors import InputError
from membership.nngp import kernels

KERNELS = [
    nngp.fully_connected(3, "relu", 1.3, 0.2),
    nngp.fully_connected(3, "gelu", 1.3, 0.2),
    nngp.fully_connected(2, "erf", 1.3, 0.2),
    nngp.convolutional(2, "relu"),
    nngp.convolutional(1, "gelu"),
    nngp.rbf(0.5),
    nngp.polynomial(2, 1.0).scaled(3.0),
]
NAMES = [repr(kernel)[:40] for kernel in KERNELS]


@pytest.mark.parametrize("kernel", KERNELS, ids=NAMES)
def test_blocks_change_nothing_and_the_matrix_is_exactly_symmetric(kernel, images, monkeypatch):
    x1, x2 = images
    whole, square = kernel(x1, x2), kernel(x1)
    monkeypatch.setattr(kernels, "BLOCK", 17)
    monkeypatch.setattr("membership.nngp.architectures.BLOCK", 17 * 30)
    np.testing.assert_allclose(kernel(x1, x2), whole, rtol=0, atol=1e-13)
    np.testing.assert_allclose(kernel(x1), square, rtol=0, atol=1e-13)
    assert (kernel(x1) == kernel(x1).T).all()
    np.testing.assert_allclose(kernel(x1, x1), square, rtol=0, atol=1e-13)
    np.testing.assert_allclose(kernel.diagonal(x1), np.diagonal(square), rtol=0, atol=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS, ids=NAMES)
def test_the_traceable_form_is_the_same_function(kernel, images):
    x1, x2 = images
    with nngp.float64():
        both = np.asarray(kernel.traceable(jnp.asarray(x1), jnp.asarray(x2)))
        alone = np.asarray(kernel.traceable_diagonal(jnp.asarray(x1)))
    assert both.dtype == np.float64
    np.testing.assert_allclose(both, kernel(x1, x2), rtol=0, atol=1e-13)
    np.testing.assert_allclose(alone, kernel.diagonal(x1), rtol=0, atol=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS, ids=NAMES)
def test_the_gradient_is_the_limit_of_differences(kernel, images):
    x1, x2 = images
    direction, h = np.random.default_rng(1).standard_normal(x1.shape), 1e-5
    weights = np.random.default_rng(2).standard_normal((len(x1), len(x2)))

    def total(x):
        return (weights * kernel(x, x2)).sum() + kernel.diagonal(x).sum()

    def traced(x):
        return (weights * kernel.traceable(x, x2)).sum() + kernel.traceable_diagonal(x).sum()

    slope = (total(x1 + h * direction) - total(x1 - h * direction)) / (2 * h)
    with nngp.float64():
        gradient = np.asarray(jax.grad(traced)(jnp.asarray(x1)))
    assert (gradient * direction).sum() == pytest.approx(slope, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("activation", ["relu", "gelu", "erf"])
def test_the_gradient_is_finite_where_a_record_meets_itself(activation, images):
    kernel, x = nngp.fully_connected(4, activation), images[0]
    with nngp.float64():
        slope = jax.grad(lambda q: kernel.traceable(q, jnp.asarray(x)).sum())(jnp.asarray(x))
    assert np.isfinite(slope).all()


def test_float64_ends_with_its_context():
    with nngp.float64():
        assert jnp.ones(1, dtype=float).dtype == jnp.float64
    assert jnp.ones(1, dtype=float).dtype == jnp.float32
    nngp.convolutional(1, engine="neural-tangents")(np.ones((2, 1, 2, 2)))
    assert not jax.config.jax_enable_x64


def test_scaled_multiplies(images):
    kernel = nngp.fully_connected(2)
    np.testing.assert_allclose(kernel.scaled(2.5)(*images), 2.5 * kernel(*images), rtol=1e-15)
    with pytest.raises(InputError, match="factor = 0"):
        kernel.scaled(0)


@pytest.mark.parametrize(
    ("x1", "x2", "message"),
    [
        (np.ones((2, 3)), np.ones((2, 4)), r"x2 has records of shape \(4,\); give \(3,\)"),
        (np.ones(3), None, r"x1 has shape \(3,\)"),
        (np.ones((0, 3)), None, "none empty"),
        (np.full((2, 2), np.nan), None, "NaN or infinite"),
        ([["a"]], None, "real numbers"),
    ],
)
def test_bad_records_are_refused(x1, x2, message):
    with pytest.raises(InputError, match=message):
        nngp.rbf()(x1, x2)


def test_a_matrix_beyond_memory_is_refused_with_its_size(monkeypatch):
    monkeypatch.setattr("membership.memory.available", lambda device: 1e9)
    x = np.zeros((20_000, 1))
    with pytest.raises(
        InputError, match=r"20,000 and 20,000 records needs about 3\.2 gigabytes.*1\.0 are"
    ):
        nngp.rbf()(x)
