import math

import pandas as pd
import pytest
from scipy.stats import false_discovery_control

from membership import published


def table(words, p=None, reasons=None):
    count = len(words)
    return pd.DataFrame(
        {
            "published": [math.nan if word == "" else 0.5 for word in words],
            "verdict": words,
            "reason": reasons or [""] * count,
            "p_value": p or [math.nan] * count,
            "standard_error": 0.01,
            "margin": 0.01,
            "difference_low": -0.02,
            "difference_high": 0.02,
        }
    )


def test_verdicts_are_counted_with_what_chance_would_give():
    words = ["agrees"] * 12 + ["compatible"] * 4 + ["differs"] * 4
    found = published.summary(table(words, [0.5] * 16 + [1e-6, 0.01, 0.02, 0.03]))
    assert found == (
        "20 comparable: 12 agree, 4 compatible (4 too imprecise to agree), 4 differ; "
        "at most about 1 would differ by chance; 1 differs after Holm"
    )


def test_what_is_not_comparable_or_not_judged_is_counted_with_its_kind():
    words = ["agrees", "not comparable", "not comparable", "not judged", ""]
    reasons = ["", "another model: its accuracy is 85", "other data", "", ""]
    found = published.summary(table(words, [0.5] * 5, reasons))
    assert found.endswith(
        "2 not comparable (1 of them: another model); 1 not judged: no standard error"
    )
    assert published.summary(table([""])) == "the paper gives none of these numbers"
    beside = table(["", ""]).assign(published=0.5)
    assert published.summary(beside) == "2 published numbers, none judged"


def test_exact_numbers_do_not_differ_by_chance():
    exact = table(["agrees"] * 3, [1.0] * 3).assign(standard_error=0.0)
    assert published.summary(exact) == "3 comparable: 3 agree, 0 compatible, 0 differ"


@pytest.mark.parametrize(
    ("p", "left"),
    [([0.04, 0.04], 0), ([0.02, 0.04], 2), ([0.01, 0.9], 1), ([0.024, 0.06], 1)],
)
def test_holm_leaves_what_all_numbers_together_do_not_explain(p, left):
    assert published.differ_after_holm(table(["differs"] * len(p), p)) == left


def test_holm_is_no_stricter_than_bonferroni_and_no_laxer_than_by_false_discovery():
    p = [0.001, 0.004, 0.01, 0.02, 0.3, 0.6]
    found = published.differ_after_holm(table(["differs"] * 6, p))
    assert sum(6 * one <= 0.05 for one in p) <= found
    assert found <= (false_discovery_control(p) <= 0.05).sum()
