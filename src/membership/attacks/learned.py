"""Attacks whose score was computed where the evidence was gathered."""

from typing import Any

from membership.arrays import FloatArray, as_float64


def learned(score: Any) -> FloatArray:
    """The score of a learned attack, such as the attack models of Shokri et al. (2017).

    Their inputs, every output of every shadow model, are too large to keep; what they say of each
    record is kept.

    Parameters
    ----------
    score : array of shape (records,)
        Higher for members; finite.

    Returns
    -------
    ndarray of shape (records,)
        The score, unchanged.

    Raises
    ------
    InputError
        Not one axis, or entries that are not finite.

    Examples
    --------
    >>> from membership import attacks
    >>> attacks.learned([0.9, 0.2]).tolist()
    [0.9, 0.2]
    """
    return as_float64("score", score, 1)
