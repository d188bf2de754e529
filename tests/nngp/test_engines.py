"""The closed forms in JAX and by neural-tangents, where these extras are installed."""

import sys
import warnings
from importlib.util import find_spec
from types import ModuleType

import numpy as np
import pytest

from membership import nngp
from membership.errors import InputError
from membership.nngp.activations import ACTIVATIONS
from tests.nngp.examples import KERNELS, NAMES

jax = pytest.importorskip("jax")
jnp = jax.numpy
# Not imported: by itself it would bring TensorFlow.
other_engine = pytest.mark.skipif(
    find_spec("neural_tangents") is None, reason="neural-tangents is not installed"
)


@pytest.fixture(scope="module")
def x():
    return np.random.default_rng(0).normal(size=(6, 2, 3))


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
    assert not jax.config.jax_enable_x64


@other_engine
def test_float64_ends_after_the_other_engine():
    nngp.convolutional(1, engine="neural-tangents")(np.ones((2, 1, 2, 2)))
    assert not jax.config.jax_enable_x64


@other_engine
@pytest.mark.slow
@pytest.mark.parametrize(
    ("network", "activation", "depth"),
    [
        (nngp.fully_connected, "relu", 10),
        (nngp.fully_connected, "gelu", 3),
        (nngp.fully_connected, "erf", 1),
        (nngp.convolutional, "relu", 1),
        (nngp.convolutional, "gelu", 2),
        (nngp.convolutional, "erf", 3),
    ],
)
def test_the_closed_form_is_the_kernel_of_neural_tangents(images, network, activation, depth):
    closed = network(depth, activation, 1.3, 0.2)
    library = network(depth, activation, 1.3, 0.2, engine="neural-tangents")
    x1, x2 = images
    np.testing.assert_allclose(closed(x1, x2), library(x1, x2), rtol=0, atol=1e-12)
    np.testing.assert_allclose(closed.diagonal(x1), library.diagonal(x1), rtol=0, atol=1e-12)


@other_engine
@pytest.mark.slow
@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("depth", [1, 4])
def test_it_is_the_tangent_kernel_of_neural_tangents(name, depth, x):
    unused = "neural_tangents.experimental"
    sys.modules.setdefault(unused, ModuleType(unused))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        from neural_tangents import stax
    dense = {"W_std": 1.3, "b_std": 0.2}
    phi = {"relu": stax.Relu, "gelu": stax.Gelu, "erf": stax.Erf}[name]
    hidden = [stax.serial(stax.Dense(1, **dense), phi())] * depth
    function = stax.serial(stax.Flatten(), *hidden, stax.Dense(1, **dense))[2]
    with jax.experimental.enable_x64():
        expected = np.asarray(function(x, None, "ntk"))
    kernel = nngp.fully_connected(depth, name, 1.3, 0.2)
    np.testing.assert_allclose(nngp.tangent_kernel(kernel, x), expected, rtol=1e-11)
    np.testing.assert_allclose(nngp.tangent_kernel(kernel.scaled(3.0), x), 3 * expected, rtol=1e-11)


@other_engine
def test_another_engine_s_kernel_has_no_tangent_kernel_here(images):
    kernel = nngp.fully_connected(1, engine="neural-tangents")
    with pytest.raises(InputError, match=r"give one of nngp\.fully_connected, closed form"):
        nngp.tangent_kernel(kernel, images[0])
