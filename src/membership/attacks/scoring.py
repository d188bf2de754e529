"""From observed evidence to scores: one function a family of attacks."""

import numpy as np
from scipy.special import expit

from membership.arrays import FloatArray
from membership.attacks.bavaria import bavaria
from membership.attacks.bayes_optimal import mast, matt_from_log_odds
from membership.attacks.bmia import bmia_from_moments
from membership.attacks.checking import as_membership, evened
from membership.attacks.forms import iha_from_forms, residual_from_forms
from membership.attacks.glir import glir_from_distance
from membership.attacks.lira import lira
from membership.attacks.observed import Observed
from membership.attacks.ranks import attack_r
from membership.attacks.rmia import rmia, rmia_ratio
from membership.signals import loss_of_log_odds

REFERENCES = ("references.log_odds", "references.member")
LEFT_OUT = ("leave_one_out.log_odds", "leave_one_out.member")
HELD = ("held.log_odds", "held.references.log_odds")


def loss_of(seen: Observed, place: str = "log_odds") -> FloatArray:
    if place == "log_odds" and "loss" in seen.arrays:
        return seen["loss"]
    recipe = seen.attributes.get("recipe", {})
    return loss_of_log_odds(seen[place], recipe.get("loss", "cross-entropy"))


def out_of(seen: Observed, signal: str) -> FloatArray:
    """The signal under models not trained on the record, as many for each record."""
    inside, values = seen["references.member"].astype(bool), seen[f"references.{signal}"]
    first = np.argsort(inside, axis=0, kind="stable")[: int((~inside).sum(axis=0).min())]
    return np.take_along_axis(values, first, axis=0)


def attack_r_score(seen: Observed) -> FloatArray:
    recipe = seen.attributes.get("recipe", {})
    out = loss_of_log_odds(out_of(seen, "log_odds"), recipe.get("loss", "cross-entropy"))
    return attack_r(loss_of(seen), out)


def mast_score(seen: Observed, tau: str) -> FloatArray:
    references = loss_of(seen, "references.log_odds")
    return mast(loss_of(seen), references, tau, seen["references.member"])


def base_score(seen: Observed, signal: str = "log_odds", online: bool = True) -> FloatArray:
    """MAST's log-mean-exp over all references; offline over those without the record."""
    target, references = (loss_of(seen, name) for name in (signal, f"references.{signal}"))
    if not online:
        return mast(target, references, reference_member=seen[REFERENCES[1]])
    inside = as_membership(seen[REFERENCES[1]], references.shape)
    return mast(target, evened(references, inside)[0])


def bavaria_score(seen: Observed, mode: str, predictive: str) -> FloatArray:
    reference, member = seen[REFERENCES[0]], seen[REFERENCES[1]]
    return bavaria(seen["log_odds"], reference, member, mode, predictive=predictive)


def lira_score(seen: Observed, mode: str, variance: str, group: str = "references") -> FloatArray:
    reference, member = seen[f"{group}.log_odds"], seen[f"{group}.member"]
    return lira(seen["log_odds"], reference, member, mode, variance)


def rmia_score(
    seen: Observed, signal: str = "log_odds", a: float = 0.3, online: bool = False
) -> FloatArray:
    """The ratio; halved log-odds are the signal at a temperature of 2."""
    target, references = expit(seen[signal]), expit(seen[f"references.{signal}"])
    return rmia_ratio(target, references, a, reference_member=seen[REFERENCES[1]], online=online)


def rmia_share(seen: Observed) -> FloatArray:
    target, references = expit(seen["log_odds"]), expit(seen["references.log_odds"])
    held = (expit(seen[name]) for name in HELD)
    return rmia(target, references, *held, reference_member=seen[REFERENCES[1]])


def left_out_score(seen: Observed) -> FloatArray:
    """Attack-R against models trained on all other records."""
    out = ~seen[LEFT_OUT[1]].astype(bool)[:, 0]
    return attack_r(loss_of(seen), loss_of(seen, LEFT_OUT[0])[out])


def matt_score(seen: Observed, newton: bool | None = None) -> FloatArray:
    if newton is None and "step_product" in seen.arrays:
        return seen["step_product"]
    leverage = None if newton is None else seen["leverage"]
    return matt_from_log_odds(seen["log_odds"], seen["reference_log_odds"], leverage, bool(newton))


def iha_score(seen: Observed, how: str) -> FloatArray:
    recipe = (seen.setting(name) for name in ("learning_rate", "momentum", "weight_decay"))
    stationarity = "regularised" if how == "regularised" else "published"
    return iha_from_forms(
        seen.form(how),
        loss_of(seen),
        seen.member,
        seen.setting("members"),
        *recipe,
        stationarity=stationarity,
    ).score


def residual_score(seen: Observed) -> FloatArray:
    return residual_from_forms(seen.form("identity"), seen.member, seen.setting("members"))


def moments_score(seen: Observed, variant: str, first: bool = True) -> FloatArray:
    mean, sd = (seen[f"posterior.{variant}.{name}"] for name in ("mean", "sd"))
    if first:
        mean, sd = mean[0], sd[0]
    return bmia_from_moments(seen["hinge"], mean, sd)


def glir_score(seen: Observed, steps: slice) -> FloatArray:
    how = (seen.setting("batch_size"), seen.setting("rank"))
    pairs = zip(seen["steps.distance"][steps], seen["steps.susceptibility"][steps], strict=True)
    return sum(glir_from_distance(*pair, *how) for pair in pairs)
