"""An iterative solver's scores, which are no function of other evidence."""

from typing import Any

import numpy as np

from membership import attacks
from membership.attacks.forms import TERMS
from membership.attacks.iha import iha_from_forms
from membership.studies.iha.ensembles import Trained
from membership.studies.iha.white_box import records, training_records

# Records that conjugate gradients are asked about, by profile.
SOLVED = {"tiny": 60, "quick": 200, "paper": 10_000}
BITS = 2

Variables = dict[str, tuple[tuple[str, ...], Any]]


def by_cg(trained: Trained, observed: list[dict[str, np.ndarray]], settings: Any) -> Variables:
    """How far IHA's scores by conjugate gradients are from the exact ones, for every target.

    Both are computed at gathering from the same model; of the small difference a few bits do.
    """
    asked = trained.asked(SOLVED[settings.profile])
    rows, apart = np.searchsorted(trained.queries, asked), []
    for target, each in zip(trained.targets, observed, strict=True):
        member = trained.task.membership[target, asked]
        cg = attacks.iha(
            trained.ensemble.module(target),
            trained.task.config.loss_of,
            training_records(trained, target),
            records(trained, asked),
            member,
            **recipe(trained),
            damping=float(each["amount"][0]),
            solver="cg",
        )
        forms = dict(zip(TERMS, each["main"][0][:, rows], strict=True))
        how = (cg.loss, member, trained.task.n_members, *recipe(trained).values())
        apart.append(_few_bits(cg.score - iha_from_forms(forms, *how).score))
    return {
        "difference": (("target", "query"), np.array(apart)),
        "query": (("query",), asked.astype(np.int32)),
    }


def _few_bits(values: np.ndarray) -> np.ndarray:
    """Numbers right to a fifth, whose few bits of mantissa compress."""
    mantissa, exponent = np.frexp(values)
    return np.ldexp(np.round(mantissa * 2**BITS) / 2**BITS, exponent).astype(np.float32)


def recipe(trained: Trained) -> dict[str, float]:
    """What IHA needs to know of the training: the initial learning rate, as the released code."""
    config = trained.task.config
    return {name: getattr(config, name) for name in ("learning_rate", "momentum", "weight_decay")}
