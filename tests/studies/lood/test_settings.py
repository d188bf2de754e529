import pytest

from membership.errors import InputError
from membership.studies.lood.settings import Settings


def test_quick_has_fifty_networks_a_side_and_twenty_reconstructions():
    settings = Settings.from_values({})
    assert settings.n_networks >= 50
    assert settings.n_reconstructed >= 20


def test_the_networks_have_no_more_records_than_the_process():
    assert Settings.from_values({"n_records": 60}).network_records == 60
    with pytest.raises(InputError, match="network_records = 100: give at most 60"):
        Settings.from_values({"n_records": 60, "network_records": 100})


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"n_retrained": 51}, "n_retrained = 51: give at most 50"),
        ({"n_networks": 3}, "n_networks = 3: a law fitted on half of them needs at least 4"),
        ({"noise": -0.1}, "noise"),
        ({"depth": 101}, "depth"),
    ],
)
def test_sizes_that_cannot_be_drawn_are_named(values, named):
    with pytest.raises(InputError, match=named):
        Settings.from_values(values)
