import pytest

from membership import evidence
from membership.book.studies.lood.evidence import sources
from membership.book.studies.lood.experiment import load
from membership.book.studies.lood.settings import Settings


@pytest.fixture(scope="session")
def settings():
    return Settings.from_values({"profile": "tiny", "n_jobs": 1})


@pytest.fixture(scope="session")
def records(settings):
    return load(settings)


@pytest.fixture(scope="session")
def gathered(settings, tmp_path_factory):
    """Evidence of a run by name, as a file gives it back; each is gathered once."""
    folder, found = tmp_path_factory.mktemp("evidence"), {}

    def one(name):
        if name not in found:
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("MEMBERSHIP_CACHE", str(folder / "cache"))
                made = sources(settings)[name]()
            found[name] = evidence.load(evidence.save(folder / f"{name}.evidence", made))
        return found[name]

    return one
