"""Student's t beyond where its survival function rounds to 0."""

import numpy as np
from scipy import special, stats

from membership.arrays import FloatArray

# Below this the survival function loses digits, and soon is 0.
SMALLEST = 1e-280


def student_log_survival(t: FloatArray, dof: float | FloatArray) -> FloatArray:
    r"""The log survival function of Student's law, of one dof or one an entry, without underflow.

    In the far tail :math:`1 - F(t) = \tfrac12 I_x(\nu/2, 1/2)` with :math:`x = \nu / (\nu +
    t^2)`, and the incomplete beta function is :math:`I_x(a, b) = x^a (1 - x)^b
    {}_2F_1(a + b, 1; a + 1; x) / (a B(a, b))` (DLMF 8.17.8).
    """
    survival = stats.t.sf(t, dof)
    far = survival < SMALLEST
    result = np.log(np.where(far, 1.0, survival))
    # Far below zero the survival function rounds to 1; its logarithm does not.
    result = np.where(t < 0, np.log1p(-stats.t.cdf(np.minimum(t, 0), dof)), result)
    dof = np.broadcast_to(dof, t.shape)[far]
    a, x = dof / 2, dof / (dof + t[far] ** 2)
    series = special.hyp2f1(a + 0.5, 1.0, a + 1.0, x)
    beta = a * np.log(x) + 0.5 * np.log1p(-x) + np.log(series) - np.log(a)
    result[far] = np.log(0.5) + beta - special.betaln(a, 0.5)
    return result
