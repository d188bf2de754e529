"""Attacks that learn from records whose membership the adversary knows.

QMIA (Bertran et al. 2023): one model, fitted to records that the target was not trained on,
predicts from a record's features how the target's score on a non-member like it is distributed. A
queried record is called a member when its score is high in that distribution: a threshold of its
own without reference models.

The shadow attack (Shokri et al. 2017): attack models learnt on what shadow models answer.
"""

import warnings
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from membership.arrays import BoolArray, FloatArray, as_bool, as_float64
from membership.attacks.bmia import moments_score
from membership.attacks.registry import OUT, Attack, declare
from membership.errors import InputError
from membership.training import fit_qmia

# The paper's attack model has one hidden layer of 64 with ReLU. How it is trained is chosen here:
# as many batches an epoch, whatever the number of answers, unless these would be small.
HIDDEN = 64
EPOCHS, BATCHES, LEAST_BATCH = 20, 32, 64
LEARNING_RATE = 0.01


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


def shadow(
    target_output: Any,
    label: Any,
    reference_output: Any,
    reference_member: Any,
    seed: int = 0,
) -> FloatArray:
    """Score a record by a network that has learnt members' outputs from those of others.

    The adversary knows the label, what the target model answers, and shadow models: models of the
    adversary's own, what they answer, and what they were trained on. For each class a network with
    one hidden layer is trained on the answers of all shadow models to the records of that class,
    to tell their members from the others (Sections V-C and V-D).

    Parameters
    ----------
    target_output : array of shape (records, numbers)
        What the target answers: the paper has the probabilities of all classes. Their logarithms,
        or fewer numbers of the same answer, do as well. Finite.
    label : array of int, shape (records,)
        The class of each record, which chooses the attack model.
    reference_output : array of shape (models, records, numbers)
        The same of each shadow model, on the same records.
    reference_member : bool array of shape (models, records)
        Which shadow model was trained on which record.
    seed : int
        Of the attack models' starts and batches.

    Returns
    -------
    ndarray of shape (records,)
        The attack model's probability of membership; the attack says "member" above 1/2. Where
        no shadow model's members of a class can be set against others, their share.

    Raises
    ------
    InputError
        Shapes disagree, or entries are not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from membership import attacks
    >>> member = np.random.default_rng(0).random((8, 40)) < 0.5
    >>> output = np.where(member, 3.0, 1.0)[..., None]
    >>> score = attacks.shadow(output[0], np.arange(40) % 2, output[1:], member[1:])
    >>> bool(score[member[0]].min() > 0.5 > score[~member[0]].max())
    True
    """
    target = as_float64("target_output", target_output, 2)
    references = as_float64("reference_output", reference_output, 3)
    if references.shape[1:] != target.shape:
        raise InputError(
            f"reference_output has shape {references.shape}; give (models, {len(target)} records, "
            f"{target.shape[1]} numbers)"
        )
    member = as_bool("reference_member", reference_member, references.shape[:2])
    classes = as_float64("label", label, 1)
    if classes.size != len(target):
        raise InputError(f"label has {classes.size} entries for {len(target)} records")
    score = np.empty(len(target))
    with threadpool_limits(limits=1, user_api="blas"):
        for one in np.unique(classes):
            rows = classes == one
            answers = references[:, rows].reshape(-1, target.shape[1])
            score[rows] = _learnt(answers, member[:, rows].ravel(), target[rows], seed)
    return score


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


def _learnt(answers: FloatArray, member: BoolArray, asked: FloatArray, seed: int) -> FloatArray:
    """What the attack model of one class says of the target's answers."""
    # Slow to import.
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    if member.all() or not member.any():
        return np.full(len(asked), member.mean())
    batch = max(LEAST_BATCH, -(-len(member) // BATCHES))
    network = MLPClassifier(
        (HIDDEN,),
        learning_rate_init=LEARNING_RATE,
        batch_size=min(batch, len(member)),
        max_iter=EPOCHS,
        random_state=seed,
    )
    fitted = make_pipeline(StandardScaler(), network)
    with warnings.catch_warnings():
        # It stops after so many epochs whether or not the loss has settled.
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted.fit(answers, member)
    return fitted.predict_proba(asked)[:, 1]


declare(
    Attack(
        name="shokri",
        display="shadow attack",
        function=shadow,
        needs=("shokri",),
        knowledge=("logits", "reference models"),
        references=OUT,
        paper="shokri2017",
        equation="Sections V-C and V-D",
        score=lambda seen: learned(seen["shokri"]),
    ),
    Attack(
        name="qmia",
        display="QMIA",
        function=qmia,
        needs=("hinge", "posterior.qmia.mean", "posterior.qmia.sd"),
        knowledge=("logits", "population records"),
        references="none",
        paper="bertran2023",
        equation="Gaussian regression",
        score=lambda seen: moments_score(seen, "qmia"),
    ),
)
