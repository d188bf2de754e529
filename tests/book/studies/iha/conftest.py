"""A small ensemble and a small leave-one-out experiment, trained once for all tests."""

import pytest

from membership.book.exhibits.source import Source
from membership.book.studies.iha import evaluation, left_out, neighbours, subjects
from membership.book.studies.iha import experiment as tasks
from membership.book.studies.iha.settings import Settings

SIZES = {
    "profile": "tiny",
    "n_models": "6",
    "n_queries": "120",
    "epochs": "6",
    "loo_records": "3",
    "n_jobs": "1",
}


@pytest.fixture(scope="session")
def settings(tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("results"))
    return Settings.from_strings({**SIZES, "also_datasets": '["digits"]', "results_dir": folder})


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory):
    patch = pytest.MonkeyPatch()
    patch.setenv("MEMBERSHIP_CACHE", str(tmp_path_factory.mktemp("cache")))
    yield
    patch.undo()


@pytest.fixture(scope="session")
def source(settings, own_cache):
    return Source(settings, ())


@pytest.fixture(scope="session")
def trained(settings, own_cache):
    return tasks.train(tasks.task(subjects.Subject("digits-odd"), settings), settings)


@pytest.fixture(scope="session")
def evaluations(source):
    return evaluation.read(source, subjects.MAIN, subjects.subjects)


@pytest.fixture(scope="session")
def retrained(settings, own_cache):
    return left_out.retrain("digits-odd", settings)


@pytest.fixture(scope="session")
def experiment(source):
    return left_out.experiments(source)[0]


@pytest.fixture(scope="session")
def games(settings, own_cache):
    """The clean game in parts, by schedule."""
    return [
        neighbours.pairs(subjects.Subject(subjects.EMBEDDED), settings, schedule)
        for schedule in subjects.SCHEDULES
    ]
