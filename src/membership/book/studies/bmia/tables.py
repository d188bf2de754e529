"""Tables 1 and 2: rates of all attacks, the gain over the plain difference, and what it costs.

Also LiRA's variances, and references of another architecture than the target's (Figure 4).
"""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from membership import metrics, plots
from membership.attacks.references import difference
from membership.book import published
from membership.book.exhibits.rows import of_each
from membership.book.exhibits.sentences import span
from membership.book.exhibits.tidy import origin, tidy
from membership.book.studies.bmia import scores
from membership.book.studies.bmia.experiment import LABELS, PUBLISHED
from membership.book.studies.bmia.posteriors import (
    POSTERIORS,
    STRUCTURES,
    asked_less,
    full_posterior,
    scored,
)
from membership.book.studies.bmia.scores import (
    LESS_BMIA,
    Seen,
    less,
    percent,
    rate_name,
    rows,
    tpr,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ON = ["dataset", "attack", "n_reference", "metric"]
_SETUP = (
    "LiRA offline, one-sided, a variance a record; RMIA with a = 0.3, untuned; QMIA a small "
    "network that fits a normal law, without hyper-parameter search"
)
TIME = "time_min"
SHARE, LIRA = "inference / training", "training and inference / LiRA (n=8)"
DRAWS = "inference, most / fewest samples"
REFERENCES, TIMINGS = 8, "Timings"
FPR = 0.01
FOUND = rate_name(FPR)
GAINED = {scores.gained_of(FOUND): "members found at 1% FPR", scores.gained_of("auc(%)"): "AUC"}
# By what they need: no reference, one, or several.
ATTACKS = {
    "Attack-P": "Attack-P",
    "QMIA": "QMIA",
    "difference": "plain difference",
    "BMIA": "BMIA",
    "Attack-R": "Attack-R",
    "LiRA": "LiRA",
    "RMIA": "RMIA",
}
# The row of BMIA among LiRA's variances.
OURS = "of the posterior (BMIA)"
# Three attacks of one name.
VARIANCES = {
    "a record, one-sided": "a variance a record",
    "a record, two-sided": "the same, two-sided",
    "global, one-sided": "one variance for all",
}
_TRAINED = (("LiRA", 2), ("LiRA", 4), ("LiRA", REFERENCES), ("BMIA", 1))


def table_1(datasets: list[Seen], variants: list[xr.Dataset]) -> pd.DataFrame:
    """True-positive rates of all attacks (Table 1); times are in `times`."""
    listed, fully = [], []
    for seen, variant in zip(datasets, variants, strict=True):
        attacked = scores.all_scores(seen)
        if full := full_posterior(seen, variant):
            fully.append((seen, full[0]))
            attacked[scores.FULL, 1] = full[1]
        for (name, n), pairs in attacked.items():
            listed += rows({"dataset": seen.label, "attack": name, "n_reference": n}, pairs)
    return tidy(listed, origin(datasets, _SETUP, *asked_less(fully)))


def judged(table: pd.DataFrame) -> pd.DataFrame:
    """Each number or time beside the published one, where the paper has one."""
    return published.compare(table, printed_1(), ON)


def printed_1() -> pd.DataFrame:
    """The published Table 1, a data set's rows under each name that stands for it here."""
    printed = published.reference("bmia_table1")
    parts = [
        printed[printed["dataset"] == printed_name].assign(dataset=LABELS[name])
        for name, printed_name in PUBLISHED.items()
    ]
    rest = printed[~printed["dataset"].isin(PUBLISHED.values())]
    return tidy([*parts, rest], printed.attrs)


def table_1_drawn(table: pd.DataFrame) -> "Figure":
    """Table 1: members found, an attack a row and its number of references a mark."""
    label = "members found at 1% FPR (%)"
    return _by_references(table, "attack", ATTACKS, "difference", label, "plain difference")


def _by_references(
    table: pd.DataFrame, column: str, kinds: dict[str, str], line: str, label: str, line_label: str
) -> "Figure":
    """Rates at 1%, a kind of attack a row and its number of references a mark; one is a line."""
    rates, order = table[table["metric"] == FOUND], list(kinds)
    shown, place = rates[rates[column].isin(kinds)], table["dataset"].unique().tolist()
    shown = shown.sort_values(column, key=lambda kind: kind.map(order.index), kind="stable")
    shown = shown.sort_values("dataset", key=lambda data: data.map(place.index), kind="stable")
    count = shown["n_reference"].astype(int)
    words = count.map(lambda n: "no reference" if n == 0 else f"{n} reference" + "s" * (n > 1))
    return plots.dots_by_row(
        shown.assign(row=shown[column].map(kinds), references=words),
        "row",
        by="references",
        panel="dataset",
        label=label,
        baseline=rates[rates[column] == line].set_index("dataset")["value"].to_dict(),
        baseline_label=line_label,
        joined=True,
    )


def control_1(datasets: list[Seen]) -> pd.DataFrame:
    """What the posterior adds to the plain difference to the same reference (Control 1)."""
    listed = []
    for seen in datasets:
        largest = scores.keys(seen)[-1][1]
        attacked = {
            "BMIA": seen.attack("bmia"),
            scores.CONSTANT: scores.constant_sd(seen),
            scores.CLOSED: seen.attack("bmia-closed"),
            scores.MIXTURE: seen.attack("bmia-mixture", largest),
        }
        for name, pairs in attacked.items():
            key = {"dataset": seen.label, "attack": name}
            listed += of_each(key, "metric", scores.gains(pairs, seen.attack("difference")))
    return tidy(listed, origin(datasets))


def control_1_drawn(table: pd.DataFrame) -> "Figure":
    """Control 1: what BMIA gains over the plain difference to the same reference."""
    shown = table[(table["attack"] == "BMIA") & table["metric"].isin(GAINED)]
    return plots.dots_by_row(
        shown.assign(metric=shown["metric"].map(GAINED)),
        "dataset",
        panel="metric",
        label="BMIA minus plain difference (points)",
        baseline=0.0,
        stems=True,
        told="+.1f",
    )


def control_6(datasets: list[Seen]) -> pd.DataFrame:
    """LiRA with a variance a record, with one for all, and two-sided, beside BMIA (Control 6)."""
    kinds = {
        "a record, one-sided": scores.LIRA,
        "global, one-sided": scores.GLOBAL,
        "a record, two-sided": scores.TWO_SIDED,
    }
    listed = []
    for seen in datasets:
        sizes = [n for name, n in scores.keys(seen) if name == "LiRA"]
        for name, attack in kinds.items():
            for n in sizes:
                key = {"dataset": seen.label, "variance": name, "n_reference": n}
                listed += rows(key, scores.with_references(seen, attack, n))
        key = {"dataset": seen.label, "variance": OURS, "n_reference": 1}
        listed += rows(key, seen.attack("bmia"))
    return tidy(listed, origin(datasets))


def control_6_drawn(table: pd.DataFrame) -> "Figure":
    """Control 6: members that each LiRA finds by its number of references, BMIA's as a line."""
    label = "members that LiRA finds at 1% FPR (%)"
    return _by_references(table, "variance", VARIANCES, OURS, label, "BMIA, one reference")


def control_10(timings: list[xr.Dataset]) -> pd.DataFrame:
    """Wall times of training and of inference (Control 10), and their ratios.

    A reference's training is timed over two epochs of a fresh model, whatever the cache holds,
    and multiplied up. Inference is timed from the trained network: its pass over training
    records and queries, the fit of the posterior and the draws. Intervals are over timings.
    """
    listed = []
    for seconds in timings:
        label, training = seconds.attrs["set"], seconds["training"].values
        listed.append(_row(label, "QMIA", 0, TIME, seconds["qmia"].values / 60))
        listed += [_row(label, attack, n, TIME, n * training / 60) for attack, n in _TRAINED]
        for structure in seconds["structure"].values:
            inference = seconds["inference"].sel(structure=structure)
            listed += _of_structure(label, str(structure), inference, training)
    attrs = origin(timings, timing=True)
    sizes = {TIMINGS: str(timings[0].sizes["timing"])}
    return tidy(listed, {**attrs, "sizes": {**attrs["sizes"], **sizes}})


def control_10_said(table: pd.DataFrame) -> str:
    """The fit and the scores as a share of one reference's training."""
    shares = table[(table["attack"] == "BMIA") & (table["metric"] == SHARE)]["value"]
    how = f"(KFAC, {table.attrs['sizes']['Draws']} samples)"
    return f"Fit and scores {how} take {span(100 * shares)} of the time of training one reference."


def _of_structure(
    label: str, structure: str, inference: xr.DataArray, training: np.ndarray
) -> list[dict[str, Any]]:
    """Seconds by number of samples; three ratios, of quantities of the same timing."""
    sizes = [int(n) for n in inference["draws"].values]
    took = {n: inference.sel(draws=n).values for n in sizes}
    named = {n: f"BMIA, {STRUCTURES[structure]}, {n} samples" for n in sizes}
    rows = [_row(label, named[n], 1, "inference(s)", took[n]) for n in sizes]
    whole, last = POSTERIORS[structure], took[sizes[-1]]
    ratios = {
        SHARE: last / training,
        LIRA: (training + last) / (REFERENCES * training),
        DRAWS: last / took[sizes[0]],
    }
    return rows + [_row(label, whole, 1, metric, ratio) for metric, ratio in ratios.items()]


def _row(label: str, attack: str, n: int, metric: str, timings: np.ndarray) -> dict[str, Any]:
    key = {"dataset": label, "attack": attack, "n_reference": n, "metric": metric}
    return {**key, **metrics.summary(timings, lowest=0.0)}


TABLE_2_RATES = (0.001, 0.005, 0.01, 0.05)
TABLE_2_SIZE = 8


def figure_4(datasets: list[Seen]) -> pd.DataFrame:
    """BMIA for every pair of architectures, beside the plain difference (Figure 4)."""
    models = {seen.outputs.attrs["recipe"]["architecture"]: seen for seen in datasets}
    listed = []
    for target, attacked in models.items():
        for reference, seen in models.items():
            key = {"target": target, "reference": reference, "metric": rate_name(FPR)}
            rates = tpr(scored(attacked, seen.posterior, "kron"), FPR)
            plain = tpr(attacked.each(_difference(attacked, seen)), FPR)
            listed.append({**key, **percent(rates), "difference": np.mean(plain)})
    table = pd.DataFrame(listed)
    text = f"architectures {', '.join(models)} instead of seven networks"
    table.attrs = origin(datasets[:1], text, note=_note(table, datasets[0].label))
    return table


def figure_4_said(table: pd.DataFrame) -> str:
    """How often the matched reference is best."""
    best, targets = matched(table)
    return f"A reference of the target's own architecture is best for {best} of {targets} targets."


def matched(table: pd.DataFrame) -> tuple[int, int]:
    """For how many targets the matched reference is best, and of how many."""
    best = table.loc[table.groupby("target", sort=False)["value"].idxmax()]
    return int((best["target"] == best["reference"]).sum()), len(best)


def _note(table: pd.DataFrame, label: str) -> str:
    gain = table["value"] - table["difference"]
    own = table["target"] == table["reference"]
    matched, other = table[own]["value"].mean(), table[~own]["value"].mean()
    return (
        f"On {label}. BMIA less the plain difference to the same reference: "
        f"{gain.mean():+.2f} points on average, ahead in {(gain > 0).sum()} of {len(gain)} pairs. "
        f"With a reference of the target's architecture: {matched:.2f}%, of another: {other:.2f}%."
    )


def _difference(attacked: Seen, seen: Seen):
    return lambda t: difference(attacked.hinge[t], seen.hinge[seen.first(t)])


def table_2(datasets: list[Seen]) -> pd.DataFrame:
    """Members against non-members of another source, and less BMIA's (Table 2)."""
    (seen,) = datasets
    attacked, listed = scores.all_scores(seen), []
    data, bmia = seen.attrs["setup"]["data"], attacked["BMIA", 1]
    for (name, n), pairs in attacked.items():
        if n in (0, 1, TABLE_2_SIZE):
            key = {"data": data, "attack": name, "n_reference": n}
            listed += rows(key, pairs, TABLE_2_RATES)
            if name != "BMIA":
                listed += less(key, pairs, bmia, LESS_BMIA, TABLE_2_RATES)
    return tidy(listed, origin(datasets))


def table_2_judged(table: pd.DataFrame) -> pd.DataFrame:
    """Each number of `table_2` beside the published one."""
    return published.compare(table, published.reference("bmia_table2"), ON[1:])
