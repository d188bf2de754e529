"""One computed sentence an exhibit, and what its picture shows in words."""

import pandas as pd

from membership import metrics
from membership.exhibits.sentences import each, span
from membership.studies.bayes_optimal import finite_games
from membership.studies.bayes_optimal.names import (
    ACCURACY,
    LEADS,
    LIKE_PRINT,
    MEMBERS,
    MODELS,
    PEAK,
    SHARE,
    SLOPE,
)


def _at(attack: str, metric: str = ACCURACY) -> dict[str, str]:
    return {"attack": attack, "metric": metric}


MALT, MATT, MAST = _at("MALT"), _at("MATT"), _at("MAST")


def of_figure_1(table: pd.DataFrame) -> str:
    """The AUC of the game drawn, by attack."""
    auc = {
        attack: metrics.auc(rows["score"].to_numpy(), rows["member"].astype(bool).to_numpy())
        for attack, rows in table[table["series"] == "record"].groupby("attack")
    }
    return (
        f"In this game one threshold for all records reaches an AUC of "
        f"{100 * auc['MALT']:.1f}%, a threshold for each record {100 * auc['MAST']:.1f}%."
    )


def of_accuracies(table: pd.DataFrame) -> str:
    """How often each attack is wrong, and what the best threshold of one game hides."""
    return each(
        table.assign(wrong=100 - table["exact"]),
        (),
        "Exact shares of errors: MALT {malt.wrong:.1f}%, MATT {matt.wrong:.2f}%, MAST "
        "{mast.wrong:.2f}%. With the best threshold of each game MALT seems to be right "
        "{peak:.1f}% of the time, and is {malt.exact:.1f}%.",
        malt=MALT,
        matt=MATT,
        mast=MAST,
        peak=_at("MALT", PEAK),
    )


def of_models(table: pd.DataFrame) -> str:
    """MALT's lead at the least n, with the fewest models and with the most."""
    lead = table[(table["attack"] == "MALT less 0-1") & (table["metric"] == MODELS)]
    few, many = lead["models"].min(), lead["models"].max()
    return each(
        lead[lead["n"] == lead["n"].min()],
        "n",
        f"At n = {{n:,}} MALT leads 0-1 by {{few:+.2f}} points with a threshold from {few} model, "
        f"and by {{many:+.2f}} with a threshold from {many}.",
        few={"models": few},
        many={"models": many},
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
    bounds = table[table["metric"] == finite_games.EXCESS]["value"].max()
    holds = "holds in every game" if bounds <= 0 else f"is exceeded by {bounds:.2g}"
    return each(
        table,
        (),
        "Averaged over the other records given the parameters, Theorem 2 is exact up to rounding; "
        f"over their prior it is off by up to {{prior:.2f}}. Each bound {holds}.",
        prior={"statement": "Theorem 2", "case": finite_games.PRIOR},
    )


def of_powers(table: pd.DataFrame) -> str:
    """The slope of the accuracy's lead on the last kind of features, and the printed one."""
    name = LEADS[ACCURACY]
    rows = table[table["quantity"] == f"{name}, {SLOPE}"]
    printed, fitted = rows[rows["low"] == rows["high"]], rows[rows["low"] < rows["high"]]
    last = each(fitted[-1:], "features", "{slope:.2f} ({features})", slope={})
    alone = each(printed, "features", "{slope:.2f} {features}", between=", ", slope={})
    exponents = ", ".join(filter(None, (last, alone)))
    return f"MATT's lead in accuracy goes with n to the power of {exponents}." if exponents else ""


def of_augmentation(table: pd.DataFrame) -> str:
    """MALT and 0-1 without augmentation and with the strongest, over networks."""
    rows = table[table["metric"] == ACCURACY].set_index(["augmentation", "attack"])["value"]
    names = list(dict.fromkeys(table["augmentation"]))
    clauses = [
        f"{span(rows[name, 'MALT'], 1)} and {span(rows[name, '0-1'], 1)} ({name})"
        for name in (names[0], names[-1])
    ]
    return f"By augmentation MALT and 0-1 are right {'; '.join(clauses)}."


def of_penalties(table: pd.DataFrame) -> str:
    """Both attacks at the least n: at the printed gap, and from the strongest penalty on."""
    n = table["n"].min()
    rows = table[(table["n"] == n) & (table["metric"] == ACCURACY)]
    there = each(
        rows[rows["C"] == LIKE_PRINT],
        (),
        f"At n = {n:,} and the printed gap MALT has {{malt:.1f}}%, {{malt_less:+.1f}} points from "
        "the print, and MATT {matt:.1f}%, {matt_less:+.1f}. ",
        malt=MALT,
        matt=MATT,
        malt_less=_at("MALT less print"),
        matt_less=_at("MATT less print"),
    )
    first, *_, last = dict.fromkeys(rows["C"][rows["C"] != LIKE_PRINT])
    goes = "{0} goes from {{first_{0}:.1f}}% to {{last_{0}:.1f}}%".format
    return each(
        rows,
        (),
        f"{there}From C = {first} to C = {last} {goes('MALT')} and {goes('MATT')}.",
        first_MALT={"C": first, **MALT},
        last_MALT={"C": last, **MALT},
        first_MATT={"C": first, **MATT},
        last_MATT={"C": last, **MATT},
    )


def of_temperatures(table: pd.DataFrame) -> str:
    """The AUC at both ends of the sweep and its best temperature, where that lies between them."""
    sweep = table[table["series"] == "MAST on the networks"].sort_values("temperature")
    value, temperature = sweep["value"].to_numpy(), sweep["temperature"].to_numpy()
    best = int(value.argmax())
    where = f"at {temperature[best]:.2g}"
    if best in (0, len(value) - 1):
        where = f"at the {'highest' if best else 'lowest'}, an end of the sweep"
    return (
        f"MAST's AUC is {value[0]:.1f}% at T = {temperature[0]:g} and {value[-1]:.1f}% at "
        f"T = {temperature[-1]:g}; it is largest {where}."
    )


def of_histograms(table: pd.DataFrame) -> str:
    """Whether the least losses are the members'."""
    members = table[table["metric"] == MEMBERS].sort_values("nats")
    most, least = members.loc[members["value"].idxmax()], members.iloc[0]
    start, last = "Of the records with", f"the least loss {least['value']:.0f}%"
    if most["nats"] == least["nats"]:
        return f"{start} {last} are members, the most of all."
    peak = f"a loss about {most['nats']:.1g} nats {most['value']:.0f}% are members"
    return f"{start} {peak}, of those with {last}."


def histograms_picture(table: pd.DataFrame) -> str:
    """How far the two histograms overlap, and where the members are."""
    shares = table[table["metric"] == SHARE]
    overlap = shares.pivot_table(index="nats", columns="quantity", values="value").min(axis=1)
    return (
        "Two panels on one logarithmic axis of nats. Left: histograms of MAST's thresholds and of "
        f"the target's losses as lines; {overlap.sum():.0f}% of their areas overlap. Right: the "
        f"share of members among the records of each loss. {of_histograms(table)}"
    )
