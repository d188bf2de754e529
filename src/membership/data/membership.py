"""Who is a member: boolean masks over records, one row a model."""

from collections.abc import Sequence

import numpy as np

from membership.errors import InputError


def random_membership(n_models: int, n_records: int, n_members: int, seed: int) -> np.ndarray:
    """Draw a training set of fixed size for each model, uniformly and independently.

    Parameters
    ----------
    n_models : int
        At least 1.
    n_records : int
        At least 2.
    n_members : int
        Members of each model, 1 to ``n_records - 1``.
    seed : int
        At least 0.

    Returns
    -------
    ndarray of bool, shape (n_models, n_records)
        Row i holds exactly `n_members` True. It depends on `seed`, i and the sizes, not on
        `n_models`: asking for more models leaves the first ones as they were.

    Raises
    ------
    InputError
        A size is out of range.
    """
    if n_models < 1:
        raise InputError(f"n_models={n_models}: give at least 1")
    if not 1 <= n_members < n_records:
        raise InputError(
            f"n_members={n_members} of n_records={n_records}: give 1 to n_records - 1, "
            "so that there are members and non-members"
        )
    rng = np.random.default_rng(seed)
    mask = np.zeros((n_models, n_records), dtype=bool)
    for row in mask:
        row[rng.permutation(n_records)[:n_members]] = True
    return mask


def random_halves(n_models: int, n_records: int, seed: int) -> np.ndarray:
    """Give each model a random half of the records, ``n_records // 2`` members.

    Parameters, return value and errors are those of `random_membership`.
    """
    return random_membership(n_models, n_records, n_records // 2, seed)


def balanced_membership(n_models: int, n_records: int, seed: int) -> np.ndarray:
    """Give each record to exactly half of the models, and each model about half of the records.

    Attacks that compare models with and without a record have as many of both for every record.
    Independent halves (`random_halves`) leave some records with few on one side.

    Where one of these models is attacked with the others, a member has one IN model less and
    another record one OUT model less, which gives the answer away (LiRA with 7 references: AUC
    0.44 of a model that leaks nothing). `lira`, `bavaria`, `mast` and `rmia` even the numbers out
    if they are told `reference_member`; a statistic of your own has to, or draw independently.

    Parameters
    ----------
    n_models : int
        Even, at least 2.
    n_records : int
        At least 2.
    seed : int
        At least 0.

    Returns
    -------
    ndarray of bool, shape (n_models, n_records)
        Every column holds ``n_models // 2`` True, every row ``n_records // 2`` or one more.

    Raises
    ------
    InputError
        A size is out of range, or `n_models` is odd.

    Examples
    --------
    >>> from membership import data
    >>> member = data.balanced_membership(4, 6, seed=0)
    >>> member.sum(axis=0).tolist(), member.sum(axis=1).tolist()
    ([2, 2, 2, 2, 2, 2], [3, 3, 3, 3])
    """
    if n_models < 2 or n_models % 2:
        raise InputError(f"n_models={n_models}: give an even number, at least 2")
    if n_records < 2:
        raise InputError(f"n_records={n_records}: give at least 2")
    rng = np.random.default_rng(seed)
    order = rng.random((n_models, n_records)).argsort(axis=0)
    mask = order < n_models // 2
    while np.ptp(size := mask.sum(axis=1)) > 1:
        # Records that the largest training set has and the smallest lacks change over.
        most, least = size.argmax(), size.argmin()
        there = np.flatnonzero(mask[most] & ~mask[least])
        moved = rng.choice(there, (size[most] - size[least]) // 2, replace=False)
        mask[most, moved], mask[least, moved] = False, True
    return mask


def disjoint_halves(n_records: int, seed: int) -> np.ndarray:
    """Split the records at random into two training sets that share none.

    Parameters
    ----------
    n_records : int
        At least 2; of an odd number one record is in neither half.
    seed : int
        At least 0.

    Returns
    -------
    ndarray of bool, shape (2, n_records)
        ``n_records // 2`` True in each row, no column with two.
    """
    if n_records < 2:
        raise InputError(f"n_records={n_records}: give at least 2 to make two halves")
    order = np.random.default_rng(seed).permutation(n_records)
    half = n_records // 2
    mask = np.zeros((2, n_records), dtype=bool)
    mask[0, order[:half]] = True
    mask[1, order[half : 2 * half]] = True
    return mask


def leave_one_out(n_records: int, records: Sequence[int] | np.ndarray) -> np.ndarray:
    """Train once on every record, then once without each of some records.

    Parameters
    ----------
    n_records : int
        At least 2.
    records : sequence of int
        Indices of the records to leave out, one a model, each in 0..n_records-1.

    Returns
    -------
    ndarray of bool, shape (1 + len(records), n_records)
        Row 0 is all True; row 1 + i is all True but for ``records[i]``.
    """
    left_out = np.asarray(records, dtype=np.int64)
    if n_records < 2 or left_out.size == 0:
        raise InputError(
            f"n_records={n_records}, records={left_out.tolist()}: give at least 2 records "
            "and name at least one to leave out"
        )
    if left_out.min() < 0 or left_out.max() >= n_records:
        raise InputError(
            f"records={left_out.tolist()}: give indices from 0 to n_records - 1 = {n_records - 1}"
        )
    mask = np.ones((1 + len(left_out), n_records), dtype=bool)
    mask[1 + np.arange(len(left_out)), left_out] = False
    return mask
