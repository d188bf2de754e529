"""Every test of a claim follows its numbers: other numbers give another outcome."""

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from membership import metrics
from membership.book.exhibits import load
from membership.book.studies.iha import clean_game, subjects, theory
from membership.book.studies.iha import evaluation as reading
from membership.book.studies.iha.claims import CLAIMS
from membership.book.studies.iha.scores import PAIRED

CLAIM = {one.id: one for one in CLAIMS}
MEMBERS = {
    "MNIST-Odd": 30_000,
    "FashionMNIST": 30_000,
    "Purchase-100": 80_000,
    "Purchase-100(S)": 25_000,
    "Purchase-100(S), MLP-4": 25_000,
}
EVERYONE = "IHA, gradient over D for everyone"
AMONG = "LiRA, target among its references"
AT_1, AT_01 = "TPR@1%FPR (%)", "TPR@0.1%FPR (%)"
DAMPED, RANK = "IHA (damping eps=2e-1)", "IHA (low-rank eps=1e-1)"
ALL, TWO, THREE = "IHA[All]", "IHA[I1,I2]", "IHA[loss,I1,I2]"
OTHERS = ("IHA (low-rank eps=1e-2)", "IHA (low-rank eps=2e-1)")
OTHERS += ("IHA (damping eps=1e-2)", "IHA (damping eps=1e-1)")


def run_of(rows, sets=tuple(MEMBERS), width=0.001, members=1.0):
    """A run without evidence whose every exhibit has these numbers on all data sets."""
    found = []
    for name in sets:
        for key, value in rows.items():
            half = width * (1 if value < 2 else 10)
            tail = {"value": value, "low": value - half, "high": value + half, "n_repeats": 5}
            # Ten targets in five pairs of complements.
            tail |= {"standard_error": half / stats.t.ppf(0.975, 9), "degrees_of_freedom": 4}
            found.append({"dataset": name, **dict(key), **tail})
    table = pd.DataFrame(found)
    table.attrs["setup"] = {
        name: {
            "published": name,
            "members": int(MEMBERS[name] * members),
            "reference_models": 126,
            "queried_members": MEMBERS[name],
            "queried_non_members": MEMBERS[name],
        }
        for name in sets
    }
    settings = SimpleNamespace(datasets=["digits"], dataset="digits")
    return SimpleNamespace(settings=settings, table=lambda name: table, has=lambda name: False)


def auc(**numbers):
    return {(("attack", name), ("metric", "AUC")): value for name, value in numbers.items()}


def rates(metric, **numbers):
    return {(("attack", name), ("metric", metric)): value for name, value in numbers.items()}


def known(*values):
    key = (("attack", "as the appendix describes"), ("metric", "AUC"))
    return {(*key, ("fraction", f)): v for f, v in zip((1.0, 0.9, 0.2), values, strict=True)}


def leads(first, value, **others):
    """AUCs, and the paired rows of the first less each other."""
    paired = {
        (("attack", f"{first} less {name}"), ("metric", PAIRED)): value - other
        for name, other in others.items()
    }
    return auc(**{first: value, **others}) | paired


def lead(a, b, first="IHA (Exact)", second="LiRA"):
    return leads(first, a, **{"LOSS": 0.5, "SIF": 0.5, second: b})


def ratio(a, b, *metrics, first="IHA (Exact)", second="LiRA"):
    found = {}
    for metric in metrics:
        found |= rates(metric, **{first: a, second: b})
    return found


def gain(value):
    return {(("quantity", "AUC, IHA* less IHA"),): value}


def with_loss(all_terms, score, below=98.0):
    """Rank correlations with the loss, the same over all records, members and others."""
    found = {}
    for records in ("all", "members", "others"):
        for attack, value in (("IHA[I1,I2,I3,I4]", all_terms), (ALL, score)):
            key = (("attack", attack), ("records", records))
            found[(*key, ("metric", "rank correlation with the loss"))] = value
            found[(*key, ("metric", "below 0 (%)"))] = below
    return found


FLIPS = {
    "iha-c03": (
        lead(0.7, 0.6) | ratio(20.0, 10.0, AT_1, AT_01),
        lead(0.7, 0.6) | ratio(11.0, 10.0, AT_1, AT_01),
    ),
    "iha-c04": (lead(0.57, 0.58), lead(0.5, 0.58)),
    "iha-c05": (lead(0.6, 0.5, second="SIF"), lead(0.5, 0.6, second="SIF")),
    "iha-c09": (
        lead(0.6, 0.6, "IHA (CG)", "IHA (Exact)")
        | ratio(10.0, 10.0, AT_1, first="IHA (CG)", second="IHA (Exact)"),
        lead(0.6, 0.65, "IHA (CG)", "IHA (Exact)")
        | ratio(10.0, 10.0, AT_1, first="IHA (CG)", second="IHA (Exact)"),
    ),
    "iha-c10": (
        auc(**{THREE: 0.7, ALL: 0.7}) | rates(AT_01, **{THREE: 10.0, ALL: 10.0}),
        auc(**{THREE: 0.7, ALL: 0.7}) | rates(AT_01, **{THREE: 5.0, ALL: 10.0}),
    ),
    "iha-c11": (
        auc(**{TWO: 0.7, ALL: 0.7, "IHA[I1]": 0.6, "IHA[I2]": 0.65}),
        auc(**{TWO: 0.7, ALL: 0.7, "IHA[I1]": 0.65, "IHA[I2]": 0.6}),
    ),
    "iha-c12": (known(0.8, 0.7, 0.6), known(0.8, 0.795, 0.6)),
    "iha-c15": (
        leads(DAMPED, 0.7, **dict.fromkeys((*OTHERS, RANK), 0.6)),
        leads(DAMPED, 0.7, **dict.fromkeys(OTHERS, 0.6), **{RANK: 0.75}),
    ),
    "iha-c16": (
        auc(**{"IHA (CG) eps=5e-1": 0.7, "IHA (CG) eps=2e-1": 0.6})
        | rates(AT_01, **{"IHA (CG) eps=5e-1": 10.0, "LiRA": 5.0}),
        auc(**{"IHA (CG) eps=5e-1": 0.6, "IHA (CG) eps=2e-1": 0.6})
        | rates(AT_01, **{"IHA (CG) eps=5e-1": 10.0, "LiRA": 5.0}),
    ),
    "iha-c18": (auc(**{THREE: 0.71, TWO: 0.7}), auc(**{THREE: 0.65, TWO: 0.7})),
    "iha-c19": (with_loss(-0.3, -0.3), with_loss(0.1, -0.3)),
    "iha-c20": (with_loss(-0.99, -0.98), with_loss(-0.3, -0.3)),
    "iha-c21": (with_loss(-0.3, -0.3, below=50.2), with_loss(-0.3, -0.3, below=40.0)),
    "iha-o01": (leads(EVERYONE, 0.5, LOSS=0.5), leads(EVERYONE, 0.6, LOSS=0.5)),
    "iha-o03": (leads(AMONG, 0.6, LiRA=0.5), leads(AMONG, 0.5, LiRA=0.5)),
    "iha-o04": (lead(0.6, 0.5), lead(0.5, 0.6)),
    "iha-o05": (gain(0.06), gain(0.0)),
    "iha-o07": (auc(**{THREE: 0.6, ALL: 0.6}), auc(**{THREE: 0.5, ALL: 0.6})),
    "iha-o10": (lead(0.6, 0.5, second="SIF"), lead(0.4, 0.5, second="SIF")),
}


@pytest.mark.parametrize("name", FLIPS)
def test_other_numbers_give_another_outcome(name):
    good, bad = FLIPS[name]
    assert CLAIM[name].outcome(run_of(good)).word == "supported"
    assert CLAIM[name].outcome(run_of(bad)).word == "contradicted"


@pytest.mark.parametrize("name", FLIPS)
def test_wide_intervals_leave_it_open(name):
    assert CLAIM[name].outcome(run_of(FLIPS[name][0], width=0.3)).word == "undecided"


@pytest.mark.parametrize("name", FLIPS)
def test_smaller_models_test_nothing(name):
    found = CLAIM[name].outcome(run_of(FLIPS[name][0], members=0.5))
    assert found.word == "not tested here"
    assert "records a model" in found.reason


def test_more_data_is_compared_between_two_sets():
    key = ("LOSS", "LiRA", "IHA (Ours)")
    small = run_of(auc(**dict.fromkeys(key, 0.7)), ("Purchase-100(S)",)).table("")
    large = run_of(auc(**dict.fromkeys(key, 0.6)), ("Purchase-100",)).table("")
    for first, second, word in ((small, large, "supported"), (large, small, "contradicted")):
        parts = [
            first.assign(dataset="Purchase-100(S)"),
            second.assign(dataset="Purchase-100"),
        ]
        run = run_of(auc(LOSS=0.5), ("Purchase-100(S)", "Purchase-100"))
        table = pd.concat(parts, ignore_index=True)
        table.attrs = run.table("").attrs
        run.table = lambda name, table=table: table
        assert CLAIM["iha-c17"].outcome(run).word == word


def simulated(run, stands_for):
    """The same run with simulated records, so called, in the place of some of the paper's."""
    table = run.table("")
    setup = {stands_for.get(name, name): facts for name, facts in table.attrs["setup"].items()}
    renamed = table.assign(dataset=table["dataset"].replace(stands_for))
    renamed.attrs["setup"] = setup
    run.table = lambda name: renamed
    return run


@pytest.mark.parametrize("name", ["iha-c03", "iha-c10", "iha-c12", "iha-c18"])
def test_simulated_records_decide_nothing_and_what_they_say_is_told(name):
    stands_for = {"Purchase-100": "Purchase-like", "Purchase-100(S)": "Purchase-like(S)"}
    for numbers, word in zip(FLIPS[name], ("supported", "contradicted"), strict=True):
        found = CLAIM[name].outcome(simulated(run_of(numbers), stands_for))
        assert found.word == "not tested here"
        assert found.reason.startswith("simulated data decide nothing here (Purchase-like")
        # Why it is contradicted follows the word.
        assert re.search(rf": {word}( \(.+\))?\)$", found.reason)
        assert found.numbers


def test_more_data_of_simulated_records_decide_nothing_either():
    key = ("LOSS", "LiRA", "IHA (Ours)")
    sets = {"Purchase-100(S)": "Purchase-like(S)", "Purchase-100": "Purchase-like"}
    run = simulated(run_of(auc(**dict.fromkeys(key, 0.7)), tuple(sets)), sets)
    found = CLAIM["iha-c17"].outcome(run)
    assert found.word == "not tested here"
    assert "Purchase-like and Purchase-like(S): contradicted" in found.reason
    assert len(found.numbers) == 3


def timings(single, members=80_000, models=128, repeats=3):
    """A run of Table 6 in which LiRA takes so many times as long as IHA."""
    rows = [
        {"attack": attack, "metric": subjects.RATIO, "value": value}
        for attack, value in (("LiRA", single), ("LiRA, side by side", 0.5))
    ]
    table = pd.DataFrame(rows).assign(standard_error=0.05, n_repeats=repeats)
    facts = {"members": members, "architecture": "600-32-100", "reference_models": models}
    table.attrs["setup"] = {"Purchase-like": facts}
    return SimpleNamespace(table=lambda name: table)


def test_the_claim_on_time_follows_the_timings_at_the_papers_size():
    claim = CLAIM["iha-c14"]
    assert claim.outcome(timings(4.0)).word == "supported"
    assert claim.outcome(timings(0.5)).word == "contradicted"
    assert claim.outcome(timings(1.1)).word == "undecided"
    for smaller in ({"members": 25_000}, {"models": 32}):
        found = claim.outcome(timings(4.0, **smaller))
        assert found.word == "not tested here"
        assert f"{next(iter(smaller.values())):,}" in found.reason
    assert "2" in claim.outcome(timings(4.0, repeats=2)).reason


def retrained_run(metric, *values, retrainings=2000):
    """A run of iha-ctl-9 with one value of a contrast in each setting."""
    rows = [
        {"case": f"setting {i}", "metric": metric, "value": value, "standard_error": 0.001}
        for i, value in enumerate(values)
    ]
    table = pd.DataFrame(rows).assign(n_repeats=20, retrainings=retrainings)
    return SimpleNamespace(table=lambda name: table)


@pytest.mark.parametrize(
    ("name", "metric", "values", "word"),
    [
        ("iha-c01", theory.LEAD, (0.05, -0.05), "supported"),
        ("iha-c01", theory.LEAD, (0.005, -0.05), "undecided"),
        ("iha-c01", theory.LEAD, (0.005, 0.005), "undecided"),
        ("iha-c01", theory.LEAD, (-0.05, -0.05), "contradicted"),
        ("iha-c02", theory.GAIN, (0.5, 0.1), "supported"),
        ("iha-c02", theory.GAIN, (0.5, 0.0), "undecided"),
        ("iha-c02", theory.GAIN, (0.5, -0.1), "contradicted"),
    ],
)
def test_the_theorems_claims_follow_the_retrainings(name, metric, values, word):
    assert CLAIM[name].outcome(retrained_run(metric, *values)).word == word
    few = CLAIM[name].outcome(retrained_run(metric, *values, retrainings=400))
    assert few.word == "not tested here"
    assert "2,000" in few.reason


def test_the_share_of_parameters_is_shown_and_not_decided():
    run = run_of(auc(**{EVERYONE: 0.5, "LOSS": 0.5, "IHA": 0.6}))
    found = CLAIM["iha-c07"].outcome(run)
    assert found.word == "not tested here"
    assert found.numbers[0].difference == pytest.approx(-0.05)


def test_identities_are_read_from_their_tables():
    norm = "norm of the others' gradient (does not look at z)"
    largest = "largest error (sd of the true ratio)"
    tables = {
        "iha-ctl-1": {"dataset": "Digits", "attack": norm, "metric": "AUC", "value": [1.0]},
        "iha-ctl-6": {"check": "optimal score", "case": "IHA*", "metric": largest, "value": [0.0]},
    }
    tables["iha-ctl-6"]["weight_decay"] = 0.1
    tables = {name: pd.DataFrame(table) for name, table in tables.items()}
    run = SimpleNamespace(table=tables.get)
    assert [CLAIM[f"iha-o0{i}"].outcome(run).word for i in (2, 6)] == ["supported"] * 2
    tables["iha-ctl-1"]["value"], tables["iha-ctl-6"]["value"] = 0.9, 0.1
    assert [CLAIM[f"iha-o0{i}"].outcome(run).word for i in (2, 6)] == ["undecided"] * 2


def test_claims_of_the_committed_run_are_computed():
    run = SimpleNamespace(
        settings=SimpleNamespace(datasets=["digits"], dataset="digits"),
        table=lambda name: load(name)[0],
        has=lambda name: False,
    )
    words = {one.id: one.outcome(run).word for one in CLAIMS}
    assert words["iha-c04"] == words["iha-o03"] == words["iha-o05"] == "supported"
    assert words["iha-c01"] == words["iha-c02"] == "supported"
    assert words["iha-c06"] == words["iha-c13"] == "not tested here"


DAMPINGS = {"half": "IHA, damping 0.5", "one": "IHA, damping 1"}


def test_a_paired_difference_of_two_dampings_is_that_of_the_sweep(source):
    for one in reading.read(source, subjects.SWEPT, subjects.decomposed):
        first, second = (
            [metrics.auc(*pair) for pair in zip(one.scores(name), one.member, strict=True)]
            for name in DAMPINGS.values()
        )
        by_unit = pd.Series(np.subtract(first, second)).groupby(one.units).mean()
        assert one.less("half", "one", DAMPINGS)["value"] == pytest.approx(by_unit.mean())


def test_of_every_record_the_targets_are_the_units(source):
    (one,) = reading.read(source, subjects.WHOLE, subjects.whole)
    first, second = (one.numbers(name) for name in DAMPINGS.values())
    gap = pd.Series(first - second).groupby(one.units)
    found = one.less("half", "one", DAMPINGS)
    share = gap.size() / len(one.units)
    assert found["value"] == pytest.approx(share @ gap.mean())
    assert found["standard_error"] == pytest.approx(gap.mean().std() * (share @ share) ** 0.5)


GAMES = {
    "iha-o08": "IHA less LOSS, pooled",
    "iha-o09": "loss ratio less IHA, pooled",
    "iha-o11": "IHA less LOSS",
    "iha-o12": "projection less loss ratio",
    "iha-o13": "loss ratio less IHA",
}


@pytest.mark.parametrize("claim", GAMES)
def test_a_claim_on_the_game_follows_its_differences(claim):
    def outcome(value, error, records=5000):
        return CLAIM[claim].outcome(_game_run(GAMES[claim], value, error, records))

    assert outcome(0.2, 0.01).word == "supported"
    assert outcome(-0.2, 0.01).word == "contradicted"
    assert outcome(0.2, 0.5).word == "undecided"
    assert outcome(0.2, 0.01).datasets == ("X: large",)
    if claim > "iha-o10":
        assert outcome(0.2, 0.01, 300).word == "not tested here"


def _game_run(contrast, value, error, records):
    row = {"dataset": "X", "attack": contrast, "value": value, "standard_error": error}
    row |= {"n_repeats": 200, "training_records": records}
    pooled = contrast.endswith(", pooled")
    names = [PAIRED] if pooled else clean_game.DIFFERENCES
    table = pd.DataFrame([{**row, "metric": name} for name in names])
    table.attrs["sizes"] = {"X": "large"}
    return SimpleNamespace(table=lambda name: table)
