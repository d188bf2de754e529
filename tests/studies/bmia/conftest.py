"""One small world of digits, trained once for all the tests of the chapter."""

import pytest

from membership.studies.bmia.evidence import evidence
from membership.studies.bmia.settings import Settings
from membership.studies.bmia.worlds import world

SMALL = {
    "profile": "tiny",
    "n_targets": 2,
    "n_reference": 8,
    "epochs": 15,
    "n_samples": 40,
    "n_jobs": 1,
}


@pytest.fixture(scope="session")
def settings():
    return Settings.from_values(SMALL)


@pytest.fixture(scope="session")
def small(settings, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEMBERSHIP_CACHE", str(tmp_path_factory.mktemp("cache")))
        found = evidence(world("digits", settings))
        found.signals  # noqa: B018
        yield found
