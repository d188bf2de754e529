"""The examples in docstrings run and print what they say."""

import doctest
import inspect

import pytest

from membership import attacks, curvature, data

ATTACKS = {one.function.__name__: one.function for one in attacks.registry().values()}
WITH_EXAMPLES = {
    **ATTACKS,
    "loss": attacks.loss,
    "last_layer": curvature.last_layer,
    "balanced_membership": data.balanced_membership,
    "from_arrays": data.from_arrays,
}


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_an_example_prints_what_it_says(name):
    function = WITH_EXAMPLES[name]
    (found,) = doctest.DocTestFinder(recurse=False).find(function, name, globs={})
    assert found.examples, f"{name} has no example"
    told: list[str] = []
    failed, tried = doctest.DocTestRunner(verbose=False).run(found, out=told.append)
    assert failed == 0, "".join(told)
    assert tried > 0


def test_every_registered_attack_is_public_and_has_one():
    assert set(ATTACKS) <= set(attacks.__all__)
    assert [name for name in ATTACKS if ">>> " not in inspect.getdoc(ATTACKS[name])] == []
