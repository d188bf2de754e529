"""Attack by quantile regression (QMIA, Bertran et al. 2023).

One model, fitted to records that the target was not trained on, predicts from a record's features
how the target's score on a non-member like it is distributed. A queried record is called a member
when its score is high in that distribution: a threshold of its own without reference models.
"""

from typing import Any

from membership.arrays import FloatArray, as_float64
from membership.errors import InputError
from membership.training import fit_qmia


def qmia(
    public_x: Any,
    public_score: Any,
    query_x: Any,
    query_score: Any,
    head: str = "gaussian",
    **options: Any,
) -> FloatArray:
    """Score a record by how high the target's score on it is for a non-member like it.

    The adversary knows the target model's score, such as the hinge, on the queried records and on
    public records of the same kind that the target was not trained on. No reference model is
    trained. What the regression cannot tell apart by the features stays one distribution: the
    thresholds follow the difficulty of a kind of record, not of the single record.

    Parameters
    ----------
    public_x : array of shape (public, features)
        Features of the public records, in any units; the label may be among them, one-hot.
    public_score : array of shape (public,)
        The target's score on them, higher where the model is surer of the label.
    query_x, query_score : array of shape (records, features) and (records,)
        The same for the queried records.
    head : {"gaussian", "pinball", "boosted"}
        See `fit_qmia`, as for `options`.

    Returns
    -------
    ndarray of shape (records,)
        "gaussian": standard deviations above the predicted mean. Otherwise -log of the predicted
        share of such non-members with a higher score, in nats. Neither saturates.

    Raises
    ------
    InputError
        As `fit_qmia`, or the queries' shapes do not fit.

    Examples
    --------
    >>> import numpy as np
    >>> from membership import attacks
    >>> public = np.linspace(-1, 1, 80)[:, None]
    >>> queries = np.array([[-0.5], [0.5]])
    >>> score = attacks.qmia(public, 2 * public[:, 0], queries, [2.0, -2.0], head="boosted")
    >>> bool(score[0] > score[1])
    True
    """
    query_x = as_float64("query_x", query_x, 2)
    query = as_float64("query_score", query_score, 1)
    columns = as_float64("public_x", public_x, 2).shape[1]
    if query_x.shape != (query.size, columns):
        raise InputError(f"query_x has shape {query_x.shape}; give {(query.size, columns)}")
    return fit_qmia(public_x, public_score, head, **options).score(query_x, query)
