"""What outputs alone tell: LOSS, and LiRA in its variants, with reference models."""

import numpy as np

from membership import attacks
from membership.metrics.arrays import FloatArray
from membership.studies.iha.ensembles import Trained, loss_of

ONLINE = {
    "LiRA": ("per-record", False),
    "LiRA, global variance": ("global", False),
    "LiRA, target among its references": ("per-record", True),
    "LiRA, target among its references, global variance": ("global", True),
}
OFFLINE = {"LiRA offline, one-sided": "one", "LiRA offline, two-sided": "two"}


def complement(model: int) -> int:
    """The model trained on the other half of the records (see `tasks.halves`)."""
    return model ^ 1


def black_box(trained: Trained, target: int) -> dict[str, FloatArray]:
    """Scores of the records that a target is asked about, by attack.

    The reference models are all others of the ensemble but the target's complement. Trained on
    exactly the records that the target has not seen, its errors are the target's turned round
    (their correlation is -0.97 for logistic regression on MNIST), so that it would give the
    answer away nearly as the target itself does. Where a name says so the target is left among
    its references, as in the released code.

    Returns
    -------
    dict of str to ndarray of shape (queries,)
    """
    queries = trained.queries(target)
    phi = trained.scaled[:, queries]
    seen = trained.task.membership[:, queries]
    others = np.delete(np.arange(len(phi)), [target, complement(target)])
    scores = {"LOSS": attacks.malt(loss_of(trained.task, phi[target]))}
    for name, (variance, included) in ONLINE.items():
        rows = np.append(others, target) if included else others
        scores[name] = attacks.lira(phi[target], phi[rows], seen[rows], "online", variance)
    for name, sided in OFFLINE.items():
        scores[name] = attacks.lira(phi[target], phi[others], seen[others], "offline", sided=sided)
    return scores
