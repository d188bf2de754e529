"""The tests of this chapter's own findings."""

from typing import Any

import pandas as pd

from membership import metrics
from membership.published import Contrast, Outcome, claim_rules
from membership.published.outcomes import every
from membership.studies.bayes_optimal import claim_data, logistic, posterior
from membership.studies.bayes_optimal.claim_tests import MARGIN
from membership.studies.bayes_optimal.names import ACCURACY, AUC, MODELS

RATE = "TPR@1%FPR(%)"


def random_scores_reach_half(source: Any) -> Outcome:
    """What random scores gain over 50% is more than half of what is printed for MALT."""
    printed = logistic.published_table_1()
    rows = printed[(printed["attack"] == "MALT") & (printed["metric"] == ACCURACY)]
    found = []
    for row in rows.itertuples():
        null = 100 * metrics.peak_accuracy_null(row.n // 2, row.n // 2, seed=0) - 50
        over = Contrast(
            f"null less half of MALT's gain, points, n = {row.n}", null - (row.value - 50) / 2
        )
        found.append(claim_rules.much_better(over, 0.0, parts=len(rows)))
    return every(found).on("the published Table 1")


def informed_scores_gain_less(source: Any) -> Outcome:
    """What the best threshold gives MALT is less than half of what it gives random scores."""
    sizes = claim_data.sizes(source)
    found = []
    for n in sizes:
        null = 100 * metrics.peak_accuracy_null(n // 2, n // 2, seed=0) - 50
        pair = (("MALT", ACCURACY), ("MALT", MODELS))
        gain = claim_data.contrast(
            source, n, *pair, "accuracy of MALT, best threshold less that of other models, points"
        )
        less = gain.scaled(-1.0, f"half of the null less that of MALT, points, n = {n}")
        found.append(
            claim_rules.much_better(less.minus(-null / 2, less.label), 0.0, parts=len(sizes))
        )
    return _on_records(source, every(found))


def matt_is_its_twin(source: Any) -> Outcome:
    """The two rank records alike, and their AUCs are within the margin."""
    sizes = claim_data.sizes(source)
    cell = (f"{logistic.MATT} and {logistic.TWIN}", "rank_correlation")
    found = []
    for n in sizes:
        rank = claim_data.mean(source, n, cell).minus(0.95, f"rank correlation less 0.95, n = {n}")
        auc = claim_data.contrast(
            source, n, (logistic.MATT, AUC), (logistic.TWIN, AUC), "AUC, MATT less its twin, points"
        )
        found += [
            claim_rules.much_better(rank, 0.0, parts=2 * len(sizes)),
            claim_rules.about(auc, MARGIN, parts=2 * len(sizes)),
        ]
    return _on_records(source, every(found))


def second_term_is_large(source: Any) -> Outcome:
    """The second term's spread is more than a quarter of the first's."""
    sizes = claim_data.sizes(source)
    cell = ("second order / first order", "std_ratio")
    labelled = [
        claim_data.mean(source, n, cell).minus(0.0, f"ratio of spreads, n = {n}") for n in sizes
    ]
    return _on_records(
        source, every([claim_rules.much_better(one, 0.25, parts=len(sizes)) for one in labelled])
    )


def leverage_mends(source: Any) -> Outcome:
    """With the leverage the second term costs no point of AUC."""
    sizes = claim_data.sizes(source)
    found = []
    for n in sizes:
        pair = ((logistic.CORRECTED, AUC), (logistic.MATT, AUC))
        gain = claim_data.contrast(
            source, n, *pair, "AUC with the corrected term less without, points"
        )
        found.append(claim_rules.much_better(gain, -MARGIN, parts=len(sizes)))
    return _on_records(source, every(found))


def posterior_reading(source: Any) -> Outcome:
    """The posterior reading is within .01 everywhere; the prior's is .05 off somewhere."""
    table = source.table("bayes-optimal-ctl-7")
    close, far = [], []
    for (theta, z), rows in table.groupby(["theta", "z"]):
        value = {
            row.expectation: claim_data.row(pd.Series(row._asdict()), "")
            for row in rows.itertuples()
        }
        exact = value["exact"].difference
        place = f"theta = {theta:g}, z = {z:g}"
        close.append(value["posterior"].minus(exact, f"posterior reading less exact, {place}"))
        sign = 1 if value["prior"].difference > exact else -1
        off = Contrast(
            f"prior reading off, {place}",
            sign * (value["prior"].difference - exact),
            value["prior"].standard_error,
        )
        far.append(off)
    parts = len(close) + 1
    return every(
        [
            *(claim_rules.about(one, 0.01, parts=parts) for one in close),
            claim_rules.exists(None, far, 0.05, parts=parts),
        ]
    ).on("one-dimensional game")


def one_loss_two_answers(source: Any) -> Outcome:
    """The same record and loss under two models: the probabilities are .05 apart."""
    first, second = (posterior.exact_posterior(*case) for case in posterior.CASES[-2:])
    gap = Contrast("P(member) at equal losses, one model less the other", first - second)
    return claim_rules.much_better(gap, 0.05).on("one-dimensional game")


def mast_at_low_rates(source: Any) -> Outcome:
    """At 1% false positives MAST finds more members than MALT."""
    lead = claim_data.of_networks(
        source, ("MAST", RATE), ("MALT", RATE), "TPR at 1% FPR, MAST less MALT, points"
    )
    return claim_rules.better(lead, 0.25).on(claim_data.networks(source)[0])


def _on_records(source: Any, outcome: Outcome) -> Outcome:
    table = source.table(claim_data.TABLE_1)
    names = sorted({one["data"] for one in table.attrs["setup"].values()})
    return outcome.on(f"{', '.join(names)}, {claim_data.splits(outcome)} splits")
