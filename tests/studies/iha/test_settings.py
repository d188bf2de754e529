"""The chapter's parameters: what the profiles fill in, and what is refused at once."""

import pytest

from membership.errors import InputError
from membership.studies.iha.settings import Settings


def test_each_data_set_is_taken_once_the_main_one_first():
    settings = Settings.from_strings({"dataset": "digits", "also_datasets": '["digits", "mnist"]'})
    assert settings.datasets == ["digits", "mnist"]


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("n_models", "7", "even"),
        ("n_models", "4", "needs at least 6"),
        ("n_targets", "2", "at least 3"),
        ("n_queries", "39", "at least 40"),
        ("loo_records", "1", "at least 2"),
        ("loo_models", "3", "at least 4"),
    ],
)
def test_a_size_that_cannot_work_is_named_at_once(name, value, message):
    with pytest.raises(InputError, match=rf"{name} = {value}: .*{message}"):
        Settings.from_strings({name: value})


def test_no_more_targets_than_models():
    with pytest.raises(InputError, match="n_targets = 9: there are 8 models"):
        Settings.from_strings({"n_models": "8", "n_targets": "9"})
