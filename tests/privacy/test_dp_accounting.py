import pytest

from membership import privacy

pytest.importorskip("dp_accounting")

SIZES = {"n": 256, "n_records": 60_000, "epochs": 60, "sigma": 1.1}
REPLACED = {"adjacency": "replace-one"}


@pytest.mark.slow
def test_the_reviews_example_is_beside_dp_accountings():
    """sigma 1.1, n 256, N 60,000, 60 epochs, delta 1e-5, one record added or removed: 2.38."""
    ours, theirs = privacy.assess(**SIZES), privacy.established(**SIZES)
    assert theirs.epsilon == pytest.approx(2.38, abs=0.005)
    assert ours.epsilon == pytest.approx(theirs.epsilon, rel=2e-4)
    assert ours.differential.tpr == pytest.approx(theirs.tpr, rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize(
    "changed",
    [
        REPLACED,
        {**REPLACED, "sampling": "shuffled", "sigma": 12.0},
        {"n": 20, "n_records": 30, "epochs": 3, "sigma": 4.0},
        {**REPLACED, "n": 2000, "epochs": 7.3, "delta": 1e-7},
        {"sigma": 0.4, "epochs": 1.0, "delta": 1e-3},
        {"n": 60_000, "epochs": 4.0, "sigma": 5.0},
        {"n": 1, "n_records": 500, "epochs": 10},
        {"delta": 1e-9},
        {"delta": 1e-10, **REPLACED},
        {"n": 20, "n_records": 30, "epochs": 3, "sigma": 4.0, "delta": 1e-10},
    ],
)
def test_two_accountants_agree(changed):
    sizes = {**SIZES, **changed}
    ours, theirs = privacy.assess(**sizes), privacy.established(**sizes)
    assert theirs.method == "privacy loss distributions"
    # Theirs reads rates off 400 values of epsilon, on another grid.
    assert ours.epsilon == pytest.approx(theirs.epsilon, rel=1e-3)
    assert ours.differential.tpr == pytest.approx(theirs.tpr, rel=1e-2)


def test_fixed_batches_are_within_renyis_bound():
    sizes = {**SIZES, **REPLACED, "sampling": "fixed", "sigma": 3.0}
    ours, theirs = privacy.assess(**sizes), privacy.established(**sizes)
    poisson = privacy.assess(**{**sizes, "sampling": "poisson"})
    assert theirs.method == "Rényi"
    assert poisson.epsilon < ours.epsilon < theirs.epsilon


def test_where_one_step_tells_all_there_is_none():
    assert privacy.established(**{**SIZES, "sigma": 0.01}) is None
    assert privacy.established(**{**SIZES, "sigma": 0.0}) is None
