"""One tiny run, gathered once for all the tests of the chapter."""

import pytest

from membership.exhibits import Source, declared
from membership.studies.comparison.scores import read
from membership.studies.comparison.settings import Settings


@pytest.fixture(scope="session")
def settings(tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("results"))
    return Settings.from_values({"profile": "tiny", "results_dir": folder})


@pytest.fixture(scope="session")
def source(settings, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEMBERSHIP_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield Source(settings, declared("comparison"))


@pytest.fixture(scope="session")
def seen(source):
    return read_of(source)


def read_of(source):
    """The cells, once the first exhibit has gathered them."""
    source.table("comparison-fig-1")
    return read(source)
