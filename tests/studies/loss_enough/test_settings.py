import pytest

from membership.errors import InputError
from membership.studies.loss_enough.settings import Settings


def test_the_games_take_no_data_set():
    Settings.from_strings({"profile": "tiny"}).check_run()
    with pytest.raises(InputError, match=r"dataset = 'digits'.*leave it empty"):
        Settings.from_strings({"dataset": "digits"}).check_run()


@pytest.mark.parametrize("name", ["n_games", "n_records", "n_draws", "grid_points"])
def test_a_size_that_cannot_work_is_named_at_once(name):
    with pytest.raises(InputError, match=rf"{name} = 1.*at least"):
        Settings.from_strings({name: "1"})
