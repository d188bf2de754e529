"""Every record of the pool asked of the targets, where the Hessian is that of one logit.

What is kept are numbers and no scores: of all records the interval is over the targets alone.
"""

from typing import Any

import numpy as np
import torch

from membership.arrays import FloatArray
from membership.curvature.eigen import conditioned_inverse
from membership.curvature.gradients import mean_gradient
from membership.curvature.white_box import WhiteBoxView
from membership.studies.iha import rows, scores, white_box
from membership.studies.iha.audit import SWEPT
from membership.studies.iha.ensembles import Trained

PUBLIC = "gradient of public records"
DECAY = "minus the weight decay for the gradient"
# An adversary without the other records: what it puts in the place of their gradient. With minus
# the weight decay nothing is left of the residual of IHA*.
ELSEWHERE = {f"IHA, {PUBLIC}": "IHA", f"IHA*, {PUBLIC}": "IHA*", f"IHA, {DECAY}": "IHA"}


def attacks(trained: Trained) -> list[str]:
    """The names of the attacks, those with public records where there are some."""
    some = [name for name in ELSEWHERE if trained.task.test is not None or PUBLIC not in name]
    return ["LOSS", *SWEPT, *some]


def observe(trained: Trained, target: int, damping: float) -> dict[str, FloatArray]:
    """``value``, AUC and rates of each of the attacks on one target; NaN where there is none."""
    task = trained.task
    member = task.membership[target]
    how = white_box.opened(
        trained.ensemble.module(target),
        task.config,
        white_box.training_records(trained, target),
    )
    raised = white_box.enough(how.spectrum.values, damping)
    public = _public(trained, how)
    loss, products = np.empty(len(task.pool)), np.empty((len(task.pool), 0))
    asked: dict[str, tuple[FloatArray, FloatArray]] = {}
    own = along = np.empty((0, 0))
    for view, at in how.views(white_box.records(trained, np.arange(len(task.pool)))):
        if not asked:
            asked = _asked(how, view, public, raised)
            own, along = (np.hstack([one[place] for one in asked.values()]) for place in (0, 1))
            products = np.empty((len(loss), 4 * len(asked)))
        loss[at] = view.loss
        products[at] = np.hstack([np.square(view.gradient) @ own, view.gradient @ along])
    found = {"LOSS": -loss}
    for place, name in enumerate(asked):
        own2, own3 = products[:, 2 * place : 2 * place + 2].T
        first = 2 * (len(asked) + place)
        mean2, mean3 = products[:, first : first + 2].T
        # The two conditions of stationarity read the same forms under their own names.
        forms = {"own2": own2, "own3": own3, "mean2": mean2, "mean3": mean3}
        forms |= {"rest2": mean2, "rest3": mean3}
        attack, who = (ELSEWHERE[name], ", everyone") if name in ELSEWHERE else (SWEPT[name][1], "")
        found[name] = scores.iha(forms, loss, member, _recipe(trained), attack, who).score
    value = np.full((len(attacks(trained)), len(rows.METRICS)), np.nan)
    for place, name in enumerate(attacks(trained)):
        if name in found:
            value[place] = [rows.number(metric, found[name], member) for metric in rows.METRICS]
    return {"value": value}


def _asked(
    how: white_box.Opened, view: WhiteBoxView, public: FloatArray | None, damping: float
) -> dict[str, tuple[FloatArray, FloatArray]]:
    """By attack, what squared gradients and gradients are multiplied by for its forms, (p, 2)."""
    inverses = {one.label: one for one in white_box.sweep() if how.usable(one)}
    found = {
        name: _weights(how, view, view.mean_gradient, inverses[label], inverses[label].amount)
        for name, (label, _) in SWEPT.items()
        if label in inverses
    }
    means = {DECAY: -how.weight_decay * view.weight, PUBLIC: public}
    for name, attack in ELSEWHERE.items():
        mean = means[name.partition(", ")[2]]
        if mean is not None:
            one = white_box.Inverse("damping", damping, scores.LEARNT_BY[attack])
            found[name] = _weights(how, view, mean, one, damping)
    return found


def _weights(
    how: white_box.Opened,
    view: WhiteBoxView,
    mean: FloatArray,
    one: white_box.Inverse,
    amount: float,
) -> tuple[FloatArray, FloatArray]:
    """As `quadratic_forms` has them, for many inverses at once."""
    learnt = one.stationarity == "regularised"
    values, shift = how.spectrum.values, how.weight_decay if learnt else 0.0
    between = conditioned_inverse(values, amount, one.conditioning)
    outer = conditioned_inverse(values, amount, one.conditioning, shift=shift)
    own = np.stack([outer**2, outer**2 * between], axis=1)
    vector = mean + how.weight_decay * view.weight if learnt else mean
    return own, own * vector[:, None]


def _public(trained: Trained, how: white_box.Opened) -> FloatArray | None:
    """The mean gradient over the official test records, in the eigenbasis."""
    test = trained.task.test
    if test is None:
        return None
    some = how.goal.records(torch.tensor(test.x), torch.tensor(test.y))
    mean = mean_gradient(how.goal, *some)
    return how.spectrum.rotate(mean).cpu().numpy()


def _recipe(trained: Trained) -> dict[str, Any]:
    config = trained.task.config
    return {
        "members": trained.task.n_members,
        "learning_rate": config.learning_rate,
        "momentum": config.momentum,
        "weight_decay": config.weight_decay,
    }
