import math

import pytest

from membership import privacy
from membership.errors import InputError


def test_the_papers_levels_without_noise():
    # Printed by the notebook that the authors released.
    for sizes, mu in (
        (dict(n=400, n_records=48_000, epochs=10, d=650), 0.7865955046430421),
        (dict(n=795, n_records=54_855, epochs=3, d=2580), 1.4470370595554225),
        (dict(n=1000, n_records=43_000, epochs=20, d=1026), 1.1921696789742704),
    ):
        found = privacy.assess(**sizes)
        assert found.mip == pytest.approx(mu, rel=1e-12)
        assert (found.gdp, found.gdp_step) == (math.inf, math.inf)
        assert found.mip_one_sided < found.mip


def test_with_noise_the_smaller_level_counts():
    tau = privacy.required_noise(0.4, "gdp", 650, 400, 650, 500.0, 48_000, 1200)
    found = privacy.assess(400, 48_000, 10, 650, clip=500.0, tau=tau)
    assert found.steps == 1200
    assert found.gdp == pytest.approx(0.4, rel=1e-9)
    assert found.mip == found.gdp < found.mip_by_theorem
    assert found.mip_one_sided < found.mip
    assert found.effective_batch_size == pytest.approx(400 + (tau * 400 / 500) ** 2)


def test_a_susceptible_record_is_worse_off():
    typical, extreme = (privacy.assess(50, 1000, 5, 65, k=k) for k in (None, 300.0))
    assert extreme.mip > typical.mip
    assert typical == privacy.assess(50, 1000, 5, 65, k=65)


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"n": 1}, "n = 1"),
        ({"n_records": 10}, "n_records = 10"),
        ({"epochs": 0}, "epochs = 0"),
        ({"epochs": "5"}, "epochs = '5'"),
        ({"n_records": "1000"}, "n_records = '1000'"),
        ({"d": 0}, "d = 0"),
        ({"k": 0}, "k = 0"),
        ({"tau": -1.0}, "tau = -1"),
        ({"tau": 1.0}, "clip is missing"),
    ],
)
def test_bad_input_is_named(changed, named):
    with pytest.raises(InputError, match=named):
        privacy.assess(**{**dict(n=50, n_records=1000, epochs=5, d=65), **changed})
