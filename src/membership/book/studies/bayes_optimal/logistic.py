"""Table 1: two classes, logistic regression, and the controls that belong to it."""

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from membership import metrics, plots
from membership.book import published
from membership.book.exhibits.rows import of_each
from membership.book.exhibits.sentences import each
from membership.book.exhibits.tidy import tidy
from membership.book.studies.bayes_optimal import splits
from membership.book.studies.bayes_optimal.names import (
    ACCURACY,
    AUC,
    MODELS,
    OTHER,
    SHIPS,
    TRAIN,
    VALIDATION,
)
from membership.book.studies.bayes_optimal.splits import (
    AGREEMENT,
    CORRECTED,
    MAP_TEST,
    MAP_TRAIN,
    MATT,
    MODEL,
    SECOND_ORDER,
    TERMS,
    TWIN,
    Size,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEAD, BEHIND = "MALT less 0-1", f"{MATT} less MALT"
FIXED = "MALT at log 2 less 0-1"
GAINS, SIDES = "mAP_train less mAP_test(%)", "mAP_test less mAP_train(%)"


def table_1(table: pd.DataFrame) -> pd.DataFrame:
    """Accuracy of the model and of 0-1, MALT and MATT, and both average precisions, by n.

    The last rows are paired differences: of the two attacks, and of the two precisions.
    """
    columns = [ACCURACY, MAP_TEST, MAP_TRAIN]
    shown = {MODEL: [TRAIN, VALIDATION], "0-1": [ACCURACY], "MALT": columns, MATT: columns}
    pairs = _leads(MATT, "MALT", AUC, MAP_TEST, MAP_TRAIN)
    # Of the gains: MATT less MALT, twice.
    gains = ((MATT, MAP_TRAIN), ("MALT", MAP_TRAIN), ("MALT", MAP_TEST), (MATT, MAP_TEST))
    pairs |= {(BEHIND, GAINS): gains, ("MALT", SIDES): (("MALT", MAP_TEST), ("MALT", MAP_TRAIN))}
    return tidy([*_summary(table, shown), *_differences(table, pairs)], table.attrs)


def judged(table: pd.DataFrame) -> pd.DataFrame:
    """Table 1 beside the published numbers, each with its verdict."""
    return published.compare(table, published_table_1(), on=["n", "attack", "metric"], by="n")


def published_table_1() -> pd.DataFrame:
    """The published Table 1 with n as a column of its own."""
    printed = published.reference("bayes_optimal_table1")
    return printed.assign(n=printed["dataset"].str.extract(r"n=(\d+)", expand=False).astype(int))


def table_1_drawn(table: pd.DataFrame) -> "Figure":
    """Table 1: lines against n; the published values only where the data are the paper's."""
    setups = table.attrs.get("setup", {}).values()
    of_ships = any(setup.get("data") == SHIPS for setup in setups)
    printed = published_table_1() if of_ships else None
    is_difference = table["attack"] == BEHIND
    is_difference |= table["metric"].isin([GAINS, SIDES])
    shown = table[~is_difference]
    return plots.lines_with_intervals(shown, "n", panel="metric", log_x=True, published=printed)


def peak_and_crossed(table: pd.DataFrame) -> pd.DataFrame:
    """Peak accuracy beside its null and beside thresholds learnt elsewhere.

    Parameters and columns as :func:`table_1`; the null (attack "random score") is what scores
    without information reach with their best threshold. Elsewhere is the other half of the records,
    or all other splits' models. The last rows are paired differences: of two attacks, and of an
    attack's two thresholds.
    """
    cuts = [ACCURACY, OTHER, MODELS]
    shown = {"0-1": [ACCURACY], "MALT": cuts, MATT: cuts}
    null = [
        {"n": n, "attack": "random score", "metric": ACCURACY} | metrics.exactly(level)
        for n in sorted(table["n"].unique())
        for level in [100 * metrics.peak_accuracy_null(int(n) // 2, int(n) // 2, seed=0)]
    ]
    pairs = {
        **_leads(MATT, "MALT", *cuts),
        **{(LEAD, m): (("MALT", m), ("0-1", ACCURACY)) for m in (OTHER, MODELS)},
        **{
            (f"{a}, {splits.GAIN} {whose}", ACCURACY): ((a, ACCURACY), (a, metric))
            for a in ("MALT", MATT)
            for whose, metric in (("others", OTHER), ("other models", MODELS))
        },
    }
    return tidy([*_summary(table, shown), *null, *_differences(table, pairs)], table.attrs)


def peak_and_crossed_drawn(table: pd.DataFrame) -> "Figure":
    """Control 2: MALT and MATT, each by its threshold, beside 0-1 and random scores."""
    words = {
        ACCURACY: "best threshold",
        OTHER: "threshold of other records",
        MODELS: "threshold of other models",
    }
    own = table.assign(line=table["metric"].map(words))
    baselines = own[own["attack"].isin(["0-1", "random score"])]
    baselines = baselines.assign(line=baselines["attack"])
    panels = [
        pd.concat([own[own["attack"] == attack], baselines]).assign(panel=f"{attack} accuracy (%)")
        for attack in ("MALT", "MATT")
    ]
    return plots.lines_with_intervals(
        pd.concat(panels), "n", by="line", panel="panel", log_x=True, same_scale=True
    )


def twin(table: pd.DataFrame) -> pd.DataFrame:
    """MATT beside its black-box twin: AUC of each, and the rank correlation of the two scores.

    The twin is l(theta_0, z) - l(theta, z), which needs the two losses only; MATT is its
    linearisation at theta_0. The last rows are the paired differences of the AUCs. Parameters and
    columns as :func:`table_1`.
    """
    shown = {MATT: [AUC], TWIN: [AUC], AGREEMENT: ["rank_correlation"]}
    pairs = _leads(MATT, TWIN, AUC)
    return tidy([*_summary(table, shown), *_differences(table, pairs)], table.attrs)


def second_order(table: pd.DataFrame) -> pd.DataFrame:
    """MATT with the second-order term of Equation 39, without and with the leverage correction.

    Further rows give the spread of the second-order term relative to the first-order one, and the
    paired differences of the AUCs, over the splits whose leverages are kept.
    Parameters and columns as :func:`table_1`.
    """
    kept = table[table["attack"] == TERMS].groupby("n")["repeat"].unique()
    counts = ", ".join(str(count) for count in kept.map(len).unique())
    attrs = table.attrs | {"sizes": table.attrs["sizes"] | {"Splits with leverages kept": counts}}
    table = pd.concat(
        [part[part["repeat"].isin(kept[n])] for n, part in table.groupby("n")], ignore_index=True
    )
    shown = {MATT: [AUC], SECOND_ORDER: [AUC], CORRECTED: [AUC], TERMS: ["std_ratio"]}
    pairs = _leads(SECOND_ORDER, MATT, AUC) | _leads(CORRECTED, MATT, AUC)
    return tidy([*_summary(table, shown), *_differences(table, pairs)], attrs)


def by_models(sizes: Sequence[Size], measured: pd.DataFrame) -> pd.DataFrame:
    """Paired differences of accuracy by n and by how many models taught the thresholds.

    Parameters
    ----------
    sizes : sequence of Size
    measured : pandas.DataFrame
        Their `trials`, which state the origin of the numbers.

    Returns
    -------
    pandas.DataFrame
        Columns n, models, attack, metric and those of `membership.metrics.summary`. With 0 models:
        accuracy of MALT with its threshold at log 2, and AUC of MALT, each less that of 0-1.
    """
    rows, by_split = [], dict(_by_split(measured))
    for size in sizes:
        wide = by_split[size.n]
        right = wide["0-1", ACCURACY].to_numpy()
        for count in splits.counts(len(size.splits)):
            malt, matt = (size.at_others(attack, count) for attack in ("MALT", MATT))
            leads = {(LEAD, MODELS): malt - right, (BEHIND, MODELS): matt - malt}
            rows += of_each({"n": size.n, "models": count}, ("attack", "metric"), leads)
        fixed = {
            (FIXED, ACCURACY): size.at_threshold("MALT", -splits.RIGHT) - right,
            # 0-1 says one of two things: its AUC is its accuracy.
            (LEAD, AUC): _less(wide, ("MALT", AUC), ("0-1", AUC)),
        }
        rows += of_each({"n": size.n, "models": 0}, ("attack", "metric"), fixed)
    return tidy(rows, measured.attrs)


def by_models_drawn(table: pd.DataFrame) -> "Figure":
    """Control 17: leads by how many models taught the thresholds, a series an n."""
    shown = table[table["metric"] == MODELS]
    panel, size = shown["attack"] + ", accuracy (points)", "n = " + shown["n"].astype(str)
    return plots.lines_with_intervals(
        shown.assign(panel=panel, size=size),
        "models",
        by="size",
        panel="panel",
        log_x=True,
        x_label="models that the threshold is learnt from",
    )


def by_models_said(table: pd.DataFrame) -> str:
    """MALT's lead at the least n, with the fewest models and with the most."""
    lead = table[(table["attack"] == LEAD) & (table["metric"] == MODELS)]
    few, many = lead["models"].min(), lead["models"].max()
    return each(
        lead[lead["n"] == lead["n"].min()],
        "n",
        f"At n = {{n:,}} MALT leads 0-1 by {{few:+.2f}} points with a threshold from {few} model, "
        f"and by {{many:+.2f}} with a threshold from {many}.",
        few={"models": few},
        many={"models": many},
    )


def _leads(first: str, second: str, *names: str) -> dict[tuple[str, str], Sequence]:
    """One attack's number less another's, of each metric."""
    return {(f"{first} less {second}", m): ((first, m), (second, m)) for m in names}


def _differences(
    table: pd.DataFrame, cells: Mapping[tuple[str, str], Sequence[tuple[str, str]]]
) -> list[dict]:
    """Rows of one number less another at every n, on the splits that both were tried on."""
    return [
        row
        for n, wide in _by_split(table)
        for row in of_each(
            {"n": n},
            ("attack", "metric"),
            {name: _less(wide, *terms) for name, terms in cells.items()},
        )
    ]


def paired(table: pd.DataFrame, n: int, *cells: tuple[str, str]) -> np.ndarray:
    """One number less another, (attack, metric) each, on every split that has both."""
    return _less(dict(_by_split(table[table["n"] == n]))[n], *cells)


def _by_split(table: pd.DataFrame) -> list[tuple[int, pd.DataFrame]]:
    keys = ["n", "repeat"]
    wide = table.pivot_table(index=keys, columns=["attack", "metric"], values="value")
    return [(int(n), part) for n, part in wide.groupby("n")]


def _less(wide: pd.DataFrame, *cells: tuple[str, str]) -> np.ndarray:
    """The first number less the second, and so on in turn."""
    signed = [wide[cell] * sign for cell, sign in zip(cells, itertools.cycle((1, -1)))]
    return sum(signed[1:], signed[0]).dropna().to_numpy()


def _summary(table: pd.DataFrame, shown: dict[str, list[str]]) -> list[dict]:
    """Means over the repeats with t intervals, in the order of `shown`."""
    groups = dict(iter(table.groupby(["n", "attack", "metric"])["value"]))
    names = [(attack, metric) for attack, own in shown.items() for metric in own]
    return [
        row
        for n in sorted(table["n"].unique())
        for row in of_each(
            {"n": int(n)},
            ("attack", "metric"),
            {name: groups[n, *name].to_numpy() for name in names},
        )
    ]


def against_drawn(table: pd.DataFrame, across: str, up: str, key: str, word: str) -> "Figure":
    """How far the AUC of one attack is above another's, over that one, with a point shaded."""
    areas = table[table["metric"] == AUC]
    keys = [name for name in ("n", "ratio", "temperature") if name in table]
    points = areas[areas["attack"] == f"{up} less {across}"].merge(
        areas[areas["attack"] == across][[*keys, "value"]], on=keys, suffixes=("", "_across")
    )
    series = points[key].map(lambda value: f"{word} = {value:g}")
    articles = {"loss": "the loss", "loss difference": "the loss difference"}
    labels = {"": (f"AUC of {articles[across]} (%)", f"{up} less it (points)")}
    return plots.scatter_panels(
        points.assign(panel="", series=series),
        x="value_across",
        y="value",
        within=1.0,
        labels=labels,
    )
