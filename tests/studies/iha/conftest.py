"""A small ensemble and a small leave-one-out experiment, trained once for all tests."""

import pytest

from membership.studies.iha import audit, ensembles, loo, tasks
from membership.studies.iha.settings import Settings

SIZES = {
    "profile": "tiny",
    "n_models": "6",
    "n_queries": "120",
    "epochs": "6",
    "loo_records": "3",
    "n_jobs": "1",
}


@pytest.fixture(scope="session")
def settings():
    return Settings.from_strings({**SIZES, "also_datasets": '["digits"]'})


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory):
    patch = pytest.MonkeyPatch()
    patch.setenv("MEMBERSHIP_CACHE", str(tmp_path_factory.mktemp("cache")))
    yield
    patch.undo()


@pytest.fixture(scope="session")
def trained(settings, own_cache):
    return ensembles.train(tasks.task("digits-odd", settings), settings)


@pytest.fixture(scope="session")
def audits(settings, own_cache):
    return audit.audit_all(settings)


@pytest.fixture(scope="session")
def experiment(settings, own_cache):
    return loo.retrain("digits-odd", settings)
