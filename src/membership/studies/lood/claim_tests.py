"""The tests of the paper's claims, from the chapter's tables and, for networks, its evidence."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from membership.published import Contrast, Outcome, Share
from membership.published.claim_rules import about, better, identity, much_better
from membership.published.outcomes import every, overall, untested
from membership.published.rows import rows_at
from membership.studies.lood import leakage, queries, read, reconstruction, toys
from membership.studies.lood.claim_numbers import (
    LEAST_RECORDS,
    PAPER,
    STRONG,
    Correlation,
    above,
    badly_correlated,
    correlated,
    data_of,
    exceeded,
    interval,
    judged,
    most,
    noted,
    of_networks,
    of_size,
    over,
    points,
    summed_up,
)
from membership.studies.lood.edge import FAR_APART, SLOPE
from membership.studies.lood.gather import CONSTANT, SEARCHES
from membership.studies.lood.kernels import NETWORK

_SETS = ("kernel", "training_set")
ATTEMPTS, IN_GROUPS = "process-attempts", "process-groups"
MARGIN = 0.01
GROUPS = 20
# Records farther than this from all others: the kernel is below a thousandth there.
FAR = 3.7


def strong(source: Any) -> Outcome:
    """c01: KL against the exact AUC, on each training set at each depth."""
    rows = rows_at(source.table("lood-ctl-14"), metric=leakage.OF_KL)
    rows = rows[rows["kernel"].str.startswith("ReLU")]
    found = correlated(rows, "rank correlation of KL and AUC", "kernel", "training_set")
    return over(source, summed_up(found, STRONG))


def mean_is_weaker(source: Any) -> Outcome:
    """c02: by how much KL's correlation exceeds the mean distance's, noise included."""
    found = above(_of_sets(source, leakage.LEAD), "rank correlation, KL's less", *_SETS)
    return over(source, summed_up(found))


def mean_is_weak(source: Any) -> Outcome:
    """c21: whether the mean distance's own correlation is below what counts as strong."""
    found = badly_correlated(_of_sets(source, leakage.OF_MEAN), "rank correlation", *_SETS)
    return over(source, summed_up(found, STRONG))


def noise_is_told_apart(source: Any) -> Outcome:
    """c20: the AUC of noise less that of records with a like mean distance."""
    found = above(_of_sets(source, leakage.APART), "AUC, noise less records", *_SETS)
    return over(source, summed_up(found))


def _of_sets(source: Any, metric: str) -> pd.DataFrame:
    rows = rows_at(source.table("lood-ctl-14"), metric=metric)
    return rows[~rows["kernel"].str.startswith("GeLU")]


def process_and_networks(source: Any) -> Outcome:
    """c03: both AUCs' rank correlation over the root of the networks' reliability."""
    pairs = source.evidence("pairs-relu")
    process = read.contrast(source.evidence("process-influence")).auc()
    halves = [read.network_auc(pairs, half=slice(start, None, 2))[0] for start in (0, 1)]
    half = leakage.ranked(*halves)["value"]
    reliability = 2 * half / (1 + half)
    if reliability < 0.5:
        return untested(f"it takes more networks: their reliability is {reliability:.2f}")
    row = leakage.ranked(process, read.network_auc(pairs)[0])
    # Dividing by the root of the reliability asks the same and leaves an interval beyond 1.
    found = much_better(Correlation.of(row, "rank correlation"), STRONG * reliability**0.5)
    return noted(of_networks(source, found), f"reliability of the networks' AUC {reliability:.2f}")


def best_estimate(source: Any) -> Outcome:
    """c04: the mean distance's correlation with the prediction difference less each rival's."""
    rows = rows_at(source.table("lood-fig-1"), panel=leakage.MEMORISATION)
    x = {name: part["x"].to_numpy() for name, part in rows.groupby("series")}
    truth = rows.loc[rows["series"] == "TracIn", "y"].to_numpy()
    parts = []
    for rival in ("influence function", "TracIn"):
        found = leakage.lead(x["mean-distance LOOD"], x[rival], truth)
        lead = interval(found, f"rank correlation, mean distance less {rival}")
        one = replace(lead, units=len(truth))
        parts.append(much_better(one, 0.0, parts=2))
    return of_networks(source, every(parts))


def stationary(source: Any) -> Outcome:
    """c06: slopes of KL at the record under RBF and on the sphere."""
    table = rows_at(source.table("lood-ctl-10"), statement="Theorem 4.1")
    rows = table[table["case"].isin(["RBF", "ReLU on the sphere"])]
    if rows["case"].nunique() < 2:
        return untested("it takes the NNGP kernel on the sphere beside RBF")
    slopes = rows.loc[rows["quantity"].str.contains("KL"), "value"].to_numpy(float)
    return identity(slopes, 1e-6, "slope of KL at the record").on("three records")


def no_query_leaks_more(source: Any) -> Outcome:
    """c07: what lines, draws, training records and ascents have above the record."""
    table = rows_at(source.table("lood-ctl-5"), metric=queries.MEASURES["kl"])
    is_single = ~table["queries"].str.startswith("three")
    is_network = ~table["kernel"].str.startswith(("RBF", "polynomial"))
    line = rows_at(source.table("lood-fig-4"), panel=queries.PROCESS)["value"].to_numpy(float) - 1
    excess = [*table.loc[is_single & is_network, "value"], *line]
    found = exceeded(excess, "KL of a query over the record's, less 1")
    return of_size(source, found, ATTEMPTS, _tried(source))


def near_the_record(source: Any) -> Outcome:
    """c08: the networks' AUC within ten steps of the record less that at the lines' ends."""
    pairs = source.evidence("pairs-relu")
    steps = np.abs(pairs.attrs["offsets"])
    auc = np.stack([read.network_auc(pairs, query)[0] for query in range(len(steps))], axis=1)
    higher = auc[:, steps <= 10].mean(axis=1) - auc[:, steps == 50].mean(axis=1)
    label = "share of records with a higher AUC, less ½"
    share = Share.count(int((higher > 0).sum()), len(higher), label, 0.5)
    mean = Contrast.of_units(higher, "AUC near the record less at the lines' ends")
    return of_networks(
        source, every([much_better(share, 0.0, parts=2), better(mean, MARGIN, parts=2)])
    )


def more_queries(source: Any) -> Outcome:
    """c09: what sets of queries have above the record alone."""
    table = rows_at(source.table("lood-ctl-5"), metric=queries.MEASURES["kl"])
    excess = table.loc[table["queries"].str.startswith("three"), "value"]
    found = exceeded(excess, "KL of three queries over the record's, less 1")
    return of_size(source, found, ATTEMPTS, _tried(source))


def _tried(source: Any) -> int:
    return int(source.evidence(ATTEMPTS).attrs["sizes"]["Records tried"])


def reconstructs(source: Any) -> Outcome:
    """c10: the share of searches that recover their record, by kernel."""
    where = {"metric": reconstruction.RECOVERED, "dataset": data_of(source)}
    rows = rows_at(source.table("lood-ctl-7"), **where)
    found = of_size(source, summed_up(most(rows, "kernel")), SEARCHES, int(rows["n"].min()))
    ends = f"{rows['value'].min():.0f} to {rows['value'].max():.0f}%"
    return noted(found, f"the best starts recover {ends} of their records, by kernel")


def exposed_members(source: Any) -> Outcome:
    """c11: how much more often searches end at a group's most than at its least exposed member."""
    table = source.table("lood-fig-3")
    names = dict.fromkeys(table["group"])
    if len(names) < GROUPS:
        return untested(f"it takes {GROUPS} groups; the run has {len(names)}")
    found = []
    for name in names:
        part = rows_at(table, group=name)
        alone = part[part["row"].str.endswith("members")].set_index("member")["kl"]
        near = part[part["correlation"] >= reconstruction.CLOSE]
        rate = near.loc[near["row"].str.endswith("one query"), "member"].value_counts(True)
        if len(rate):
            found.append(rate.get(alone.idxmax(), 0.0) - rate.get(alone.idxmin(), 0.0))
    label = "share of searches at the most less at the least exposed member"
    found = much_better(Contrast.of_units(found, label), 0.0)
    return of_size(source, found, IN_GROUPS, reconstruction.GROUP * len(names))


def whole_groups(source: Any) -> Outcome:
    """c19: the share of groups of which all searches together find every member."""
    whole = reconstruction.recovery(source.table("lood-fig-3"))["whole"]
    if whole["n"] < GROUPS:
        return untested(f"it takes {GROUPS} groups; the run has {whole['n']}")
    hits = round(whole["value"] * whole["n"] / 100)
    label = "share of groups wholly recovered, less ½"
    found = much_better(Share.count(hits, whole["n"], label, 0.5), 0.0)
    found = of_size(source, found, IN_GROUPS, reconstruction.GROUP * whole["n"])
    return noted(found, f"groups found whole: {hits} of {whole['n']}")


def normalisation_escapes(source: Any) -> Outcome:
    """c12: queries above the record that are no blow-up, confirmed by a second path."""
    table = source.table("lood-fig-10").dropna(subset=["record"]).drop_duplicates("record")
    if "kl_directly" not in table:
        return untested("it takes a second code path and the variances of the queries found")
    ratio, off = table["kl"] / table["kl_at_record"], table["kl"] / table["kl_directly"] - 1
    proper = ratio[(off.abs() < 1e-6) & (table["variance"] >= 1e-3)]
    if proper.empty or (proper.max() <= 1.05 and len(table) < 20):
        return untested("it takes ascents from 20 records")
    found = much_better(Contrast("largest KL over the record's", float(proper.max())), 1.05)
    share = Share.count(int((proper > 1.05).sum()), len(table), "share of records with one")
    found = replace(found, numbers=(*found.numbers, share))
    found = of_size(source, found, "process-normalised", len(table))
    rest = proper.drop(proper.idxmax()).max()
    if proper.max() <= 1.05 or len(proper) < 2:
        return found
    least = table.loc[proper.idxmax(), "variance"]
    return noted(
        found,
        f"its query's variance is {least:.2g} of the record's, and 0.001 would leave it out",
        f"the others gain at most {100 * (rest - 1):.1f}%",
    )


def mean_distance(source: Any) -> Outcome:
    """c13: the gradient's formula, and where the mean distance peaks by the record's place."""
    swept = toys.sweep(source.settings)
    off = np.abs(swept["formula"] - swept["differences"]) / swept["differences"].abs().max()
    far = swept["nearest"] > FAR
    is_better = (swept.loc[~far, "ratio"] > 1.05).to_numpy()
    pairs = Contrast("neighbouring places with a better query", float(_neighbours(is_better)))
    parts = [
        exceeded(off, "gradient by formula less differences, over the largest", 1e-6),
        much_better(pairs, 0.0),
        exceeded(swept.loc[far, "distance"], "distance of the best query, far records", 0.01),
    ]
    return every(parts).on("computation")


def _neighbours(hit: np.ndarray) -> int:
    return int((hit[1:] & hit[:-1]).sum())


def constant_leaks_little(source: Any) -> Outcome:
    """c14: the largest KL by distance from a constant, and the bound on it."""
    table = rows_at(source.table("lood-ctl-10"), statement="Proposition 6.1")
    words = table["case"].str.extract(r"^(?P<set>.*), kernel within (?P<distance>\S+) of")
    wide = table.assign(**words).dropna(subset=["distance"])
    wide = wide.astype({"distance": float})
    if wide.empty or wide["distance"].min() > 1.1e-4:
        return untested("it takes distances down to 1e-4 on CIFAR-10 and digits")
    found = {}
    for name, part in wide.groupby("set"):
        kl = part.pivot_table(index="distance", columns="quantity", values="value")
        rises = 1 - kl["largest KL"].to_numpy()[1:] / kl["largest KL"].to_numpy()[:-1]
        beyond = kl["largest KL"] / kl["bound of the KL"] - 1
        label = f"largest KL nearer to a constant, or over its bound, {name}"
        found[name] = exceeded([*rises, *beyond], label, 0.0)
    n = source.evidence(CONSTANT).sizes["record"]
    if n < LEAST_RECORDS:
        found = {f"{name}, {n} records": one for name, one in found.items()}
    return overall(found, PAPER, always=True)


def rates(source: Any) -> Outcome:
    """c15: how fast 1 - c decays at each stable fixed point, and where it lies beside ReLU's."""
    wide = points(source)
    found = [about(Contrast("slope plus 2, ReLU", wide.loc[("ReLU", "any"), SLOPE] + 2), 0.1)]
    for (name, q), row in judged(wide).iterrows():
        found.append(about(Contrast(f"slope plus 1, {name}, q = {q}", row[SLOPE] + 1), 0.1))
        label = f"log (1 - c) over ReLU's at L = 1,000, {name}, q = {q}"
        found.append(much_better(Contrast(label, float(np.log(row[FAR_APART]))), 0.0))
    return summed_up(found).on("computation")


def smooth_leaks_more(source: Any) -> Outcome:
    """c16: the share of records with more KL under GeLU at stable points, on the sphere."""
    stable = [q for name, q in judged(points(source)).index if name == "GeLU"]
    rows = rows_at(source.table("lood-ctl-13"), dataset=data_of(source), inputs="unit sphere")
    rows = rows[rows["q"].isin([float(q) for q in stable]) & (rows["activation"] == "GeLU")]
    deep = rows[~rows["metric"].str.startswith("depth 1,")]
    found = over(source, summed_up(most(deep, "q", "metric")))
    more = deep[deep["value"] > 50]
    if more.empty or len(more) == len(deep):
        return found
    ends = f"{more['value'].min():.0f} to {more['value'].max():.0f}%"
    return noted(found, f"{len(more)} of {len(deep)} cells hold ({ends} of the records)")


def released_setting(source: Any) -> Outcome:
    """c17: GeLU above ReLU at the released settings."""
    more = rows_at(source.table("lood-ctl-14"), metric=leakage.MORE)
    found = over(source, summed_up(most(more, *_SETS)))
    rows = rows_at(source.table("lood-ctl-9"), inputs="raw", kernels=NETWORK)
    share = rows.loc[rows["metric"].str.contains("KL"), "value"]
    ends = f"{share.min():.0f} to {share.max():.0f}%"
    return noted(found, f"with the released networks' deviation GeLU leads for {ends}, by depth")


def gap_with_depth(source: Any) -> Outcome:
    """c22: GeLU's lead over ReLU at the released settings, the more the deeper."""
    table = source.table("lood-ctl-14")
    grown = table[table["kernel"].str.endswith(leakage.GROWTH)]
    found = over(source, summed_up(above(grown, "log ratio at depth 10 less 2", "training_set")))
    at = rows_at(table, metric=leakage.LOG_RATIO).groupby("kernel")["value"].mean()
    first, last = (at[f"GeLU, depth {depth}"] for depth in (2, 10))
    if not last < first < 0:
        return found
    return noted(found, f"the gap grows, on ReLU's side: from {first:.2f} to {last:.2f}")


def networks_with_gelu(source: Any) -> Outcome:
    """c18: AUC of GeLU networks less that of ReLU networks, by record."""
    rows = rows_at(source.table("lood-fig-5"), panel="networks")
    label = "AUC of GeLU networks less ReLU networks"
    return of_networks(source, better(Contrast.of_units(rows["y"] - rows["x"], label), MARGIN))
