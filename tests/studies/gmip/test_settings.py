import pytest

from membership.errors import InputError
from membership.studies.gmip.settings import Settings


def test_the_paper_profile_has_the_papers_data():
    settings = Settings.from_values({"profile": "paper"})
    assert settings.dataset == "adult"
    assert settings.monte_carlo == 400_000
    assert (settings.n_levels, settings.audit_steps) == (20, 5)


def test_out_of_range_is_named():
    with pytest.raises(InputError, match="utility_seeds"):
        Settings.from_values({"utility_seeds": 101})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("audit_models", 1),
        ("utility_seeds", 1),
        ("simulated_repeats", 1),
        ("simulated_records", 999),
        ("n_reference", 2),
    ],
)
def test_sizes_without_an_interval_are_refused_before_any_work(name, value):
    with pytest.raises(InputError, match=f"{name} = {value}"):
        Settings.from_values({"profile": "tiny", name: value})
