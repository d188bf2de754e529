"""The tests of the paper's claims, from the chapter's tables and, for networks, its evidence."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from membership.book.exhibits import Source
from membership.book.published import Contrast, Outcome, Share
from membership.book.published.claim_rules import about, better, chance, much_better
from membership.book.published.declared_tests import Test
from membership.book.published.outcomes import (
    CONTRADICTED,
    SUPPORTED,
    UNDECIDED,
    every,
    overall,
    summed_up,
    untested,
)
from membership.book.published.rows import correlation, number, of_row, rows_at
from membership.book.studies.lood import (
    evidence,
    influenced,
    laws,
    leakage,
    measures,
    queries,
    reconstruction,
)
from membership.book.studies.lood.activations import FAR_APART, SLOPE, depth_of
from membership.book.studies.lood.claim_numbers import (
    LEAST_LEFT_OUT,
    LEAST_RECORDS,
    PAPER,
    STRONG,
    data_of,
    exceeded,
    judged,
    most,
    most_of_records,
    near_the_mean,
    noted,
    of_cases,
    of_networks,
    of_size,
    over,
    points,
    proved,
    records_of,
)
from membership.book.studies.lood.evidence import CONSTANT, SEARCHES
from membership.book.studies.lood.experiment import POLYNOMIAL, RBF, family_of, kernel_name
from membership.book.studies.lood.one_inverse import COSTS, TRAININGS
from membership.book.studies.lood.reconstruction import MEMBERS, ONE_QUERY, of_kinds
from membership.book.studies.lood.statements import distances

ATTEMPTS, IN_GROUPS = "process-attempts", "process-groups"
MARGIN = 0.01
GROUPS = 20
RIVALS = ("influence function", "TracIn")
BEST_QUERY = "the record is its own most leaking query"
NO_BOUND = "under normalisation by the data a homogeneous kernel leaks without bound"
EVERY_KERNEL = "every Gaussian process whose kernel and noise do not depend on the records"
# Records farther than this from all others: the kernel is below a thousandth there.
FAR = 3.7


def on_its_data(test: Test, source: Source) -> Outcome:
    """An outcome on the run's data."""
    return over(source, test.outcome(source).on())


def on_networks(test: Test, source: Source) -> Outcome:
    """One on networks: smaller ones than the paper's stand in."""
    return of_networks(source, test.outcome(source).on())


def by_kernel(test: Test, source: Source) -> Outcome:
    """An outcome for each kernel that the test is about."""
    return _by_kernel(test, source, {kernel: [kernel] for kernel in test.where["kernel"]})


def by_deviation(test: Test, source: Source) -> Outcome:
    """An outcome for each deviation that the released code has for GeLU."""
    kernels = source.table(test.table)["kernel"].unique()
    cases = {
        f"GeLU at {deviation}": [kernel for kernel in kernels if family_of(kernel) == name]
        for name, deviation in leakage.RELEASED.items()
    }
    return _by_kernel(test, source, cases)


def _by_kernel(test: Test, source: Source, cases: dict[str, list[str]]) -> Outcome:
    outcomes = {
        f"{data_of(source)}, {case}": test.at(kernel=kernels).outcome(source).on()
        for case, kernels in cases.items()
    }
    return of_cases(source, outcomes)


def mean_is_weak(source: Source) -> Outcome:
    """c21: whether the mean distance's own correlation is below what counts as strong."""
    rows = rows_at(source.table("lood-ctl-14"), metric=leakage.MEAN_BY_VALUE, inputs="raw")
    rows = rows[~rows["kernel"].map(family_of).isin(leakage.RELEASED)]
    cells = []
    for _, row in rows.iterrows():
        label = f"Pearson's r, {row['kernel']}, set {row['training_set']}"
        cells.append(chance(correlation(row, label), STRONG, parts=len(rows)))
    below = sum(cell.word == SUPPORTED for cell in cells)
    ends = f"{rows['value'].min():.2f} to {rows['value'].max():.2f}"
    whole = over(source, summed_up(cells))
    return noted(whole, f"below {STRONG:g} in {below} of {len(cells)} cells, {ends}")


def process_and_networks(source: Source) -> Outcome:
    """c03: both AUCs' rank correlation over the root of the networks' reliability."""
    pairs = source.evidence("pairs-relu")
    process = measures.contrast(source.evidence("process-influence")).auc()
    reliability = laws.reliability(pairs)["value"]
    if reliability < 0.5:
        return untested(f"it takes more networks: their reliability is {reliability:.2f}")
    row = leakage.ranked(process, measures.network_auc(pairs)[0])
    # Dividing by the root of the reliability asks the same and leaves an interval beyond 1.
    outcome = much_better(correlation(row, "rank correlation"), STRONG * reliability**0.5)
    return noted(
        of_networks(source, outcome), f"reliability of the networks' AUC {reliability:.2f}"
    )


def best_estimate_by_rank(source: Source) -> Outcome:
    """c04 as it was: rank correlations with the prediction difference."""
    rows = rows_at(source.table("lood-fig-1"), panel=leakage.MEMORISATION)
    x = {name: part["x"].to_numpy() for name, part in rows.groupby("series")}
    truth = rows.loc[rows["series"] == "TracIn", "y"].to_numpy()
    parts = []
    for rival in RIVALS:
        paired = leakage.lead(x["mean-distance LOOD"], x[rival], truth)
        label = f"rank correlation, mean distance less {rival}"
        parts.append(much_better(of_row(paired, label), 0.0, parts=2))
    return of_networks(source, every(parts))


def cheaper(source: Source) -> Outcome:
    """c05: processor time of 200 trainings of the paper's networks over that of LOOD."""
    if not evidence.at_paper_size(source.settings):
        return untested("it takes timings with 10,000 records of CIFAR-10")
    label = "time of 200 trainings over that of LOOD for one record"
    ratio = number(source.table("lood-ctl-2"), label, quantity=f"{TRAININGS} {COSTS}")
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
    is_single = ~table["queries"].isin(queries.THREE)
    is_network = ~table["kernel"].isin([RBF, POLYNOMIAL])
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


def best_alone(test: Test, source: Source) -> Outcome:
    """One that the theorem decides, and a search beyond the record would contradict."""
    return proved(test.outcome(source), BEST_QUERY, EVERY_KERNEL)


def by_search(test: Test, source: Source) -> Outcome:
    """The same by search alone, for which the run has too few records."""
    return of_size(source, test.outcome(source).on(), ATTEMPTS, _tried(source))


def _tried(source: Source) -> int:
    return int(source.evidence(ATTEMPTS).attrs["sizes"]["Records tried"])


def reconstructs(source: Source) -> Outcome:
    """c10: the share of searches that recover their record, under every kernel alike."""
    where = {"metric": reconstruction.RECOVERED, "dataset": data_of(source)}
    rows = rows_at(source.table("lood-ctl-7"), **where)
    few = rows["kernel"].str.endswith(reconstruction.OTHER_DEPTHS)
    attrs = source.evidence(SEARCHES).attrs
    of, left_out = records_of(attrs), rows["n"].where(~few).min()
    is_whole = of >= LEAST_RECORDS and left_out >= LEAST_LEFT_OUT
    name = f"{attrs['set']}, {left_out:.0f} of {of:,} records left out"
    parts = {"dense kernels and RBF": most(rows[~few], "kernel", parts=len(rows))}
    if few.any():
        beside = (
            f"other depths and convolutional kernels, {rows['n'].where(few).min():.0f} left out"
        )
        parts[beside] = most(rows[few], "kernel", parts=len(rows))
    whole = summed_up(part for of_kind in parts.values() for part in of_kind)
    words = [f"{kind}: {every(of_kind).word}" for kind, of_kind in parts.items()]
    ends = f"{rows['value'].min():.0f} to {rows['value'].max():.0f}%"
    return noted(
        overall({data_of(source) if is_whole else name: whole}, PAPER),
        *words,
        f"the best starts recover {ends} of their records, by kernel",
    )


def exposed_members(source: Source) -> Outcome:
    """c11: how much more often searches end at a group's most than at its least exposed member."""
    table = source.table("lood-fig-3")
    names = dict.fromkeys(table["group"])
    if len(names) < GROUPS:
        return untested(f"it takes {GROUPS} groups; the run has {len(names)}")
    leads = []
    for name in names:
        part = rows_at(table, group=name)
        alone = of_kinds(part, MEMBERS).set_index("member")["kl"]
        near = part[part["correlation"] >= reconstruction.CLOSE]
        rate = of_kinds(near, ONE_QUERY)["member"].value_counts(True)
        if len(rate):
            leads.append(rate.get(alone.idxmax(), 0.0) - rate.get(alone.idxmin(), 0.0))
    label = "share of searches at the most less at the least exposed member"
    outcome = much_better(Contrast.of_units(leads, label), 0.0)
    return of_size(source, outcome, IN_GROUPS, reconstruction.GROUP * len(names))


def whole_groups(source: Source) -> Outcome:
    """c19: the share of groups found whole; a few of them are enough against a contradiction."""
    return _groups_found(source, may_be_few=True)


def most_groups(source: Source) -> Outcome:
    """c19 as it was: the share alone."""
    return _groups_found(source, may_be_few=False)


def _groups_found(source: Source, may_be_few: bool) -> Outcome:
    """The share of groups of which all searches together find every member."""
    whole = reconstruction.recovery(source.table("lood-fig-3"))["whole"]
    if whole["n"] < GROUPS:
        return untested(f"it takes {GROUPS} groups; the run has {whole['n']}")
    hits = round(whole["value"] * whole["n"] / 100)
    label = "share of groups wholly recovered, less ½"
    outcome = much_better(Share.count(hits, whole["n"], label, 0.5), 0.0)
    if may_be_few and hits and outcome.word == CONTRADICTED:
        # What happened can happen.
        outcome = replace(outcome, word=UNDECIDED)
    outcome = of_size(source, outcome, IN_GROUPS, reconstruction.GROUP * whole["n"])
    return noted(outcome, f"groups found whole: {hits} of {whole['n']}")


def normalisation_escapes(source: Source) -> Outcome:
    """c12: decided by the theorem; a query beside the mean for every record, by two paths."""
    table = source.table("lood-ctl-6")
    rows, least, paths_agree = near_the_mean(source)
    gain = Contrast("least KL beside the mean of D', over the record's", least[-1])
    parts = [much_better(gain, queries.LEAST_GAIN), paths_agree]
    n = int(rows["n"].max())
    outcome = replace(every(parts), reason=f"on {n} records, all with a better query")
    outcome = proved(outcome, NO_BOUND, "every kernel that is 0 at the origin")
    climbs = table[table["query"] == "found from the record"]
    clauses = []
    for case, rows in climbs.groupby("case", sort=False):
        value = rows.set_index("metric")["value"]
        ends = value[queries.SMALLEST_GAIN], value["largest KL over the record's"]
        clauses.append(f"{ends[0]:.3f} to {ends[1]:.3f} times ({case.split()[-1]})")
    return noted(
        outcome, f"climbs from the record, by what is normalised, find {', '.join(clauses)}"
    )


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
    pairs_of_places = float((is_better[1:] & is_better[:-1]).sum())
    pairs = Contrast("neighbouring places with a better query", pairs_of_places)
    parts = [
        exceeded(off, "gradient by formula less differences, over the largest", 1e-6),
        much_better(pairs, 0.0),
        exceeded(swept.loc[far, "distance"], "distance of the best query, far records", 0.01),
    ]
    return every(parts).on("computation")


def constant_leaks_little(source: Source) -> Outcome:
    """c14: the largest KL by distance from a constant, and the bound on it."""
    table = rows_at(source.table("lood-ctl-10"), statement="Proposition 6.1")
    wide = table.join(distances(table["case"]))
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
    """c16: the share of records with more KL under GeLU at stable points; sets are the units."""
    return _on_sphere(source, most)


def smooth_leaks_more_pooled(source: Source) -> Outcome:
    """c16 as it was: the records of all training sets as the units."""
    return _on_sphere(source, most_of_records)


def _on_sphere(source: Source, judge: Callable[..., list[Outcome]]) -> Outcome:
    stable = [q for name, q in judged(points(source)).index if name == "GeLU"]
    rows = rows_at(source.table("lood-ctl-13"), dataset=data_of(source), inputs="unit sphere")
    rows = rows[rows["q"].isin([float(q) for q in stable]) & (rows["activation"] == "GeLU")]
    deep = rows[depth_of(rows["metric"]) > 1]
    cells = judge(deep, "q", "metric")
    outcome = over(source, summed_up(cells))
    holding = deep[[cell.word == SUPPORTED for cell in cells]]
    if holding.empty or len(holding) == len(deep):
        return outcome
    ends = f"{holding['value'].min():.0f} to {holding['value'].max():.0f}%"
    return noted(outcome, f"{len(holding)} of {len(deep)} cells hold ({ends} of the records)")


def gap_with_depth(test: Test, source: Source) -> Outcome:
    """c22: how far apart KL is under GeLU and ReLU, whichever leads, with the means beside it."""
    rows, ends = rows_at(source.table(test.table), metric=leakage.LOG_RATIO, inputs="raw"), []
    for name, deviation in leakage.RELEASED.items():
        first, last = (
            rows_at(rows, kernel=kernel_name(name, depth))["value"].mean() for depth in (2, 10)
        )
        ends.append(f"from {first:.2f} to {last:.2f} ({deviation})")
    remark = f"mean log ratio of GeLU's KL and ReLU's {', '.join(ends)}"
    return noted(by_deviation(test, source), remark)


def networks_with_gelu(source: Source) -> Outcome:
    """c18: AUC of GeLU networks less that of ReLU networks, by record."""
    rows = rows_at(source.table("lood-fig-5"), panel="networks")
    label = "AUC of GeLU networks less ReLU networks"
    return of_networks(source, better(Contrast.of_units(rows["y"] - rows["x"], label), MARGIN))
