"""Limits of the shell: raised where that is allowed, else refused with what would do."""

import resource

import joblib
import pytest

from membership import limits
from membership.errors import InputError


@pytest.fixture
def shell(monkeypatch):
    """A shell whose limits a test sets, as (soft, hard), and may look at afterwards."""
    given = {resource.RLIMIT_NOFILE: (1024, 4096), resource.RLIMIT_AS: (-1, -1)}
    monkeypatch.setattr(resource, "getrlimit", given.__getitem__)
    monkeypatch.setattr(resource, "setrlimit", given.__setitem__)
    return given


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ((64, 4096), 4096),
        ((256, 1000), 1000),
        ((64, -1), 4096),
        ((10**6, 10**6), 10**6),
        ((-1, -1), -1),
    ],
)
def test_open_files_are_raised_as_far_as_allowed_and_never_lowered(shell, before, after):
    shell[resource.RLIMIT_NOFILE] = before
    limits.require()
    assert shell[resource.RLIMIT_NOFILE] == (after, before[1])


def test_too_few_open_files_are_refused(shell):
    shell[resource.RLIMIT_NOFILE] = (64, 64)
    with pytest.raises(InputError, match=r"allows 64 open files; a run needs at least 256"):
        limits.require()


def test_too_little_memory_is_refused(shell):
    shell[resource.RLIMIT_AS] = (2**30, -1)
    with pytest.raises(InputError, match=r"allows 1 GB of memory; a run needs at least 2 GB"):
        limits.require()
    shell[resource.RLIMIT_AS] = (limits.MEMORY, -1)
    limits.require()


@pytest.mark.parametrize(
    ("given", "allowed", "expected"),
    [(3, "1", 3), (0, "1", 1), (0, "2", 2), (0, "8", 4), (0, "", 4), (0, "0", 4), (0, "2,1", 4)],
)
def test_cores_are_those_asked_for_or_all_that_a_process_may_use(
    monkeypatch, given, allowed, expected
):
    monkeypatch.setattr(joblib, "cpu_count", lambda: 4)
    monkeypatch.setenv("OMP_NUM_THREADS", allowed)
    assert limits.cores(given) == expected


def test_without_a_word_from_the_shell_all_cores_may_be_used(monkeypatch):
    monkeypatch.setattr(joblib, "cpu_count", lambda: 4)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert limits.cores() == 4
