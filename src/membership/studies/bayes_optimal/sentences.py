"""One computed sentence an exhibit, and what its picture shows in words."""

import pandas as pd

from membership import metrics
from membership.studies.bayes_optimal import enumeration, information
from membership.studies.bayes_optimal.names import SHADOW

ACCURACY, OTHER, AUC = "attack_accuracy(%)", "attack_accuracy_other_threshold(%)", "auc(%)"
RATE = "TPR@1%FPR(%)"


def is_the_papers(table: pd.DataFrame) -> bool:
    """Whether the records are trucks and ships, as in the paper."""
    setups = table.attrs.get("setup", {}).values()
    return any(one.get("data") == "CIFAR-10 trucks and ships" for one in setups)


def of_figure_1(table: pd.DataFrame) -> str:
    """The AUC of the game drawn, by attack."""
    found = {
        attack: metrics.auc(rows["score"].to_numpy(), rows["member"].astype(bool).to_numpy())
        for attack, rows in table[table["series"] == "record"].groupby("attack")
    }
    return (
        f"In this game one threshold for all records reaches an AUC of "
        f"{100 * found['MALT']:.1f}%, a threshold for each record {100 * found['MAST']:.1f}%."
    )


def of_accuracies(table: pd.DataFrame) -> str:
    """How often each attack is wrong, and what the best threshold of one game hides."""
    value = table.set_index(["attack", "metric"])["value"]
    exact = table.set_index(["attack", "metric"])["exact"]
    wrong = {name: 100 - exact[name, ACCURACY] for name in ("MALT", "MAST", "MATT")}
    return (
        f"Exact shares of errors: MALT {wrong['MALT']:.1f}%, MATT {wrong['MATT']:.2f}%, MAST "
        f"{wrong['MAST']:.2f}%. With the best threshold of each game MALT seems to be right "
        f"{value['MALT', 'peak_accuracy(%)']:.1f}% of the time, and is "
        f"{exact['MALT', ACCURACY]:.1f}%."
    )


def of_table_1(table: pd.DataFrame) -> str:
    """The two attacks and the model's gap at the smallest and the largest n."""
    value = table.set_index(["n", "attack", "metric"])["value"]
    found = []
    for n in (table["n"].min(), table["n"].max()):
        gap = (
            value[n, "(model)", "train_accuracy(%)"] - value[n, "(model)", "validation_accuracy(%)"]
        )
        found.append(
            f"n = {n:,}: MALT {value[n, 'MALT', ACCURACY]:.1f}%, MATT "
            f"{value[n, 'MATT', ACCURACY]:.1f}%, training accuracy {gap:.1f} points above "
            "validation"
        )
    return f"{'; '.join(found)}."


def of_peaks(table: pd.DataFrame) -> str:
    """What random scores reach and what is left of MALT, at the smallest n."""
    value = table.set_index(["n", "attack", "metric"])["value"]
    n = table["n"].min()
    lead = table.set_index(["n", "attack", "metric"]).loc[(n, "MATT less MALT", OTHER)]
    return (
        f"At n = {n:,} random scores reach {value[n, 'random score', ACCURACY]:.1f}% with their "
        f"best threshold and MALT {value[n, 'MALT', ACCURACY]:.1f}%; with a threshold from other "
        f"records MALT has {value[n, 'MALT', OTHER]:.1f}% and 0-1 {value[n, '0-1', ACCURACY]:.1f}%,"
        f" and MATT differs from MALT by {lead['value']:+.1f} points, 95% interval "
        f"[{lead['low']:+.1f}, {lead['high']:+.1f}]."
    )


def of_twin(table: pd.DataFrame) -> str:
    """The least rank correlation and the largest gap in AUC."""
    correlation = table[table["metric"] == "rank_correlation"]["value"]
    auc = table[table["metric"] == AUC].pivot_table(index="n", columns="attack", values="value")
    gap = (auc["MATT"] - auc["loss difference"]).abs().max()
    return (
        f"The two rank records alike (correlation at least {correlation.min():.3f}) and their "
        f"AUCs differ by at most {gap:.2f} points."
    )


def of_second_order(table: pd.DataFrame) -> str:
    """The ratio of the terms and what the term changes, at the smallest and the largest n."""
    value = table.set_index(["n", "attack", "metric"])["value"]
    found = []
    for n in (table["n"].min(), table["n"].max()):
        start = value[n, "MATT", AUC]
        found.append(
            f"n = {n:,}: {value[n, 'second order / first order', 'std_ratio']:.2f} of the first "
            f"term's spread, AUC {value[n, 'MATT + second order', AUC] - start:+.1f} points as "
            f"printed and {value[n, 'MATT + second order, leverage', AUC] - start:+.1f} with the "
            "leverage"
        )
    return f"{'; '.join(found)}."


def of_table_2(table: pd.DataFrame) -> str:
    """Accuracy, AUC and the low rates, where they part."""
    value = table.set_index(["attack", "metric"])["value"]
    shadow = ""
    if (SHADOW, ACCURACY) in value:
        shadow = f"The shadow attack is right {value[SHADOW, ACCURACY]:.1f}% of the time. "
    return (
        f"{shadow}MALT is right {value['MALT', ACCURACY]:.1f}% of the time and MAST "
        f"{value['MAST', ACCURACY]:.1f}%, with AUCs of {value['MALT', AUC]:.1f}% and "
        f"{value['MAST', AUC]:.1f}%; at 1% false positives MALT finds "
        f"{value['MALT', RATE]:.1f}% of the members and MAST {value['MAST', RATE]:.1f}%."
    )


def of_averages(table: pd.DataFrame) -> str:
    """AUC by threshold on the networks."""
    found = table[(table["game"] == "networks") & (table["metric"] == AUC)]
    each = ", ".join(f"{row.attack} {row.value:.1f}%" for row in found.itertuples())
    return f"AUC on the networks: {each}."


def of_temperatures(table: pd.DataFrame) -> str:
    """The AUC at both ends of the sweep and its best temperature, where that lies between them."""
    sweep = _sweep(table)
    value, temperature = sweep["value"].to_numpy(), sweep["temperature"].to_numpy()
    best = int(value.argmax())
    where = f"at {temperature[best]:.2g}"
    if best in (0, len(value) - 1):
        where = f"at the {'highest' if best else 'lowest'}, an end of the sweep"
    return (
        f"MAST's AUC is {value[0]:.1f}% at T = {temperature[0]:g} and {value[-1]:.1f}% at "
        f"T = {temperature[-1]:g}; it is largest {where}."
    )


def of_expectations(table: pd.DataFrame) -> str:
    """How far either reading is from the exact value."""
    wide = table.pivot_table(index=["theta", "z"], columns="expectation", values="value")
    gap = {name: (wide[name] - wide["exact"]).abs().max() for name in ("posterior", "prior")}
    return (
        f"The posterior reading is off by at most {gap['posterior']:.4f}, the prior reading by up "
        f"to {gap['prior']:.2f}."
    )


def of_statements(table: pd.DataFrame) -> str:
    """The worst case of each statement."""
    value = table.set_index(["statement", "case"])["value"]
    bounds = table[table["metric"] == enumeration.EXCESS]["value"].max()
    holds = "holds in every game" if bounds <= 0 else f"is exceeded by {bounds:.2g}"
    prior = value["Theorem 2", enumeration.PRIOR]
    return (
        "Averaged over the other records given the parameters, Theorem 2 is exact up to rounding; "
        f"over their prior it is off by up to {prior:.2f}. Each bound {holds}."
    )


def of_information(table: pd.DataFrame) -> str:
    """The largest difference, with the game's range."""
    value = table[table["attack"] == information.DIFFERENCE]["value"].abs().max()
    auc = table[table["attack"] == "loss"]["value"]
    return (
        f"The best attack on all parameters and the best on the record and its loss differ by at "
        f"most {value:.2f} points of AUC, in games where that is {auc.min():.0f}% to "
        f"{auc.max():.0f}%."
    )


def table_1_picture(table: pd.DataFrame) -> str:
    """Alternative text."""
    value = table[table["metric"] == ACCURACY].groupby("n")["value"].max()
    trend = "falls" if value.iloc[-1] < value.iloc[0] else "does not fall"
    return (
        "Small panels against the number of records n, one for each of training accuracy, "
        "validation accuracy, attack accuracy and the two average precisions, with one line for "
        f"each attack. The best attack's accuracy {trend} from the smallest n to the largest."
    )


def peaks_picture(table: pd.DataFrame) -> str:
    """Alternative text."""
    both = table[table["attack"].isin(["MALT", "MATT"])]
    wide = both.pivot_table(index=["n", "attack"], columns="metric", values="value")
    above = "above" if (wide[ACCURACY] > wide[OTHER]).all() else "not everywhere above"
    return (
        "Two panels of attack accuracy against n, MALT and MATT, on one scale. Accuracy with the "
        f"best threshold lies {above} that with a threshold from other records; further lines "
        "show the 0-1 attack and what random scores reach."
    )


def temperatures_picture(table: pd.DataFrame) -> str:
    """Alternative text."""
    sweep = _sweep(table)["value"]
    trend = "falls" if sweep.iloc[-1] < sweep.iloc[0] else "rises"
    return (
        "Three panels against temperature. With the law held fixed the membership probabilities "
        "approach one half from above and below; under Equation 12 they approach a value slightly "
        f"above one half. The AUC of MAST on the networks {trend} from the lowest temperature to "
        "the highest."
    )


def _sweep(table: pd.DataFrame) -> pd.DataFrame:
    return table[table["series"] == "MAST on the networks"].sort_values("temperature")
