"""Who is trained on what: targets are independent, references balanced, canaries marked."""

import numpy as np
import pytest

from membership import data
from membership.book.studies.comparison import experiment, names
from membership.book.studies.comparison.experiment import private_layer, world


@pytest.fixture(scope="module")
def found(settings):
    return world(names.cells(settings)[0], settings)


def test_every_record_is_in_half_of_the_references_and_no_target_is_a_complement(found):
    references = found.membership[list(found.references)]
    assert (references.sum(axis=0) == len(references) // 2).all()
    targets = found.membership[list(found.targets)]
    assert (targets.sum(axis=1) == len(found.pool) // 2).all()
    for one in targets:
        others = found.membership[[not (row == one).all() for row in found.membership]]
        assert not (others == ~one).all(axis=1).any()


def test_one_of_an_attackers_pair_never_saw_the_record(found):
    for target in found.targets:
        first, second = found.pair(target)
        assert (found.membership[first] ^ found.membership[second]).all()


def test_canaries_alone_have_other_labels_and_held_records_are_others(found):
    whole = data.deduplicate(data.load("digits"))
    np.testing.assert_array_equal(found.pool.y != whole.y[found.record], found.canary)
    held = {row.tobytes() for row in found.held_out.x}
    assert not held & {row.tobytes() for row in found.pool.x}


def test_a_private_layer_depends_on_its_seed_alone(settings):
    private = world(names.cells(settings)[1], settings)
    assert private.cell.kind == "private"
    one, again = private_layer(private, 0), private_layer(private, 0)
    np.testing.assert_array_equal(one, again)
    assert np.abs(one - private_layer(private, 1)).max() > 0


def test_every_kind_makes_a_model():
    pool = data.load("digits")
    for kind in names.RECIPES:
        module = experiment.factory(kind, pool)()
        assert sum(one.numel() for one in module.parameters()) > 0
        assert experiment.config(kind, "tiny", 100).epochs >= 10
