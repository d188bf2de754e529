"""The log-ratio of two normal laws, and what its approximation leaves out."""

from types import SimpleNamespace

import numpy as np
import pytest

from membership.studies.bayes_optimal import enumeration, expansion


def test_the_corrected_sum_is_exact_and_the_printed_one_is_not():
    rng = np.random.default_rng(5)
    for _ in range(5):
        laws = expansion.random_laws(rng)
        assert expansion.corrected(laws) == pytest.approx(expansion.exact(laws), abs=1e-10)
        assert abs(expansion.printed(laws) - expansion.exact(laws)) > 1e-3


def test_either_sign_alone_is_wrong():
    """By hand in one dimension: precisions 1 and 2, modes 0 and -1/2, theta = 2."""
    one = np.ones((1, 1))
    laws = expansion.Laws(np.full(1, 2.0), np.zeros(1), np.full(1, -0.5), one, 2 * one)
    found = np.log(2) / 2 - 2 * 2.5**2 / 2 + 2**2 / 2
    assert expansion.exact(laws) == pytest.approx(found)
    assert expansion.corrected(laws) == pytest.approx(found)
    assert expansion.printed(laws) != pytest.approx(found, abs=0.1)


def test_both_stand_among_the_statements():
    table = enumeration.statements(SimpleNamespace(seed=0))
    value = table[table["statement"] == "Equations 50 and 51"].set_index("case")["value"]
    assert value[enumeration.CORRECTED] < 1e-9
    assert value[enumeration.PRINTED] > 0.1
