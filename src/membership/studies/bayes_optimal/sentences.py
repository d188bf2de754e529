"""One computed sentence an exhibit, and what its picture shows in words."""

import pandas as pd

from membership import metrics
from membership.exhibits.sentences import each, span
from membership.studies.bayes_optimal import finite_games, posterior
from membership.studies.bayes_optimal.names import (
    ACCURACY,
    AUC,
    EMPTY,
    LEADS,
    LIKE_PRINT,
    MEMBERS,
    MODELS,
    OF_SLOPES,
    ONE_LAW,
    OTHER,
    PEAK,
    RATIO,
    SEEN,
    SHARE,
    SLOPE,
)


def _at(attack: str, metric: str = ACCURACY) -> dict[str, str]:
    return {"attack": attack, "metric": metric}


MALT, MATT, MAST = _at("MALT"), _at("MATT"), _at("MAST")


def is_the_papers(table: pd.DataFrame) -> bool:
    """Whether the records are trucks and ships, as in the paper."""
    setups = table.attrs.get("setup", {}).values()
    return any(setup.get("data") == "CIFAR-10 trucks and ships" for setup in setups)


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


def of_twin(table: pd.DataFrame) -> str:
    """The least rank correlation and the largest gap in AUC."""
    correlation = table[table["metric"] == "rank_correlation"]["value"]
    auc = table[table["metric"] == AUC].pivot_table(index="n", columns="attack", values="value")
    gap = (auc["MATT"] - auc["loss difference"]).abs().max()
    return (
        f"The two rank records alike (correlation at least {correlation.min():.3f}) and their "
        f"AUCs differ by at most {gap:.2f} points."
    )


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
    bounds = table[table["metric"] == finite_games.EXCESS]["value"].max()
    holds = "holds in every game" if bounds <= 0 else f"is exceeded by {bounds:.2g}"
    return each(
        table,
        (),
        "Averaged over the other records given the parameters, Theorem 2 is exact up to rounding; "
        f"over their prior it is off by up to {{prior:.2f}}. Each bound {holds}.",
        prior={"statement": "Theorem 2", "case": finite_games.PRIOR},
    )


def of_information(table: pd.DataFrame) -> str:
    """The largest difference, with the game's range."""
    value = table[table["attack"] == posterior.DIFFERENCE]["value"].abs().max()
    auc = table[table["attack"] == "loss"]["value"]
    return (
        f"The best attack on all parameters and the best on one loss differ by at most {value:.2f} "
        f"points of AUC. The AUCs of these games go from {auc.min():.0f}% to {auc.max():.0f}%."
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


def of_promises(table: pd.DataFrame) -> str:
    """How often the promise is empty, what it allows, and what MALT reaches."""
    return each(
        table,
        (),
        "At temperature 1 Property 2 promises nothing for {empty:.0f}% of the members. On average "
        "it allows an accuracy of {allowed:.1f}%, and MALT has {malt:.1f}%.",
        empty={"attack": ONE_LAW, "records": SEEN, "metric": EMPTY},
        allowed=_at(ONE_LAW),
        malt=MALT,
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
    attacked = table[table["attack"].isin(["MALT", "MATT"])]
    wide = attacked.pivot_table(index=["n", "attack"], columns="metric", values="value")
    above = "above" if (wide[ACCURACY] > wide[OTHER]).all() else "not everywhere above"
    return (
        "Two panels of attack accuracy against n, MALT and MATT, on one scale. Accuracy with the "
        f"best threshold lies {above} that with a threshold from other records; further lines "
        "show the 0-1 attack and what random scores reach."
    )


def models_picture(table: pd.DataFrame) -> str:
    """Alternative text."""
    lead = table[(table["attack"] == "MALT less 0-1") & (table["metric"] == MODELS)]
    wide = lead.pivot_table(index="models", columns="n", values="value")
    rise = int((wide.iloc[-1] > wide.iloc[0]).sum())
    return (
        "Two panels against the number of models that thresholds are learnt from, one line for "
        "each n: accuracy of MALT less 0-1, and of MATT less MALT. MALT's lead is larger with the "
        f"most models than with the fewest at {rise} of {wide.shape[1]} sizes."
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


def ladder_picture(table: pd.DataFrame) -> str:
    """Alternative text."""
    rows = table[table["metric"] == ACCURACY]
    rank = {
        attack: own["gap"].corr(own["value"], method="spearman")
        for attack, own in rows.groupby("attack")
    }
    return (
        "Two panels on one scale, MALT and MATT: attack accuracy against the gap between training "
        "and validation accuracy, with one line for each kind of features. Over all points of "
        f"this run the rank correlation is {rank['MALT']:.2f} for MALT and "
        f"{rank['MATT']:.2f} for MATT."
    )


def references_picture(table: pd.DataFrame) -> str:
    """Alternative text."""
    rows = table[(table["metric"] == ACCURACY) & (table["attack"] == "MAST")]
    rows = rows.sort_values("references")["value"]
    trend = "rises" if rows.iloc[-1] > rows.iloc[0] else "does not rise"
    return (
        "Two panels of attack accuracy against the number of reference models, on one scale, with "
        f"lines for MALT and MAST. Cut at zero, MAST's accuracy {trend} from the fewest references "
        "to the most."
    )


def histograms_picture(table: pd.DataFrame) -> str:
    """Alternative text."""
    shares = table[table["metric"] == SHARE]
    overlap = shares.pivot_table(index="nats", columns="quantity", values="value").min(axis=1)
    members = table[table["metric"] == MEMBERS].sort_values("nats")["value"].reset_index(drop=True)
    shape = (
        "is largest between the ends" if 0 < members.idxmax() < len(members) - 1 else "has no peak"
    )
    return (
        "Two panels on one logarithmic axis of nats. Left: histograms of MAST's thresholds and of "
        f"the target's losses as lines; {overlap.sum():.0f}% of their areas overlap. Right: the "
        f"share of members among the records of each loss, which {shape}."
    )


def powers_picture(table: pd.DataFrame) -> str:
    """Alternative text."""
    rows = table[table["quantity"].isin(OF_SLOPES)]
    if rows.empty:
        return "The second-order over the first-order term against n, one line a kind of features."
    ratio = rows[rows["quantity"] == f"{RATIO}, {SLOPE}"]["value"]
    return (
        "A row for each quantity and a dot for each kind of features: the exponent of n, with its "
        f"interval. Those of the second-order over the first-order term go from {ratio.min():.2f} "
        f"to {ratio.max():.2f}."
    )


def penalties_picture(table: pd.DataFrame) -> str:
    """Alternative text."""
    rows = table[(table["metric"] == ACCURACY) & (table["C"] != LIKE_PRINT)]
    wide = rows.pivot_table(index=["n", "C"], columns="attack", values="value")
    rise = {a: (part := wide[a].groupby("n")).max() - part.min() for a in ("MALT", "MATT")}
    return (
        "Two panels on one scale, MALT and MATT: attack accuracy against the gap between training "
        "and validation accuracy, with one line for each n. Along its line MALT's accuracy spans "
        f"{rise['MALT'].min():.1f} to {rise['MALT'].max():.1f} points, MATT's "
        f"{rise['MATT'].min():.1f} to {rise['MATT'].max():.1f}."
    )
