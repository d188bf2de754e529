"""The chapter's parameters: what the profiles fill in."""

from membership.book.studies.iha.settings import Settings


def test_each_data_set_is_taken_once_the_main_one_first():
    settings = Settings.from_strings({"dataset": "digits", "also_datasets": '["digits", "mnist"]'})
    assert settings.datasets == ["digits", "mnist"]
