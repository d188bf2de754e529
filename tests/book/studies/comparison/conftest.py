"""One tiny run, gathered once for all the tests of the chapter."""

import numpy as np
import pytest

from membership.book.exhibits import Source, declared
from membership.book.studies.comparison.scores import Table, read
from membership.book.studies.comparison.settings import Settings


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


def scored(mu, shape=(30, 400), seed=0, offset=0.0):
    """Scores of members that are larger by mu."""
    rng = np.random.default_rng(seed)
    member = rng.random(shape) < 0.5
    return Table({"loss": rng.normal(size=shape) + mu * member + offset}, member)
