"""Both errors read as one line, in a notebook too, and are what callers expect to catch."""

import pytest

from membership.errors import InputError, RunError


@pytest.mark.parametrize(("error", "base"), [(InputError, ValueError), (RunError, RuntimeError)])
def test_an_error_is_shown_as_one_line_without_its_stack(error, base):
    raised = error("parameter 'seed' = -1")
    assert isinstance(raised, base)
    assert raised._render_traceback_() == [f"{error.__name__}: parameter 'seed' = -1"]
