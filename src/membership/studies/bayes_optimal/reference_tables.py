"""What the number of reference models changes for MAST and MALT, and how thresholds spread."""

from dataclasses import replace

import numpy as np
import pandas as pd
from scipy.stats import iqr, spearmanr

from membership import attacks, metrics
from membership.exhibits.tidy import tidy
from membership.studies.bayes_optimal import cnn
from membership.studies.bayes_optimal.names import ACCURACY, AUC, MEMBERS, PEAK, SHARE, SPREAD
from membership.studies.bayes_optimal.reference_game import ReferenceGame, Target

TAU, RANKS, LEAD = "threshold tau(z)", "MAST and MALT", "MAST less MALT"
FITTED, UNFIT = "networks that fit", "networks that do not fit"
EVERY = "every network a target"
FEWEST, STEP = 5, 3
QUARTILES = (25, 50, 75)
# Two a decade, in nats; what lies beyond falls in the last bin of its side.
BINS = 10.0 ** np.arange(-6, 2, 0.5)


def by_references(game: ReferenceGame) -> pd.DataFrame:
    """MALT and MAST by the number of references, MAST's best cut, and the spread of thresholds.

    "MAST less MALT" is paired by target. With all references there are quartiles, over records, of
    MAST's thresholds and of the losses. Where some networks do not fit their members, the last rows
    say what either kind is like, and are Table 2 without those, as targets and as references; its
    shadow attack learnt from all. Where the evidence has more networks than targets, rows before
    those have every network as a target.
    """
    rows = per_target(game)
    keys = ["references", "attack", "metric"]
    found = [
        dict(zip(keys, key, strict=True)) | metrics.summary(values.to_numpy())
        for key, values in rows.groupby(keys, sort=False)["value"]
    ]
    return tidy([*found, *_every_network(game), *_without_unfit(game)], game.attrs)


def _every_network(game: ReferenceGame) -> list[dict]:
    """Table 2 with every network as a target in turn; the shadow attack has not asked them all."""
    count = len(game.loss)
    if len(game.attacked) == count:
        return []
    whole = replace(game, attacked=tuple(range(count)), shadow=None)
    return [
        {"references": count - 1, "attack": f"{attack}, {EVERY}", "metric": metric}
        | metrics.summary(each.to_numpy())
        for (attack, metric), each in cnn.per_target(whole, halves=False).groupby(
            ["attack", "metric"], sort=False
        )["value"]
    ]


def _without_unfit(game: ReferenceGame) -> list[dict]:
    """Table 2 on the networks that fit, where that is another table and has two targets."""
    fitted = game.fitted()
    count = len(fitted.loss)
    if count == len(game.loss) or len(fitted.attacked) < 2 or count <= FEWEST:
        return []
    rows = []
    for name, kind in ((FITTED, game.fits), (UNFIT, ~game.fits)):
        key = {"references": len(game.loss) - 1, "attack": name}
        own = [_described(game, row) for row in np.flatnonzero(kind)]
        for metric in own[0]:
            each = np.array([one[metric] for one in own])
            found = metrics.summary(each) if len(each) > 1 else metrics.exactly(each.item())
            rows.append(key | {"metric": metric} | found)
    table = cnn.per_target(fitted, halves=False)
    for (attack, metric), each in table.groupby(["attack", "metric"], sort=False)["value"]:
        key = {"references": count - 1, "attack": f"{attack}, {FITTED}", "metric": metric}
        rows.append(key | metrics.summary(each.to_numpy()))
    return rows


def _described(game: ReferenceGame, row: int) -> dict[str, float]:
    """Accuracies of one network, and its losses on its members and on the other records."""
    member, correct, loss = game.member[row], game.correct[row], game.loss[row]
    return {
        "train_accuracy(%)": 100 * float(correct[member].mean()),
        "test_accuracy(%)": 100 * float(correct[~member].mean()),
        "median loss of members(nats)": float(np.median(loss[member])),
        "mean loss of members(nats)": float(loss[member].mean()),
        "mean loss of others(nats)": float(loss[~member].mean()),
    }


def per_target(game: ReferenceGame) -> pd.DataFrame:
    """Every number for each target: references, target, attack, metric, value."""
    most = len(game.loss) - 1
    rows = []
    for number, target in enumerate(game.targets()):
        for count in (*range(FEWEST, most, STEP), most):
            key = {"references": count, "target": number}
            rows += [key | one for one in _attacks(_first(target, count))]
        key = {"references": most, "target": number}
        rows += [key | one for one in _thresholds(target)]
    return pd.DataFrame(rows)


def histograms(game: ReferenceGame) -> pd.DataFrame:
    """How MAST's thresholds, with all references, and the losses spread over bins of nats.

    And how many of the records of a bin of losses are members, where every target has some.
    """
    rows = []
    for target in game.targets():
        tau = target.mast("best-separating") + target.loss
        for name, values in ((TAU, tau), ("loss", target.loss)):
            rows += _binned(name, SHARE, 100 * _counts(values) / len(values))
        held, members = _counts(target.loss), _counts(target.loss[target.member])
        with np.errstate(invalid="ignore"):
            rows += _binned("loss", MEMBERS, 100 * members / held)
    keys = ["metric", "quantity", "nats"]
    found = [
        dict(zip(keys, key, strict=True)) | metrics.summary(values.to_numpy())
        for key, values in pd.DataFrame(rows).groupby(keys, sort=False)["value"]
        if values.notna().all()
    ]
    return tidy(found, game.attrs)


def _counts(values: np.ndarray) -> np.ndarray:
    return np.histogram(np.clip(values, BINS[0], BINS[-1]), BINS)[0]


def _binned(quantity: str, metric: str, values: np.ndarray) -> list[dict]:
    middle = np.sqrt(BINS[1:] * BINS[:-1])
    key = {"quantity": quantity, "metric": metric}
    return [key | {"nats": x, "value": y} for x, y in zip(middle, values, strict=True)]


def _attacks(target: Target) -> list[dict]:
    """MALT and MAST as in Table 2, each with the best cut for the records asked beside it."""
    threshold = metrics.best_threshold(
        attacks.malt(target.reference_loss.ravel()), target.reference_member.ravel()
    )
    played = {
        "MALT": (attacks.malt(target.loss), threshold),
        "MAST": (target.mast("best-separating"), 0.0),
    }
    found = {
        attack: {
            ACCURACY: metrics.balanced_accuracy(score, target.member, threshold=cut),
            PEAK: metrics.balanced_accuracy(score, target.member),
            AUC: metrics.auc(score, target.member),
        }
        for attack, (score, cut) in played.items()
    }
    found[LEAD] = {k: found["MAST"][k] - found["MALT"][k] for k in found["MALT"]}
    return [
        {"attack": attack, "metric": metric, "value": 100 * value}
        for attack, values in found.items()
        for metric, value in values.items()
    ]


def _thresholds(target: Target) -> list[dict]:
    mast = target.mast("best-separating")
    tau = mast + target.loss
    width = iqr(target.loss)
    rows = [
        (RANKS, "rank_correlation", spearmanr(mast, -target.loss)[0]),
        (TAU, SPREAD, iqr(tau) / width if width > 0 else np.inf),
    ]
    for name, values in ((TAU, tau), ("loss", target.loss)):
        rows += [(name, f"quartile_{q}(nats)", np.percentile(values, q)) for q in QUARTILES]
    return [{"attack": a, "metric": m, "value": float(v)} for a, m, v in rows]


def _first(target: Target, count: int) -> Target:
    """The same target with its first reference models, on records that some of them saw."""
    seen = target.reference_member[:count]
    kept = seen.any(0) & ~seen.all(0)
    return Target(
        target.loss[kept],
        target.correct[kept],
        target.member[kept],
        target.reference_loss[:count, kept],
        seen[:, kept],
    )
