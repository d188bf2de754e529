"""Every attack of the chapter on one world: scores and truth, target by target."""

import numpy as np

from membership import attacks
from membership.attacks.bmia import bmia, bmia_mixture
from membership.metrics.arrays import FloatArray
from membership.studies.bmia.evidence import Evidence
from membership.studies.bmia.summaries import Pairs

SIZES = (2, 4, 8)
DIFFERENCE = "difference"
MIXTURE = "BMIA, mixture"
CLOSED = "BMIA, closed form"
CONSTANT = "BMIA, constant sd"


def all_scores(evidence: Evidence) -> dict[tuple[str, int], Pairs]:
    """Scores of all attacks of Table 1, by attack and number of references.

    Parameters
    ----------
    evidence : Evidence

    Returns
    -------
    dict
        In the table's order. References beyond those trained are left out.
    """
    sizes = [n for n in SIZES if n <= evidence.n_reference]
    found = {
        ("Attack-P", 0): evidence.each(lambda t: attack_p(evidence, t)),
        ("QMIA", 0): evidence.each(lambda t: qmia(evidence, t)),
    }
    for name, attack in (("Attack-R", attack_r), ("LiRA", lira), ("RMIA", rmia)):
        for n in sizes:
            found[name, n] = evidence.each(lambda t, n=n, attack=attack: attack(evidence, t, n))
    found[DIFFERENCE, 1] = evidence.each(lambda t: difference(evidence, t, 1))
    found["BMIA", 1] = evidence.each(evidence.bmia)
    found[MIXTURE, sizes[-1]] = evidence.each(lambda t: mixture(evidence, t, sizes[-1]))
    return found


def attack_p(evidence: Evidence, target: int) -> FloatArray:
    """The share of validation records with a larger loss."""
    return attacks.attack_p(evidence.signals.loss[target], evidence.validation.loss[target])


def attack_r(evidence: Evidence, target: int, n: int) -> FloatArray:
    """The interpolated rank among the references' losses."""
    loss = evidence.signals.loss
    return attacks.attack_r(loss[target], loss[evidence.references(target, n)])


def lira(
    evidence: Evidence, target: int, n: int, variance: str = "per-record", sided: str = "one"
) -> FloatArray:
    """Offline; the paper's formula is one-sided and does not say whose variance."""
    odds = evidence.signals.odds
    chosen = evidence.references(target, n)
    return attacks.lira(odds[target], odds[chosen], mode="offline", variance=variance, sided=sided)


def rmia(evidence: Evidence, target: int, n: int) -> FloatArray:
    """Offline with a = 0.3 and gamma = 1; the validation records are Z."""
    chosen = evidence.references(target, n)
    query, held = evidence.signals.probability, evidence.validation.probability
    return attacks.rmia(query[target], query[chosen], held[target], held[chosen])


def qmia(evidence: Evidence, target: int) -> FloatArray:
    """A Gaussian regression of the hinge on record and label, fitted to validation records."""
    return qmia_model(evidence, target).score(
        _with_label(evidence, evidence.x, evidence.y), evidence.signals.hinge[target]
    )


def qmia_model(evidence: Evidence, target: int) -> attacks.ConditionalNormal:
    """The regression itself, fitted once a target."""
    if ("qmia", target) not in evidence.kept:
        x, y = evidence.records(evidence.world.validation)
        evidence.kept["qmia", target] = attacks.fit_qmia(
            _with_label(evidence, x, y),
            evidence.validation.hinge[target],
            seed=evidence.world.settings.seed,
        )
    return evidence.kept["qmia", target]


def qmia_law(evidence: Evidence, target: int) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation that the regression predicts for every query."""
    return qmia_model(evidence, target).predict(_with_label(evidence, evidence.x, evidence.y))


def difference(evidence: Evidence, target: int, n: int) -> FloatArray:
    """The target's hinge less the references'; with one, BMIA without a posterior."""
    hinge = evidence.signals.hinge
    return attacks.difference(hinge[target], hinge[evidence.references(target, n)])


def mixture(evidence: Evidence, target: int, n: int) -> FloatArray:
    """The tail of a mixture of n references' Laplace predictions, in closed form."""
    moments = [evidence.difference_moments(r) for r in evidence.references(target, n)]
    mean, variance = (np.stack(part) for part in zip(*moments, strict=True))
    return bmia_mixture(evidence.signals.hinge[target], mean, variance, evidence.y)


def closed_form(evidence: Evidence, target: int) -> FloatArray:
    """BMIA with the runner-up frozen, which makes the hinge Gaussian."""
    mean, variance = evidence.difference_moments(evidence.references(target, 1)[0])
    return bmia(evidence.signals.hinge[target], mean, variance, evidence.y)


def constant_sd(evidence: Evidence, target: int) -> FloatArray:
    """BMIA's predicted mean, but one standard deviation for all: the ablation."""
    n_samples = evidence.world.settings.n_samples
    drawn = evidence.draws(evidence.references(target, 1)[0], n_samples)
    return evidence.signals.hinge[target] - drawn.mean(axis=0)


def _with_label(evidence: Evidence, x: np.ndarray, y: np.ndarray) -> FloatArray:
    flat = np.asarray(x, dtype=np.float64).reshape(len(x), -1)
    return np.c_[flat, np.eye(evidence.world.dataset.n_classes)[y]]
