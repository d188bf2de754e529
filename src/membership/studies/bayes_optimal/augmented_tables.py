"""MALT and 0-1 by the augmentation that networks were trained with."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import xarray as xr

from membership import attacks, metrics, signals
from membership.exhibits.tidy import tidy
from membership.studies.bayes_optimal.names import ACCURACY, AUC, PEAK

TRAIN, TEST = "train_accuracy(%)", "test_accuracy(%)"
LEAD, LESS = "MALT less 0-1", "MALT, less without augmentation"
WITHOUT = "none"
KEYS = ["network", "augmentation", "attack", "metric"]


def by_augmentation(files: Sequence[xr.Dataset]) -> pd.DataFrame:
    """Accuracies of models and attacks by network and augmentation, over the targets.

    MALT's threshold separates members best over the other targets of the same kind. Differences
    are paired by target: an augmentation is compared with the networks of the same members that
    had none.
    """
    rows = pd.concat([per_target(one) for one in files], ignore_index=True)
    found = [
        dict(zip(KEYS, key, strict=True)) | metrics.summary(values.to_numpy())
        for key, values in rows.groupby(KEYS, sort=False)["value"]
    ]
    merged = {"data": {}, "sizes": {}, "setup": {}, "deviations": []}
    for one in files:
        merged["data"] |= one.attrs["data"]
        merged["sizes"] |= one.attrs["sizes"]
        merged["setup"][one.attrs["setup"]["architecture"]] = one.attrs["setup"]
        merged["deviations"] += one.attrs["deviations"]
    return tidy(found, merged | {"device": files[0].attrs["device"]})


def per_target(outputs: xr.Dataset) -> pd.DataFrame:
    """Every number of one network: network, augmentation, target, attack, metric, value."""
    network, tried = outputs.attrs["setup"]["architecture"], outputs.attrs["augmentations"]
    shape = (len(tried), -1, outputs.sizes["record"])
    loss = signals.loss_of_log_odds(outputs["log_odds"].values).reshape(shape)
    correct = outputs["correct"].values.reshape(shape)
    member = outputs["member"].values.reshape(shape)
    rows = []
    for place, name in enumerate(tried):
        for target in range(loss.shape[1]):
            key = {"network": network, "augmentation": name, "target": target}
            found = _of_target(loss[place], correct[place], member[place], target)
            rows += [
                key | {"attack": attack, "metric": metric, "value": 100 * value}
                for (attack, metric), value in found.items()
            ]
    return pd.concat([pd.DataFrame(rows), _less_without(pd.DataFrame(rows))], ignore_index=True)


def _less_without(table: pd.DataFrame) -> pd.DataFrame:
    """MALT's accuracy under an augmentation less that without one, target by target."""
    malt = table[(table["attack"] == "MALT") & (table["metric"] == ACCURACY)]
    without = malt[malt["augmentation"] == WITHOUT].set_index("target")["value"]
    others = malt[malt["augmentation"] != WITHOUT]
    return others.assign(attack=LESS, value=others["value"] - others["target"].map(without))


def _of_target(
    loss: np.ndarray, correct: np.ndarray, member: np.ndarray, target: int
) -> dict[tuple[str, str], float]:
    """Of one target among those of one augmentation, each array (targets, records)."""
    others = np.arange(len(loss)) != target
    own, right, score = member[target], correct[target], attacks.malt(loss[target])
    cut = metrics.best_threshold(attacks.malt(loss[others].ravel()), member[others].ravel())
    found = {
        ("(model)", TRAIN): float(right[own].mean()),
        ("(model)", TEST): float(right[~own].mean()),
        ("0-1", ACCURACY): metrics.balanced_accuracy(attacks.zero_one(right), own, threshold=0.5),
        ("MALT", ACCURACY): metrics.balanced_accuracy(score, own, threshold=cut),
        ("MALT", PEAK): metrics.balanced_accuracy(score, own),
        ("MALT", AUC): metrics.auc(score, own),
    }
    found[LEAD, ACCURACY] = found["MALT", ACCURACY] - found["0-1", ACCURACY]
    return found
