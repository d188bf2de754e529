"""The tests that the list of claims does not declare.

Most read other chapters' committed tables. A run of this chapter makes none of these: a reader's
own run tests none of them.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from membership import exhibits
from membership.errors import InputError
from membership.exhibits.source import Source
from membership.published import Contrast, Outcome
from membership.published.claim_rules import best, bound, chance, exists, much_better
from membership.published.declared_tests import Test
from membership.published.outcomes import every, overall, untested
from membership.published.rows import lead, number, rows_at
from membership.studies.loss_enough import games
from membership.studies.loss_enough.names import RIDGE, SGD, STEP

AUC, RATE = "auc(%)", "TPR(%)@FPR=1%"
SHIPS, IMAGES = "CIFAR-10 trucks and ships", ("CIFAR-10", "CIFAR-100")
SIMULATED = ("Purchase-like (simulated)",)
COMMON = ("MNIST-Odd", "Fashion-MNIST", "Purchase-100")
# The attacks' rows at eight references; the ranks of LiRA with one variance are the difference's.
_WITH_EIGHT = {
    "LiRA": "LiRA, a variance a record",
    "RMIA": "RMIA",
    "Attack-R": "Attack-R",
    "LiRA, one variance": "log-odds difference",
}
# Points of accuracy; a rank correlation; a reliability; half of the overlap there can be.
TWO, PREDICTS, RELIABLE, HALF_OF_IT = 2.0, 0.3, 0.5, 0.5
# Points of AUC and of the rate that the claims ask for.
POINT, HALF = 1.0, 0.5


def paper(source: Source, exhibit_id: str) -> pd.DataFrame:
    """The paper-size table of an exhibit of another chapter, to a run of that size only."""
    if source.settings.profile != "paper":
        raise InputError(f"it reads {exhibit_id} at paper size, which no run of this chapter makes")
    return committed(exhibit_id)


def committed(exhibit_id: str) -> pd.DataFrame:
    """The paper-size table of an exhibit of another chapter."""
    product = exhibits.load(exhibit_id, "paper")
    if product is None:
        raise InputError(f"it takes the paper-size run of {exhibit_id}")
    return product[0]


AT_PAPER_SIZE = {
    "schedule": "falling rate (the paper's)",
    "metric": "AUC, paired difference, pooled",
}


def parameters_or_loss(source: Source) -> Outcome:
    """c01: attacks on parameters less the likelihood ratio of the loss, in the clean game.

    At the paper's size where it was played at that, with fewer records and retrainings on others.
    An author would object that optimal inference may retrain too: the projection does.
    """
    large = paper(source, "iha-ctl-20")
    ratio, attacks = "LiRA-L", ("IHA", "IHA*", "residual norm", "projection")
    outcomes = {}
    for name in large["dataset"].unique():
        leads = [
            number(
                large,
                f"AUC of {attack} less {ratio}, {name}",
                attack=f"{attack} less {ratio}",
                dataset=name,
                **AT_PAPER_SIZE,
            )
            for attack in attacks
        ]
        outcomes[name] = exists(None, leads, 0.01).on(f"{name}, {large.attrs['sizes'][name]}")
    small = paper(source, "iha-ctl-14")
    for name in [name for name in small["dataset"].unique() if name not in outcomes]:
        where = {"dataset": name, "metric": AT_PAPER_SIZE["metric"]}
        turned = number(small, attack=f"{ratio} less IHA", **where)
        leads = [turned.scaled(-1.0, f"AUC of IHA less {ratio}, {name}")]
        for attack in attacks[1:]:
            label = f"AUC of {attack} less {ratio}, {name}"
            leads.append(number(small, label, attack=f"{attack} less {ratio}", **where))
        sizes = f"{name}, {small.attrs['sizes'][name]}"
        outcomes[f"{name}, clean game"] = exists(None, leads, 0.01).on(sizes)
    return overall(outcomes, COMMON)


def access_before_knowledge(source: Source) -> Outcome:
    """c02: the main effect of parameters less that of knowing the others, in the clean game."""
    table = paper(source, "iha-ctl-20")
    (name,) = table["dataset"].unique()
    label = f"AUC: main effect of access less that of knowledge, {name}"
    effect = number(table, label, attack="access less knowledge", **AT_PAPER_SIZE)
    outcome = much_better(effect, 0.0).on(f"{name}, {table.attrs['sizes'][name]}")
    # The sentence is about Purchase-100(S), the only data of Section 4.4.
    return overall({name: outcome}, COMMON[-1:])


def parameters_or_all_losses(source: Source) -> Outcome:
    """c01 as it was fixed, which no attack could have passed."""
    return untested(
        "it takes 64 retrainings an arm; and losses on D' + z, which it allows, are the parameters"
    )


def matt_adds(source: Source) -> Outcome:
    """c03: MATT's AUC less that of the loss difference, at each n, on the same seeds."""
    return _matt_adds(source, paired=True)


def matt_adds_unpaired(source: Source) -> Outcome:
    """c03 as if the two attacks shared no seeds."""
    return _matt_adds(source, paired=False)


def _matt_adds(source: Source, *, paired: bool) -> Outcome:
    table = paper(source, "bayes-optimal-ctl-3")
    sizes = sorted(table["n"].unique())
    leads = []
    for n in sizes:
        label = f"AUC (points), MATT less the loss difference, n = {n}"
        where = {"n": n, "metric": AUC}
        pair = {"attack": "MATT"}, {"attack": "loss difference"}
        leads.append(
            number(table, label, attack="MATT less loss difference", **where)
            if paired
            else lead(table, label, *pair, **where)
        )
    outcome = every([much_better(contrast, POINT, parts=len(sizes)) for contrast in leads])
    data = f"{SHIPS}, features of another network"
    return overall({data: outcome.on(data)}, [SHIPS])


def one_replaces_eight(source: Source) -> Outcome:
    """c04: BMIA with one reference against three attacks with eight."""
    table = paper(source, "bmia-ctl-12")

    def test(name: str) -> Outcome:
        rows = rows_at(table, dataset=name, n_reference=8)
        leads = [
            number(rows, attack=row, metric=f"{metric}, less BMIA's").scaled(
                -1.0, f"{metric}, BMIA(1) less {attack}(8), {name}"
            )
            for metric in (RATE, AUC)
            for attack, row in _WITH_EIGHT.items()
        ]
        return best(leads)

    return _over(table, test)


def posterior_adds(source: Source) -> Outcome:
    """c05: what BMIA gains over the plain difference to its reference."""
    table = paper(source, "bmia-ctl-1")

    def test(name: str) -> Outcome:
        parts = []
        for metric, threshold in (("AUC(%) gained", HALF), ("TPR(%)@FPR=1% gained", 0.0)):
            label = f"{metric} over the difference, {name}"
            gain = number(table, label, dataset=name, attack="BMIA", metric=metric)
            parts.append(much_better(gain, threshold, parts=2))
        return every(parts)

    return _over(table, test)


def _over(
    table: pd.DataFrame, test: Callable[[str], Outcome], paper_datasets: Sequence[str] = IMAGES
) -> Outcome:
    """One outcome from those on each data set; BMIA's tables have none of CIFAR's own."""
    names = dict.fromkeys(table["dataset"])
    return overall(
        {name: test(name).on(name) for name in names}, paper_datasets, simulated=SIMULATED
    )


def calibration_pays(source: Source) -> Outcome:
    """c06: the gains of three attacks over the loss, in both measures."""
    table = paper(source, "comparison-ctl-2")
    rate, accuracy = "gain in TPR at 1% FPR (points)", "gain in accuracy (points)"

    def test(name: str) -> Outcome:
        rows = rows_at(table, dataset=name)
        names, parts = list(dict.fromkeys(rows["attack"])), []
        for attack in names:
            at = {"attack": attack, "dataset": name}
            label = f"{attack} less LOSS, {name}"
            gain = number(table, f"{rate}, {label}", metric=rate, **at)
            parts.append(much_better(gain, 0.0, parts=2 * len(names)))
            gain = number(table, f"{accuracy}, {label}", metric=accuracy, **at)
            parts.append(chance(gain, TWO, parts=2 * len(names)))
        return every(parts)

    return _over(table, test, COMMON)


def leave_one_out_predicts(source: Source) -> Outcome:
    """c10: the corrected rank correlation of LOOD with the risk, and its lead."""
    table = paper(source, "comparison-fig-4")
    corrected = "rank correlation over the root of the reliability"

    def test(name: str) -> Outcome:
        reliable = number(table, dataset=name, metric="reliability of the risk").difference
        if reliable < RELIABLE:
            return untested(f"the risk's reliability on {name} is below one half")
        rows = rows_at(table, dataset=name, metric=corrected)
        rivals = rows[~rows["predictor"].str.startswith("LOOD")]
        cheap = rivals.loc[rivals["value"].idxmax(), "predictor"]
        at = {"dataset": name, "metric": corrected}
        label = f"rank correlation over root of reliability, LOOD, {name}"
        own = number(table, label, predictor="LOOD, KL at the record", **at)
        other = number(table, predictor=cheap, **at)
        lead = own.less(other, f"the same, LOOD less {cheap}, {name}")
        # The lead has an outcome of its own: it stands among the numbers.
        outcome, apart = much_better(own, PREDICTS), much_better(lead, 0.0)
        return replace(outcome, numbers=(*outcome.numbers, *apart.numbers))

    return _over(table, test, COMMON)


def risk_depends_on_attack(source: Source) -> Outcome:
    """c12: the overlap of IHA and LiRA beyond chance, over LiRA's with itself."""
    table = paper(source, "comparison-tab-4")
    metric = "overlap beyond chance, over an attack's with itself"
    parts = []
    for rate in ("5%", "30%"):
        label = f"{metric}, at {rate} FPR"
        overlap = number(table, label, FPR=rate, attacks="LiRA and IHA", metric=metric)
        parts.append(chance(overlap, HALF_OF_IT, parts=2))
    cells = "the cells that were opened, averaged"
    return overall({cells: every(parts).on(cells)}, COMMON)


def distance_caps_attacks(source: Source) -> Outcome:
    """c11: the exact AUC at each record of a Gaussian process against the cap from KL."""
    rows = rows_at(paper(source, "lood-fig-1"), panel="LOOD and the attack", series="process")
    distance = np.sqrt(-np.expm1(-rows["x"].to_numpy()))
    excess = rows["y"].to_numpy() - (0.5 + distance - distance**2 / 2)
    excesses = [
        Contrast(f"AUC less its cap, record {record}", float(above))
        for record, above in enumerate(excess)
    ]
    # Nothing is to lie above the cap: no margin.
    return bound(excesses, 0.0).on(f"draws of the process, {len(excess)} records, exact AUC")


def beside_larger_steps(test: Test, source: Source) -> Outcome:
    """o05 as declared; beside it, deciding nothing, larger steps at an ill-conditioned Hessian."""
    rows, outcome = rows_at(source.table("loss-enough-fig-7"), **test.where), test.outcome(source)
    larger = [
        number(rows, f"AUC (points), {RIDGE}, {SGD}, {STEP} {rate:g}", **{STEP: rate})
        for rate in games.RATES
    ]
    return replace(outcome, numbers=(*outcome.numbers, *larger))
