"""The log-ratio of two normal laws, and what its approximation leaves out."""

from types import SimpleNamespace

import numpy as np
import pytest

from membership.studies.bayes_optimal import enumeration, expansion

BOTH = (True, False)


def test_the_corrected_sum_is_exact_and_the_printed_one_is_not_either_way():
    rng = np.random.default_rng(5)
    for _ in range(5):
        laws = expansion.random_laws(rng)
        exact = expansion.exact(laws)
        assert expansion.corrected(laws) == pytest.approx(exact, abs=1e-10)
        for way in BOTH:
            found = expansion.printed(laws, exact_less_approximate=way)
            assert abs(found - exact) > 1e-3


def test_by_hand_in_one_dimension():
    """Precisions 1 and 2, modes 0 and -1/2, theta = 2."""
    one = np.ones((1, 1))
    laws = expansion.Laws(np.full(1, 2.0), np.zeros(1), np.full(1, -0.5), one, 2 * one)
    found = np.log(2) / 2 - 2 * 2.5**2 / 2 + 2**2 / 2
    assert expansion.exact(laws) == pytest.approx(found)
    assert expansion.corrected(laws) == pytest.approx(found)
    for way in BOTH:
        assert expansion.printed(laws, exact_less_approximate=way) != pytest.approx(found, abs=0.1)


def test_delta_1_is_as_printed_where_the_exact_is_taken_from_the_approximate():
    """With the parameters at the new mode the rest of the remainder vanishes."""
    laws = expansion.random_laws(np.random.default_rng(6))
    laws = laws._replace(theta=laws.mode_1)
    far = laws.theta - laws.mode_0
    approximate = far @ laws.precision_0 @ far / 2
    ratio = np.linalg.det(laws.precision_1) / np.linalg.det(laws.precision_0)
    assert approximate - expansion.exact(laws) == pytest.approx(-np.log(ratio) / 2, abs=1e-10)


def test_all_stand_among_the_statements():
    table = enumeration.statements(SimpleNamespace(seed=0))
    value = table[table["statement"] == "Equations 50 and 51"].set_index("case")["value"]
    assert value[enumeration.CORRECTED] < 1e-9
    assert (value[list(enumeration.PRINTED)] > 0.1).all()
