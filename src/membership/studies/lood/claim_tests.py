"""The tests of the paper's claims, from the chapter's tables and, for networks, its evidence."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd

from membership.exhibits import Source
from membership.published import Contrast, Outcome, Share
from membership.published.claim_rules import about, better, much_better
from membership.published.outcomes import SUPPORTED, every, overall, untested
from membership.published.rows import rows_at
from membership.studies.lood import (
    evidence,
    influenced,
    leakage,
    measures,
    queries,
    reconstruction,
)
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
    most_of_records,
    noted,
    of_cases,
    of_networks,
    of_size,
    over,
    points,
    proved,
    summed_up,
)
from membership.studies.lood.edge import FAR_APART, SLOPE
from membership.studies.lood.evidence import CONSTANT, SEARCHES
from membership.studies.lood.one_inverse import COSTS, TRAININGS

_SETS = ("kernel", "training_set")
ATTEMPTS, IN_GROUPS = "process-attempts", "process-groups"
MARGIN = 0.01
GROUPS = 20
RIVALS = ("influence function", "TracIn")
BEST_QUERY = "the record is its own most leaking query"
NO_BOUND = "under normalisation by the data a homogeneous kernel leaks without bound"
EVERY_KERNEL = "every Gaussian process whose kernel and noise do not depend on the records"
# Records farther than this from all others: the kernel is below a thousandth there.
FAR = 3.7


def strong(source: Source) -> Outcome:
    """c01: KL against the exact AUC, on each training set at each depth."""
    rows = rows_at(source.table("lood-ctl-14"), metric=leakage.OF_KL, inputs="raw")
    rows = rows[rows["kernel"].str.startswith("ReLU")]
    cells = correlated(rows, "rank correlation of KL and AUC", "kernel", "training_set")
    return over(source, summed_up(cells, STRONG))


def mean_is_weaker(source: Source) -> Outcome:
    """c02: by how much KL's correlation exceeds the mean distance's, noise included."""
    cells = above(_of_sets(source, leakage.LEAD), "rank correlation, KL's less", *_SETS)
    return over(source, summed_up(cells))


def mean_is_weak(source: Source) -> Outcome:
    """c21: whether the mean distance's own correlation is below what counts as strong."""
    rows = _of_sets(source, leakage.MEAN_BY_VALUE)
    cells = badly_correlated(rows, "Pearson's r", *_SETS)
    below = sum(one.word == SUPPORTED for one in cells)
    ends = f"{rows['value'].min():.2f} to {rows['value'].max():.2f}"
    whole = over(source, summed_up(cells, STRONG))
    return noted(whole, f"below {STRONG:g} in {below} of {len(cells)} cells, {ends}")


def mean_is_weak_by_rank(source: Source) -> Outcome:
    """c21 as it was: the same of ranks."""
    cells = badly_correlated(_of_sets(source, leakage.OF_MEAN), "rank correlation", *_SETS)
    return over(source, summed_up(cells, STRONG))


def noise_is_told_apart(source: Source) -> Outcome:
    """c20: the AUC of noise less that of records with a like mean distance, by kernel.

    Pixels are normalised, as in the released code that has such noise.
    """
    rows = _of_sets(source, leakage.APART, "standardised")
    kernels = {
        f"{data_of(source)}, {kernel}": summed_up(above(part, "AUC, noise less records", *_SETS))
        for kernel, part in rows.groupby("kernel", sort=False)
    }
    return of_cases(source, kernels)


def raw_noise_is_told_apart(source: Source) -> Outcome:
    """c20 as it was: on pixels in [0, 1], every kernel a part."""
    cells = above(_of_sets(source, leakage.APART), "AUC, noise less records", *_SETS)
    return over(source, summed_up(cells))


def _of_sets(source: Source, metric: str, inputs: str = "raw") -> pd.DataFrame:
    rows = rows_at(source.table("lood-ctl-14"), metric=metric, inputs=inputs)
    return rows[~rows["kernel"].str.startswith("GeLU")]


def process_and_networks(source: Source) -> Outcome:
    """c03: both AUCs' rank correlation over the root of the networks' reliability."""
    pairs = source.evidence("pairs-relu")
    process = measures.contrast(source.evidence("process-influence")).auc()
    halves = [measures.network_auc(pairs, half=slice(start, None, 2))[0] for start in (0, 1)]
    half = leakage.ranked(*halves)["value"]
    reliability = 2 * half / (1 + half)
    if reliability < 0.5:
        return untested(f"it takes more networks: their reliability is {reliability:.2f}")
    row = leakage.ranked(process, measures.network_auc(pairs)[0])
    # Dividing by the root of the reliability asks the same and leaves an interval beyond 1.
    outcome = much_better(Correlation.of(row, "rank correlation"), STRONG * reliability**0.5)
    return noted(
        of_networks(source, outcome), f"reliability of the networks' AUC {reliability:.2f}"
    )


def best_estimate(source: Source) -> Outcome:
    """c04: Pearson's r as released, the mean distance's less each rival's."""
    rows = rows_at(source.table("lood-ctl-3"), metric=leakage.AHEAD_AS_PLOTTED)
    rows = rows[rows["estimate"].isin(RIVALS)]
    parts = []
    for _, row in rows.iterrows():
        lead = interval(row, f"Pearson's r, mean distance less {row['estimate']}")
        parts.append(much_better(replace(lead, units=int(row["n"])), 0.0, parts=len(rows)))
    return of_networks(source, every(parts))


def best_estimate_by_rank(source: Source) -> Outcome:
    """c04 as it was: rank correlations with the prediction difference."""
    rows = rows_at(source.table("lood-fig-1"), panel=leakage.MEMORISATION)
    x = {name: part["x"].to_numpy() for name, part in rows.groupby("series")}
    truth = rows.loc[rows["series"] == "TracIn", "y"].to_numpy()
    parts = []
    for rival in RIVALS:
        paired = leakage.lead(x["mean-distance LOOD"], x[rival], truth)
        lead = interval(paired, f"rank correlation, mean distance less {rival}")
        counted = replace(lead, units=len(truth))
        parts.append(much_better(counted, 0.0, parts=2))
    return of_networks(source, every(parts))


def cheaper(source: Source) -> Outcome:
    """c05: processor time of 200 trainings of the paper's networks over that of LOOD."""
    if not evidence.at_paper_size(source.settings):
        return untested("it takes timings with 10,000 records of CIFAR-10")
    row = rows_at(source.table("lood-ctl-2"), quantity=f"{TRAININGS} {COSTS}").iloc[0]
    ratio = interval(row, "time of 200 trainings over that of LOOD for one record")
    return over(source, much_better(ratio, 100.0))


def no_query_leaks_more(source: Source) -> Outcome:
    """c07: decided by the theorem, which the search below would contradict."""
    return proved(_single(source), BEST_QUERY, EVERY_KERNEL)


def no_query_leaks_more_by_search(source: Source) -> Outcome:
    """c07 as it was: by search alone, for which the run has too few records."""
    return of_size(source, _single(source), ATTEMPTS, _tried(source))


def _single(source: Source) -> Outcome:
    """What lines, draws, training records and ascents have above the record."""
    table = rows_at(source.table("lood-ctl-5"), metric=queries.MEASURES["kl"])
    is_single = ~table["queries"].str.startswith("three")
    is_network = ~table["kernel"].str.startswith(("RBF", "polynomial"))
    line = rows_at(source.table("lood-fig-4"), panel=queries.PROCESS)["value"].to_numpy(float) - 1
    excess = [*table.loc[is_single & is_network, "value"], *line]
    return exceeded(excess, "KL of a query over the record's, less 1")


def near_the_record(source: Source) -> Outcome:
    """c08: the networks' AUC within ten steps of the record less that at the lines' ends."""
    pairs = source.evidence("pairs-relu")
    steps = np.abs(pairs.attrs["offsets"])
    auc = np.stack([measures.network_auc(pairs, query)[0] for query in range(len(steps))], axis=1)
    higher = auc[:, steps <= 10].mean(axis=1) - auc[:, steps == 50].mean(axis=1)
    label = "share of records with a higher AUC, less ½"
    share = Share.count(int((higher > 0).sum()), len(higher), label, 0.5)
    mean = Contrast.of_units(higher, "AUC near the record less at the lines' ends")
    return of_networks(
        source, every([much_better(share, 0.0, parts=2), better(mean, MARGIN, parts=2)])
    )


def more_queries(source: Source) -> Outcome:
    """c09: decided by the theorem, which the search below would contradict."""
    return proved(_several(source), BEST_QUERY, EVERY_KERNEL)


def more_queries_by_search(source: Source) -> Outcome:
    """c09 as it was: by search alone, for which the run has too few records."""
    return of_size(source, _several(source), ATTEMPTS, _tried(source))


def _several(source: Source) -> Outcome:
    """What sets of queries have above the record alone."""
    table = rows_at(source.table("lood-ctl-5"), metric=queries.MEASURES["kl"])
    excess = table.loc[table["queries"].str.startswith("three"), "value"]
    return exceeded(excess, "KL of three queries over the record's, less 1")


def _tried(source: Source) -> int:
    return int(source.evidence(ATTEMPTS).attrs["sizes"]["Records tried"])


def reconstructs(source: Source) -> Outcome:
    """c10: the share of searches that recover their record, by kernel."""
    where = {"metric": reconstruction.RECOVERED, "dataset": data_of(source)}
    rows = rows_at(source.table("lood-ctl-7"), **where)
    outcome = of_size(source, summed_up(most(rows, "kernel")), SEARCHES, int(rows["n"].min()))
    ends = f"{rows['value'].min():.0f} to {rows['value'].max():.0f}%"
    return noted(outcome, f"the best starts recover {ends} of their records, by kernel")


def exposed_members(source: Source) -> Outcome:
    """c11: how much more often searches end at a group's most than at its least exposed member."""
    table = source.table("lood-fig-3")
    names = dict.fromkeys(table["group"])
    if len(names) < GROUPS:
        return untested(f"it takes {GROUPS} groups; the run has {len(names)}")
    leads = []
    for name in names:
        part = rows_at(table, group=name)
        alone = part[part["row"].str.endswith("members")].set_index("member")["kl"]
        near = part[part["correlation"] >= reconstruction.CLOSE]
        rate = near.loc[near["row"].str.endswith("one query"), "member"].value_counts(True)
        if len(rate):
            leads.append(rate.get(alone.idxmax(), 0.0) - rate.get(alone.idxmin(), 0.0))
    label = "share of searches at the most less at the least exposed member"
    outcome = much_better(Contrast.of_units(leads, label), 0.0)
    return of_size(source, outcome, IN_GROUPS, reconstruction.GROUP * len(names))


def whole_groups(source: Source) -> Outcome:
    """c19: the share of groups of which all searches together find every member."""
    whole = reconstruction.recovery(source.table("lood-fig-3"))["whole"]
    if whole["n"] < GROUPS:
        return untested(f"it takes {GROUPS} groups; the run has {whole['n']}")
    hits = round(whole["value"] * whole["n"] / 100)
    label = "share of groups wholly recovered, less ½"
    outcome = much_better(Share.count(hits, whole["n"], label, 0.5), 0.0)
    outcome = of_size(source, outcome, IN_GROUPS, reconstruction.GROUP * whole["n"])
    return noted(outcome, f"groups found whole: {hits} of {whole['n']}")


def normalisation_escapes(source: Source) -> Outcome:
    """c12: decided by the theorem; a query beside the mean for every record, by two paths."""
    table = source.table("lood-ctl-6")
    near = rows_at(table, case=queries.NEAR_MEAN)
    near = near[near["query"].str.endswith("from the mean of D'")]
    least = rows_at(near, metric=queries.SMALLEST_GAIN)["value"].to_numpy()[-1]
    off = rows_at(near, metric="largest deviation of the second path")["value"].to_numpy()[-1]
    parts = [
        much_better(Contrast("least KL beside the mean of D', over the record's", least), 1.05),
        exceeded([off], "deviation of the second path, over the KL", 1e-3),
    ]
    n = int(near["n"].max())
    outcome = replace(every(parts), reason=f"on {n} records, all with a better query")
    outcome = proved(outcome, NO_BOUND, "every kernel that is 0 at the origin")
    climbs = table[table["query"] == "found from the record"]
    said = []
    for case, rows in climbs.groupby("case", sort=False):
        value = rows.set_index("metric")["value"]
        ends = value[queries.SMALLEST_GAIN], value["largest KL over the record's"]
        said.append(f"{ends[0]:.3f} to {ends[1]:.3f} times ({case.split()[-1]})")
    return noted(outcome, f"climbs from the record, by what is normalised, find {', '.join(said)}")


def normalisation_escapes_by_climbing(source: Source) -> Outcome:
    """c12 as it was: queries above the record that are no blow-up, confirmed by a second path."""
    table = source.table("lood-fig-10").dropna(subset=["record"]).drop_duplicates("record")
    if "kl_directly" not in table:
        return untested("it takes a second code path and the variances of the queries found")
    ratio, off = table["kl"] / table["kl_at_record"], table["kl"] / table["kl_directly"] - 1
    proper = ratio[(off.abs() < 1e-6) & (table["variance"] >= 1e-3)]
    if proper.empty or (proper.max() <= 1.05 and len(table) < 20):
        return untested("it takes ascents from 20 records")
    outcome = much_better(Contrast("largest KL over the record's", float(proper.max())), 1.05)
    share = Share.count(int((proper > 1.05).sum()), len(table), "share of records with one")
    outcome = replace(outcome, numbers=(*outcome.numbers, share))
    outcome = of_size(source, outcome, "process-normalised", len(table))
    rest = proper.drop(proper.idxmax()).max()
    if proper.max() <= 1.05 or len(proper) < 2:
        return outcome
    least = table.loc[proper.idxmax(), "variance"]
    return noted(
        outcome,
        f"its query's variance is {least:.2g} of the record's, and 0.001 would leave it out",
        f"the others gain at most {100 * (rest - 1):.1f}%, channels normalised",
    )


def mean_distance(source: Source) -> Outcome:
    """c13: the gradient's formula, and where the mean distance peaks by the record's place."""
    swept = influenced.sweep(source.settings)
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


def constant_leaks_little(source: Source) -> Outcome:
    """c14: the largest KL by distance from a constant, and the bound on it."""
    table = rows_at(source.table("lood-ctl-10"), statement="Proposition 6.1")
    words = table["case"].str.extract(r"^(?P<set>.*), kernel within (?P<distance>\S+) of")
    wide = table.assign(**words).dropna(subset=["distance"])
    wide = wide.astype({"distance": float})
    if wide.empty or wide["distance"].min() > 1.1e-4:
        return untested("it takes distances down to 1e-4 on CIFAR-10 and digits")
    outcomes = {}
    for name, part in wide.groupby("set"):
        kl = part.pivot_table(index="distance", columns="quantity", values="value")
        rises = 1 - kl["largest KL"].to_numpy()[1:] / kl["largest KL"].to_numpy()[:-1]
        beyond = kl["largest KL"] / kl["bound of the KL"] - 1
        label = f"largest KL nearer to a constant, or over its bound, {name}"
        outcomes[name] = exceeded([*rises, *beyond], label, 0.0)
    evidence = source.evidence(CONSTANT)
    n, own = evidence.sizes["record"], evidence.attrs["set"]
    if n < LEAST_RECORDS:
        outcomes[f"{own}, {n} records"] = outcomes.pop(own)
    return overall(outcomes, PAPER, always=True)


def rates(source: Source) -> Outcome:
    """c15: how fast 1 - c decays at each stable fixed point, and where it lies beside ReLU's."""
    wide = points(source)
    parts = [about(Contrast("slope plus 2, ReLU", wide.loc[("ReLU", "any"), SLOPE] + 2), 0.1)]
    for (name, q), row in judged(wide).iterrows():
        parts.append(about(Contrast(f"slope plus 1, {name}, q = {q}", row[SLOPE] + 1), 0.1))
        label = f"log (1 - c) over ReLU's at L = 1,000, {name}, q = {q}"
        parts.append(much_better(Contrast(label, float(np.log(row[FAR_APART]))), 0.0))
    return summed_up(parts).on("computation")


def smooth_leaks_more(source: Source) -> Outcome:
    """c16: the share of records with more KL under GeLU at stable points; sets are the units.

    What would decide a cell alone does not decide it among so many: no number of sets is told.
    """
    return replace(_on_sphere(source, most), units_needed=None)


def smooth_leaks_more_pooled(source: Source) -> Outcome:
    """c16 as it was: the records of all training sets as the units."""
    return _on_sphere(source, most_of_records)


def _on_sphere(source: Source, judge: Callable[..., list[Outcome]]) -> Outcome:
    stable = [q for name, q in judged(points(source)).index if name == "GeLU"]
    rows = rows_at(source.table("lood-ctl-13"), dataset=data_of(source), inputs="unit sphere")
    rows = rows[rows["q"].isin([float(q) for q in stable]) & (rows["activation"] == "GeLU")]
    deep = rows[~rows["metric"].str.startswith("depth 1,")]
    cells = judge(deep, "q", "metric")
    outcome = over(source, summed_up(cells))
    held = deep[[one.word == SUPPORTED for one in cells]]
    if held.empty or len(held) == len(deep):
        return outcome
    ends = f"{held['value'].min():.0f} to {held['value'].max():.0f}%"
    return noted(outcome, f"{len(held)} of {len(deep)} cells hold ({ends} of the records)")


def released_settings(source: Source) -> Outcome:
    """c17: GeLU above ReLU at either released deviation of its weights."""
    outcomes = {}
    for name, deviation in leakage.RELEASED.items():
        rows = _released(source, name, leakage.MORE)
        outcomes[f"{data_of(source)}, GeLU at {deviation}"] = summed_up(most(rows, *_SETS))
    return of_cases(source, outcomes)


def released_setting(source: Source) -> Outcome:
    """c17 as it was: at the deviation of the released kernel runs alone."""
    rows = _released(source, leakage.NARROW, leakage.MORE)
    return over(source, summed_up(most(rows, *_SETS)))


def gap_with_depth(source: Source) -> Outcome:
    """c22: how far apart KL is under GeLU and ReLU, whichever leads, the more the deeper."""
    outcomes, ends = {}, []
    for name, deviation in leakage.RELEASED.items():
        grown = _released(source, name, leakage.GAP)
        parts = above(grown, "size of the log ratio at depth 10 less 2", *_SETS)
        outcomes[f"{data_of(source)}, GeLU at {deviation}"] = summed_up(parts)
        at = _released(source, name, leakage.LOG_RATIO).groupby("kernel")["value"].mean()
        first, last = (at[f"{name}, depth {depth}"] for depth in (2, 10))
        ends.append(f"from {first:.2f} to {last:.2f} ({deviation})")
    whole = of_cases(source, outcomes)
    return noted(whole, f"mean log ratio of GeLU's KL and ReLU's {', '.join(ends)}")


def lead_with_depth(source: Source) -> Outcome:
    """c22 as it was: GeLU's lead over ReLU at the released kernels' settings."""
    grown = _released(source, leakage.NARROW, leakage.LOG_RATIO)
    grown = grown[grown["kernel"].str.endswith(leakage.GROWTH)]
    return over(source, summed_up(above(grown, "log ratio at depth 10 less 2", "training_set")))


def _released(source: Source, name: str, metric: str) -> pd.DataFrame:
    """The rows of raw pixels at one of the released deviations."""
    rows = rows_at(source.table("lood-ctl-14"), metric=metric, inputs="raw")
    return rows[rows["kernel"].str.startswith(f"{name}, ")]


def networks_with_gelu(source: Source) -> Outcome:
    """c18: AUC of GeLU networks less that of ReLU networks, by record."""
    rows = rows_at(source.table("lood-fig-5"), panel="networks")
    label = "AUC of GeLU networks less ReLU networks"
    return of_networks(source, better(Contrast.of_units(rows["y"] - rows["x"], label), MARGIN))
