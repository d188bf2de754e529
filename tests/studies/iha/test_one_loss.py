"""The share that one loss keeps on trained networks, from forms, against gradients themselves."""

import numpy as np
import pytest

from membership import curvature
from membership.studies.iha import one_loss

FILES = "white-box-digits-odd", "sweep-digits-odd"


@pytest.fixture(scope="module")
def files(source):
    return [source.evidence(name) for name in FILES]


@pytest.fixture(scope="module")
def table(files):
    return one_loss.control_17(files[:1], files[1:]).set_index(["damping", "of"])


@pytest.mark.parametrize("damping", [0.01, 0.2, 5.0])
def test_the_median_is_that_of_the_gradients(trained, files, table, damping):
    queries = files[1]["query"].values
    medians, least = [], []
    for target in trained.targets:
        model, loss = trained.ensemble.module(target), trained.task.config.loss_of
        pool, members = trained.task.pool, trained.task.membership[target]
        hessian = curvature.hessian(model, loss, pool.x[members], pool.y[members])
        values, axes = np.linalg.eigh(hessian)
        gradient = curvature.per_record_gradients(model, loss, pool.x[queries], pool.y[queries])
        medians.append(np.median(curvature.loss_share(values + damping, gradient @ axes, 1.0)))
        c = (values.max() + damping) / (values.min() + damping)
        least.append(4 * c / (1 + c) ** 2)
    # Targets 0 and 1 are each other's complement: one unit of two.
    for name, each in ((one_loss.MEDIAN, medians), (one_loss.LEAST, least)):
        expected = np.mean(each)
        assert table.loc[(damping, name), "value"] == pytest.approx(expected, rel=1e-4)
        assert table.loc[(damping, name), "n_repeats"] == 2


def test_a_damping_that_leaves_no_minimum_has_no_row(files):
    forms = files[0].copy(deep=True)
    forms["eigenvalue"][:, 0] = -0.02
    found = one_loss.control_17([forms], files[1:])
    assert found["damping"].min() == 0.03
