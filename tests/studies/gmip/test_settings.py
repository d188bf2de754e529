import pytest

from membership.errors import InputError
from membership.studies.gmip.settings import Settings


@pytest.mark.parametrize("profile", ["tiny", "quick", "paper"])
def test_every_size_of_a_profile_is_filled_in(profile):
    values = Settings.from_values({"profile": profile}).parameters()
    for name in Settings.profiles[profile]:
        assert values[name], name


def test_the_paper_profile_has_the_papers_data():
    values = Settings.from_values({"profile": "paper"}).parameters()
    assert values["dataset"] == "adult"
    assert values["monte_carlo"] == 400_000
    assert values["n_levels"] == 20


def test_out_of_range_is_named():
    with pytest.raises(InputError, match="audit_steps"):
        Settings.from_values({"audit_steps": 1})
