"""One small world of digits, trained once for all the tests of the chapter."""

from functools import partial

import pytest

from membership.book.exhibits import Source, declared
from membership.book.studies.bmia import evidence
from membership.book.studies.bmia.experiment import world
from membership.book.studies.bmia.scores import read
from membership.book.studies.bmia.settings import Settings
from membership.book.studies.bmia.trained import train

SMALL = {
    "profile": "tiny",
    "n_targets": 2,
    "n_reference": 8,
    "epochs": 15,
    "n_samples": 40,
    "n_jobs": 1,
    "architectures": ["logistic", "mlp-8"],
}


@pytest.fixture(scope="session")
def settings(tmp_path_factory):
    return Settings.from_values({**SMALL, "results_dir": str(tmp_path_factory.mktemp("results"))})


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEMBERSHIP_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def small(settings, cache):
    found = train(world("digits", settings))
    found.answers  # noqa: B018
    return found


@pytest.fixture(scope="session")
def source(settings, cache):
    """Every exhibit's evidence, gathered when it is asked for."""
    return Source(settings, declared("bmia"))


@pytest.fixture(scope="session")
def seen(source):
    return read(source, partial(evidence.files, evidence.MAIN))[0]


@pytest.fixture(scope="session")
def many(source):
    """The last data set with its many references."""
    return read(source, partial(evidence.of_last, evidence.MANY))[0]


@pytest.fixture(scope="session")
def variants(source):
    (name,) = evidence.files(("variants",), source.settings)
    return source.evidence(name)
