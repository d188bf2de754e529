"""What the functions on leaving out refuse: a call, and words of the one line."""

from functools import partial

import numpy as np
import pytest

from membership import lood, nngp
from membership.errors import InputError
from membership.lood import Contrast

pytestmark = pytest.mark.usefixtures("quickly_compiled")
KERNEL, RNG = nngp.rbf(1.0), np.random.default_rng(0)
X, Y = RNG.normal(size=(12, 1, 8, 8)), RNG.normal(size=(12, 10))
FIRST = X[0], Y[0]
DATA = {"x": X[1:], "y": Y[1:], "differing": FIRST}
COMPARED = lood.compare(KERNEL, **DATA, noise=0.1)
NORMALISED = lood.compare_normalised(KERNEL, **DATA, noise=0.1)
ONE = Contrast(np.ones(1), np.ones(1), np.array(1.0), 1)
TWO = Contrast(np.ones(2), np.ones(2), np.array(1.0), 1)
LINE, TARGETS = RNG.normal(size=(12, 3)), RNG.normal(size=(12, 1))
UNEVEN = nngp.rbf()(RNG.normal(size=(5, 3)))
UNEVEN[1, 3] = 0.9

# Calls that are fine before an argument of theirs is changed.
distinguishability = partial(lood.distinguishability, KERNEL, **DATA, query=X[1], noise=0.1)
compare = partial(lood.compare, KERNEL, **DATA, noise=0.1)
compare_normalised = partial(lood.compare_normalised, KERNEL, **DATA, noise=0.1)
leave_one_out = partial(lood.leave_one_out, np.eye(3), np.ones(3), 0.1)
MATRICES = {"prior": np.eye(12), "tangent": np.eye(12), "y": np.ones((12, 2))}
of_networks = partial(lood.trained_ensembles, **MATRICES, records=[0], ridge=0.5)
gradient = partial(lood.gradient, COMPARED, X[1])
maximise = partial(lood.maximise, COMPARED, X[:2], steps=1, progress=False)
reconstruct = partial(
    lood.reconstruct, KERNEL, **DATA, noise=0.1, seed=0, n_starts=1, steps=1, progress=False
)
each = partial(lood.maximise_each, KERNEL, X, Y, 0.1, steps=1, progress=False)
stationary = partial(lood.least_stationary, KERNEL, LINE, TARGETS)
FINE = [distinguishability, compare, compare_normalised, leave_one_out, of_networks, gradient]
FINE += [maximise, reconstruct, partial(each, (0, 4), X[:2]), partial(stationary, 1.0, 0.1, LINE)]


@pytest.mark.parametrize("call", FINE)
def test_the_call_without_the_change_is_fine(call):
    assert call() is not None


def of_matrix(matrix, y=None, noise=0.1):
    return partial(lood.leave_one_out, matrix, np.ones(len(matrix)) if y is None else y, noise)


def of_contrast(excess, shift, read="auc"):
    one = Contrast(np.array([excess]), np.array([shift]), np.array(0.0), 1)
    return one.auc if read == "auc" else partial(one.tradeoff, 0.1)


REFUSED = [
    (partial(distinguishability, noise=0.0), "noise = 0.0: give a number above 0"),
    (partial(distinguishability, query=np.ones((2, 3))), r"of shape \(3,\); give \(1, 8, 8\)"),
    (partial(distinguishability, measure="tv"), "measure = 'tv'"),
    (partial(distinguishability, differing=np.ones(3)), "differing must be a pair"),
    (partial(distinguishability, differing=(X[0], np.ones(3))), "label has 3 outputs; y has 10"),
    (partial(distinguishability, differing=(X[:2], Y[:3])), "3 labels for 2 records"),
    (partial(distinguishability, differing=(np.ones(64), Y[0])), "differing has"),
    (partial(distinguishability, y=np.ones(4)), "y has 4 labels for"),
    (partial(compare, x=X, y=Y), "differing record 0 is row 0 of x already"),
    (partial(compare_normalised, x=X, y=Y), "is row 0 of x already"),
    (partial(compare_normalised, noise=-2), "noise = -2"),
    (of_matrix(np.eye(3), noise=0.0), "noise = 0.0: give a number above 0"),
    (of_matrix(np.eye(3), noise=-1), "noise = -1"),
    (of_matrix(np.eye(3), noise="1"), "noise = '1'"),
    (of_matrix(np.ones((3, 2))), "give a square matrix"),
    (of_matrix(UNEVEN), r"not symmetric: entries \(1, 3\)"),
    (of_matrix(-np.eye(3)), "not positive semi-definite"),
    # The noise would hide this eigenvalue of -0.001.
    (of_matrix(np.diag([1.0, 1.0, -0.001])), "not positive semi-definite"),
    (of_matrix(np.eye(3), np.ones(4)), "y has 4 labels for 3 records"),
    (of_matrix(np.full((2, 2), np.nan)), "NaN"),
    (of_matrix(np.zeros((4, 4))), "vanished"),
    (partial(of_networks, ridge=0.0), "ridge = 0"),
    (partial(of_networks, tangent=np.eye(3)), r"prior has shape \(12, 12\) and tangent \(3, 3\)"),
    (partial(of_networks, tangent=-np.eye(12)), "positive semi-definite"),
    (partial(of_networks, y=np.ones(3)), "y has"),
    *(
        (of_contrast(*numbers, read), words)
        for read in ("auc", "tradeoff")
        for numbers, words in (
            ((-1.0, 1.0), "excess = -1: it must be finite and above -1"),
            ((np.nan, 1.0), "excess = nan: it must be finite and above -1"),
            ((0.5, -1.0), "shift = -1: it must be finite and 0 or more"),
            ((0.5, np.inf), "shift = inf: it must be finite and 0 or more"),
        )
    ),
    (partial(ONE.measure, "tv"), "measure = 'tv': expected one of kl, kl-reverse, mean, auc"),
    (partial(ONE.tradeoff, 1.2), "rates in"),
    (partial(TWO.tradeoff, 0.1), "differ in"),
    (partial(gradient, measure="auc"), "measure = 'auc': expected one of kl, kl-reverse, mean"),
    (partial(lood.gradient, NORMALISED, X[:2], joint=True), "takes separate queries"),
    *(
        (partial(lood.gradient, one, np.ones((2, 5))), "query has")
        for one in (COMPARED, NORMALISED)
    ),
    (partial(stationary, 1.0, 0.1, LINE[0]), r"give \(starts, ...\)"),
    (partial(stationary, [1.0, 2.0], 0.1, LINE), "label has 2 outputs; y has 1"),
    (partial(reconstruct, seed=-1), "seed = -1: expected a whole number from 0 up"),
    (partial(reconstruct, n_starts=0), "n_starts = 0"),
    (partial(reconstruct, n_queries=1.5), "n_queries = 1.5"),
    (partial(reconstruct, steps=0), "steps = 0: expected a whole number from 1 up"),
    (partial(reconstruct, learning_rate=0.0), "learning_rate = 0.0: give a number above 0"),
    (partial(reconstruct, measure="auc"), "measure = 'auc'"),
    (partial(reconstruct, bounds=(1.0, 0.0)), "the second above the first"),
    (partial(reconstruct, bounds=(np.zeros(5), 1.0)), "bounds do not fit a record of shape"),
    (partial(lood.maximise, COMPARED, X[0]), r"give \(starts, ...\)"),
    (partial(lood.maximise, COMPARED, X[:2, :, :4]), "query has"),
    (partial(each, (0, 12), X[:2]), "rows has 12: give numbers from 0 to 11"),
    (partial(each, (0, -1), X[:2]), "rows has -1"),
    (partial(each, (0,), X[:2]), "give a whole number a start"),
    (partial(each, (0.0, 1.0), X[:2]), r"give a whole number a start, \(2,\)"),
    (partial(each, (0,), X[0]), r"give \(starts, ...\)"),
    (partial(each, (0, 1), X[:2], measure="auc"), "measure = 'auc'"),
]


@pytest.mark.parametrize(("call", "words"), REFUSED)
def test_a_bad_argument_is_one_line_that_names_it(call, words):
    with pytest.raises(InputError, match=words) as refused:
        call()
    assert "\n" not in str(refused.value)
