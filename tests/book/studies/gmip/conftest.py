"""The evidence of a run at the sizes of the tiny profile, gathered once for all tests."""

import pytest

from membership import evidence
from membership.book.studies.gmip import evidence as gathering
from membership.book.studies.gmip.settings import Settings


@pytest.fixture(scope="session")
def settings():
    return Settings.from_values({"profile": "tiny", "audit_models": 3})


@pytest.fixture(scope="session")
def gathered(settings, tmp_path_factory):
    """Every evidence of a run, as a file gives it back, gathered when a test asks for it."""
    folder, functions = tmp_path_factory.mktemp("evidence"), gathering.sources(settings)

    class Gathered(dict):
        def __missing__(self, name):
            path = evidence.save(folder / f"{name}.evidence", functions[name]())
            return self.setdefault(name, evidence.load(path))

    return Gathered()


@pytest.fixture(scope="session")
def audits(gathered):
    return [gathered["steps-digits"]]


@pytest.fixture(scope="session")
def trained(gathered):
    return [gathered["measured-digits"]]
