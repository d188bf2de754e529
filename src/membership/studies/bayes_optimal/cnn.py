"""Table 2: attacks on a small convolutional network, with their controls."""

import numpy as np
import pandas as pd

from membership import attacks, metrics, published
from membership.exhibits.tidy import tidy
from membership.studies.bayes_optimal import thresholds
from membership.studies.bayes_optimal.names import ACCURACY, OTHER, PEAK, SHADOW
from membership.studies.bayes_optimal.reference_game import ReferenceGame, Target

FALSE_POSITIVE_RATES = (0.01, 0.001)
PAIRS = (("MALT", SHADOW), ("MAST", "MALT"))


def table_2(game: ReferenceGame) -> pd.DataFrame:
    """Accuracy of 0-1, the shadow attack, MALT and MAST, over the target networks.

    The shadow attack's cut is where its attack models think both equally likely. MALT's threshold
    is the one that separates members from non-members best over the reference models; MAST's is
    each record's own, from the same models (Section 6.3). The last rows are paired by target.
    """
    table = _over_targets(per_target(game), ["attack", "metric"], game)
    other = game.attrs["setup"].get("networks", {}).get("attacks", {})
    said = [f"{attack}: {sentence}" for attack, sentence in other.items()]
    table.attrs = game.attrs | {"deviations": [*game.attrs["deviations"], *said]}
    return table


def per_target(game: ReferenceGame, *, halves: bool = True) -> pd.DataFrame:
    """Every number of Table 2 for each target: columns target, attack, metric, value.

    Without ``halves`` none of those for which half of the target's records choose a threshold.
    """
    rows = []
    for number, target in enumerate(game.targets()):
        member = target.member
        inside, outside = target.correct[member], target.correct[~member]
        rows += [
            {
                "target": number,
                "attack": "(model)",
                "metric": name,
                "value": 100 * float(part.mean()),
            }
            for name, part in (("train_accuracy(%)", inside), ("test_accuracy(%)", outside))
        ]
        accuracy = {}
        half = thresholds.half(np.random.default_rng(number), len(member))
        for attack, (score, cut) in _scores(target).items():
            accuracy[attack] = {
                ACCURACY: 100 * metrics.balanced_accuracy(score, member, threshold=cut),
                PEAK: 100 * metrics.balanced_accuracy(score, member),
            }
            if halves:
                accuracy[attack][OTHER] = thresholds.crossed(score, member, half)
            own = {"target": number, "attack": attack}
            rows += [own | {"metric": name, "value": v} for name, v in accuracy[attack].items()]
            rows += [own | row for row in _curve_numbers(attack, score, member)]
        rows += [
            {
                "target": number,
                "attack": f"{first} less {second}",
                "metric": name,
                "value": accuracy[first][name] - accuracy[second][name],
            }
            for first, second in PAIRS
            if {first, second} <= set(accuracy)
            for name in accuracy["MALT"]
        ]
        if not halves:
            continue
        rows += [
            {"target": number, "attack": f"{attack}, {thresholds.GAIN} {whose}", "metric": ACCURACY}
            | {"value": accuracy[attack][PEAK] - accuracy[attack][name]}
            for attack in ("MALT", "MAST")
            for whose, name in (("others", OTHER), ("other models", ACCURACY))
        ]
    return pd.DataFrame(rows)


def _scores(target: Target) -> dict[str, tuple[np.ndarray, float]]:
    """The score of each attack, and from where on it says "member"."""
    threshold = metrics.best_threshold(
        attacks.malt(target.reference_loss.ravel()), target.reference_member.ravel()
    )
    found = {"0-1": (attacks.zero_one(target.correct), 0.5)}
    if target.shadow is not None:
        found[SHADOW] = (attacks.learned(target.shadow), 0.5)
    return found | {
        "MALT": (attacks.malt(target.loss), threshold),
        "MAST": (target.mast("best-separating"), 0.0),
    }


def judged(table: pd.DataFrame) -> pd.DataFrame:
    """Table 2 beside the published numbers, each with its verdict."""
    reference = published.reference("bayes_optimal_table2")
    return published.compare(table, reference, on=["attack", "metric"])


def averages(game: ReferenceGame, gaussian: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """MAST by how it aggregates the reference losses: log-mean-exp, mean, best separation.

    The first two use only reference models that did not see the record, the last those that did
    as well: it knows more. Section 5.3 does not say over which models its mean is taken, so that
    over all stands beside.
    """
    names = {
        "log-mean-exp": "MAST, log-mean-exp (OUT)",
        "mean": "MAST, mean (OUT)",
        "best-separating": "MAST, best separating (IN and OUT)",
    }
    rows = []
    for target in game.targets():
        rows += _curve_numbers("MALT", attacks.malt(target.loss), target.member)
        for tau, name in names.items():
            rows += _curve_numbers(name, target.mast(tau), target.member)
        everyone = attacks.mast(target.loss, target.reference_loss, tau="mean")
        rows += _curve_numbers("MAST, mean (IN and OUT)", everyone, target.member)
    networks = _over_targets(rows, ["attack", "metric"], game)
    parts = [networks.assign(game="networks")]
    for name, played in gaussian.items():
        renamed = played.assign(attack="MAST, " + played["tau"])[networks.columns]
        parts.append(renamed.assign(game=name))
    table = pd.concat(parts, ignore_index=True)[["game", *networks.columns]]
    table.attrs = game.attrs
    return table


def temperatures(game: ReferenceGame, exact: pd.DataFrame) -> pd.DataFrame:
    """Temperature in the one-dimensional game, and of MAST's threshold on the networks.

    The log-mean-exp of the reference losses is their minimum at temperature 0 and their mean at
    infinity.
    """
    chosen = exact[(exact["metric"] == "P(member)") & (exact["law"] != "whole game")]
    curves = chosen.assign(
        metric="P(member), " + chosen["law"],
        series="record at z = " + chosen["z"].astype(str),
        n_repeats=0,
    )
    curves = curves.assign(low=curves["value"], high=curves["value"])
    sweep = _temperature_sweep(game).assign(series="MAST on the networks")
    columns = ["metric", "series", "temperature", "value", "low", "high", "n_repeats"]
    return tidy([curves[columns], sweep[columns]], game.attrs)


def _temperature_sweep(game: ReferenceGame) -> pd.DataFrame:
    """MAST on the networks as its temperature goes from 0.01 to 100."""
    rows = []
    for target in game.targets():
        for temperature in np.logspace(-2, 2, 9):
            score = target.mast("log-mean-exp", float(temperature))
            value = 100 * metrics.auc(score, target.member)
            rows.append({"temperature": float(temperature), "metric": "auc(%)", "value": value})
    return _over_targets(rows, ["temperature", "metric"], game)


def _curve_numbers(attack: str, score: np.ndarray, member: np.ndarray) -> list[dict]:
    rows = [{"attack": attack, "metric": "auc(%)", "value": 100 * metrics.auc(score, member)}]
    for rate in FALSE_POSITIVE_RATES:
        value = 100 * metrics.tpr_at_fpr(score, member, rate)
        rows.append({"attack": attack, "metric": f"TPR@{100 * rate:g}%FPR(%)", "value": value})
    return rows


def _over_targets(
    rows: list[dict] | pd.DataFrame, keys: list[str], game: ReferenceGame
) -> pd.DataFrame:
    table = pd.DataFrame(rows)
    summary = []
    for key, values in table.groupby(keys, sort=False)["value"]:
        summary.append(dict(zip(keys, key, strict=True)) | metrics.summary(values.to_numpy()))
    result = pd.DataFrame(summary)
    result.attrs = game.attrs
    return result
