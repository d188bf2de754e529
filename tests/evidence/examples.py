"""Small evidence to write and read."""

import numpy as np

from membership import evidence

ORIGIN = {"set": "Digits", "data": {"digits": "ab12"}, "recipe": {"epochs": 3, "loss": "hinge"}}


def outputs(models: int = 3, records: int = 50, seed: int = 0, **changed):
    """Evidence of the kind outputs with random numbers."""
    rng = np.random.default_rng(seed)
    variables = {
        "log_odds": rng.normal(2, 3, (models, records)),
        "member": rng.random((models, records)) < 0.5,
        "test_accuracy": 100 * rng.random(models),
        **changed,
    }
    labels = {"record": np.arange(records) * 7}
    return evidence.dataset("outputs", variables, labels, targets=[0, 1], **ORIGIN)


def measured():
    """Evidence of a kind that takes any name, words and truth over any dimensions too."""
    return evidence.dataset(
        "measured",
        {
            "seconds": (("case", "repeat"), np.array([[0.5, 0.25], [1e-300, np.nan]])),
            "solver": (("case",), np.array(["exact", "conjugate gradients"])),
            "trials": ((), np.int64(7)),
            "reached": (("case",), np.array([True, False])),
        },
        {"case": ["small", "größer"]},
        **ORIGIN,
    )
