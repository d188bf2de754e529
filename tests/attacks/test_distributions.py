"""The log survival function of Student's t against many digits."""

import mpmath
import numpy as np
import pytest

from membership.attacks.distributions import student_log_survival


def exact(t: float, dof: int) -> float:
    with mpmath.workdps(60):
        x = mpmath.mpf(dof) / (dof + mpmath.mpf(t) ** 2)
        tail = mpmath.betainc(mpmath.mpf(dof) / 2, mpmath.mpf(1) / 2, 0, x, regularized=True) / 2
        return float(mpmath.log(tail if t >= 0 else 1 - tail))


@pytest.mark.parametrize("dof", [1, 9, 99, 999, 100_000])
@pytest.mark.parametrize("t", [-40.0, -3.0, 0.0, 2.0, 10.0, 37.0, 60.0, 1e4])
def test_it_has_eleven_digits(t, dof):
    answer = student_log_survival(np.array([t]), dof)[0]
    assert answer == pytest.approx(exact(t, dof), rel=1e-11)


def test_it_falls_without_a_step():
    t = np.linspace(-30, 200, 2001)
    for dof in (9, 299, 999):
        assert (np.diff(student_log_survival(t, dof)) < 0).all()


def test_each_entry_has_its_own_degrees():
    t, dof = np.array([-3.0, 2.0, 1e4]), np.array([2.5, 9.0, 99.0])
    alone = [student_log_survival(one[None], d)[0] for one, d in zip(t, dof, strict=True)]
    assert student_log_survival(t, dof).tolist() == alone
