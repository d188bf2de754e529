"""What the kernels need of JAX; importing this module imports JAX."""

import jax
import jax.numpy as jnp


@jax.custom_jvp
def arc_cosine(rho):
    """sqrt(1 - rho^2) + rho (pi - arccos rho), differentiable at rho = 1.

    Autodiff of the formula gives infinity minus infinity where a record meets itself. The
    derivative is pi - arccos rho.
    """
    rho = jnp.clip(rho, -1.0, 1.0)
    return jnp.sqrt(1 - rho * rho) + rho * (jnp.pi - jnp.arccos(rho))


@arc_cosine.defjvp
def _arc_cosine_jvp(primals, tangents):
    (rho,), (change,) = primals, tangents
    return arc_cosine(rho), (jnp.pi - jnp.arccos(jnp.clip(rho, -1.0, 1.0))) * change


def repeat(n: int, layer, moments):
    """Apply a layer n times, compiled once: XLA's time would grow steeply with the depth."""
    return jax.lax.fori_loop(0, n, lambda _, m: layer(m), moments)
