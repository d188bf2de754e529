import pytest

from membership.studies.lood.records import load
from membership.studies.lood.settings import Settings


@pytest.fixture(scope="session")
def settings():
    return Settings.from_values({"profile": "tiny", "n_jobs": 1})


@pytest.fixture(scope="session")
def records(settings):
    return load(settings)
