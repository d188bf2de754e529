"""The claims on the committed results, and on numbers altered so that they should flip."""

import re

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats

from membership.book.published import outcomes
from membership.book.published.rows import correlation
from membership.book.studies.lood import (
    claim_numbers,
    influenced,
    laws,
    leakage,
    measures,
    reconstruction,
)
from membership.book.studies.lood.claims import CLAIMS
from membership.book.studies.lood.settings import Settings
from tests.book.studies.altered import Altered, committed_run, moved

BY_ID = {claim.id.removeprefix("lood-"): claim for claim in CLAIMS}
SUPPORTED, CONTRADICTED = outcomes.SUPPORTED, outcomes.CONTRADICTED
SPHERE = {"inputs": "unit sphere"}


@pytest.fixture(scope="module")
def committed():
    return committed_run("lood")


FLIPS = [
    ("c06", "lood-ctl-10", moved(1e-5, quantity="largest slope of KL"), outcomes.UNDECIDED),
    ("c16", "lood-ctl-13", moved(60, 0.4, **SPHERE, activation="GeLU"), SUPPORTED),
    ("o14", "lood-ctl-15", moved(-0.9, metric=laws.AHEAD), CONTRADICTED),
    ("o15", "lood-ctl-15", moved(-0.9, metric=laws.AHEAD_OF_NOISE), CONTRADICTED),
]


@pytest.mark.parametrize(("name", "exhibit", "change", "word"), FLIPS)
def test_a_claim_flips_when_its_numbers_do(name, exhibit, change, word, committed):
    claim = BY_ID[name]
    assert exhibit in claim.exhibits
    assert claim.outcome(committed).word != word
    assert claim.outcome(Altered(committed, exhibit, change)).word == word


FORMER = {
    "c04": outcomes.UNDECIDED,
    "c07": outcomes.SUBSTITUTE[SUPPORTED],
    "c09": outcomes.SUBSTITUTE[SUPPORTED],
    "c12": outcomes.SUBSTITUTE[SUPPORTED],
    "c16": CONTRADICTED,
    "c17": CONTRADICTED,
    "c19": CONTRADICTED,
    "c20": CONTRADICTED,
    "c21": CONTRADICTED,
    "c22": CONTRADICTED,
}


def test_tests_that_were_unfair_stay_beside_those_that_took_their_place(committed):
    former = {name: one for name, one in BY_ID.items() if one.former}
    assert {name: one.former_outcome(committed).mark for name, one in former.items()} == FORMER


def test_a_theorem_decides_whatever_the_data(committed):
    for name in ("c07", "c09", "c12"):
        assert BY_ID[name].outcome(committed).reason.startswith("proved in the chapter: ")


def on_few(outcome):
    """What the few records say, of an outcome that they leave open."""
    assert outcome.word == outcomes.UNDECIDED
    assert outcome.reason.startswith("on substitute data only (")
    (word,) = re.findall(r": (supported|contradicted|undecided)\b", outcome.reason)
    return word


def as_many(found):
    found.attrs["sizes"] = {"Records tried": "100", "Training records": "1,000"}
    return found


def test_as_many_records_as_the_papers_decide(committed):
    enough = Altered(committed, "process-attempts", as_many)
    assert BY_ID["c09"].former_outcome(enough).word == SUPPORTED


def test_what_a_word_leaves_out_is_told_beside_it(committed):
    said = {name: BY_ID[name].outcome(committed).reason for name in ("c16", "c17", "c20", "c22")}
    assert "0.001 would leave it out" in BY_ID["c12"].former_outcome(committed).reason
    assert "23 of 24 cells hold" in said["c16"]
    assert said["c17"].startswith("split: ")
    assert said["c20"].startswith("split: ")
    assert "from -0.29 to -2.10" in said["c22"]


def test_training_sets_are_the_units_of_a_share():
    hit = np.random.default_rng(0).random((6, 400)) < np.linspace(0.3, 0.6, 6)[:, None]
    row = measures.share_over_sets(hit)
    (found,) = claim_numbers.most(pd.DataFrame([row]).assign(q="4"), "q")
    shares = hit.mean(axis=1)
    half = stats.t.ppf(0.975, 5) * shares.std(ddof=1) / 6**0.5
    assert found.numbers[0].interval() == pytest.approx(
        (shares.mean() - half - 0.5, shares.mean() + half - 0.5)
    )
    (pooled,) = claim_numbers.most_of_records(pd.DataFrame([row]).assign(q="4"), "q")
    assert pooled.numbers[0].units == hit.size
    assert measures.share_over_sets(hit[:1])["n_repeats"] == 1


def test_a_correlation_has_fishers_limits():
    row = leakage.ranked(np.arange(12.0), np.r_[1.0, 0.0, np.arange(2.0, 12.0)])
    assert correlation(row).interval() == pytest.approx((row["low"], row["high"]))


def test_found_queries_count_by_two_paths_and_where_the_variance_stays(committed):
    claim = BY_ID["c12"]
    assert on_few(claim.former_outcome(committed)) == SUPPORTED
    for column, value in (("kl_directly", 0.0), ("variance", 1e-4)):
        alike = Altered(committed, "lood-fig-10", lambda t, c=column, v=value: t.assign(**{c: v}))
        assert claim.former_outcome(alike).word == outcomes.NOT_TESTED


def test_a_gradient_that_is_off_contradicts_proposition_5_1(committed, monkeypatch):
    assert BY_ID["c13"].outcome(committed).word == SUPPORTED
    right = influenced.slope
    monkeypatch.setattr(influenced, "slope", lambda *where: 1.01 * right(*where))
    assert BY_ID["c13"].outcome(committed).word == CONTRADICTED


class _Gathered:
    """A run whose networks' evidence is made up."""

    def __init__(self, pairs, influence):
        self.settings = Settings.from_values({"profile": "tiny"})
        self.found = {"pairs-relu": pairs, "process-influence": influence}

    def has(self, name):
        return name in self.found

    def evidence(self, name):
        return self.found[name]


def _networks(signal, records=30, networks=80):
    """Answers that tell each record by its own strength, at it but not far from it."""
    rng = np.random.default_rng(0)
    strength = np.linspace(0, 3, records)
    offsets = [0, -10, 10, -50, 50]
    answer = rng.normal(size=(records, 2, networks, len(offsets), 2))
    answer[:, 0, :, :3, 0] += strength[:, None, None]
    pairs = xr.Dataset(
        {"answer": (("record", "side", "network", "query", "output"), answer)},
        attrs={"offsets": offsets, "seed": 0},
    )
    moments = {"variance": ("record", np.full(records, 1e-3)), "square": ("record", signal)}
    influence = xr.Dataset(moments, attrs={"recipe": {"noise": 0.05}, "outputs": 2})
    return _Gathered(pairs, influence)


@pytest.mark.parametrize(("order", "word"), [(1, SUPPORTED), (-1, CONTRADICTED)])
def test_the_process_ranks_as_networks_do_or_not(order, word):
    source = _networks(np.linspace(0.01, 50, 30)[::order])
    assert f": {word}" in BY_ID["c03"].outcome(source).reason


@pytest.mark.parametrize(("turn", "word"), [(False, SUPPORTED), (True, CONTRADICTED)])
def test_networks_leak_near_the_record_or_far_from_it(turn, word):
    source = _networks(np.ones(30))
    if turn:
        source.found["pairs-relu"].attrs["offsets"] = [-50, 50, 50, 0, 10]
    assert f": {word}" in BY_ID["c08"].outcome(source).reason


def test_recoveries_are_counted_by_kernel(committed):
    table = committed.table("lood-ctl-7").copy()
    for share, word in ((1.0, SUPPORTED), (0.0, CONTRADICTED)):
        rows = table.assign(value=100 * share)
        found = BY_ID["c10"].outcome(Altered(committed, "lood-ctl-7", lambda _, r=rows: r))
        assert found.word == word
        few = Altered(committed, "lood-ctl-7", lambda _, r=rows: r.assign(n=20))
        assert BY_ID["c10"].outcome(few).mark == outcomes.SUBSTITUTE[word]


@pytest.mark.parametrize(("share", "word"), [(0.0, CONTRADICTED), (65.0, outcomes.UNDECIDED)])
def test_every_kernel_counts_alike_in_what_is_reconstructed(share, word, committed):
    table = committed.table("lood-ctl-7")
    beside = table["kernel"].str.endswith(reconstruction.OTHER_DEPTHS)
    assert beside.any()
    rows = table.assign(value=np.where(beside, share, 100.0))
    found = BY_ID["c10"].outcome(Altered(committed, "lood-ctl-7", lambda _: rows))
    assert found.word == word
    assert "dense kernels and RBF: supported" in found.reason


def _groups(order, n=34):
    """Groups whose searches all end at one place of the order of exposure."""
    rows = []
    for group in range(n):
        name = f"group {group + 1}"
        for member in (1, 2, 3):
            key = {"group": name, "member": member, "kl": 4.0 - member, "correlation": 1.0}
            rows.append({**key, "row": f"{name}: {reconstruction.MEMBERS}"})
        ends = (order, order, order, 2 if group % 2 else order)
        for member in ends:
            key = {"group": name, "member": member, "kl": 1.0, "correlation": 0.95}
            rows.append({**key, "row": f"{name}: {reconstruction.ONE_QUERY}"})
    return pd.DataFrame(rows)


@pytest.mark.parametrize(("order", "word"), [(1, SUPPORTED), (3, CONTRADICTED)])
def test_searches_end_at_the_most_or_at_the_least_exposed_member(order, word, committed):
    claim = BY_ID["c11"]
    found = claim.outcome(Altered(committed, "lood-fig-3", lambda _: _groups(order)))
    assert found.word == word
    few = Altered(committed, "lood-fig-3", lambda _: _groups(order, 2))
    assert "it takes 20 groups" in claim.outcome(few).reason


def test_a_group_is_whole_where_every_member_is_found(committed, monkeypatch):
    claim = BY_ID["c19"]
    table = _groups(1)
    none = claim.outcome(Altered(committed, "lood-fig-3", lambda _: table))
    assert none.word == CONTRADICTED
    queries = reconstruction.of_kinds(table, reconstruction.MEMBERS).copy()
    queries["row"] = queries["group"] + ": " + reconstruction.ONE_QUERY
    whole = pd.concat([table, queries])
    found = claim.outcome(Altered(committed, "lood-fig-3", lambda _: whole))
    assert found.word == SUPPORTED
    two = queries["row"].isin(queries["row"].unique()[:2])
    in_part = pd.concat([table, queries[two]])
    some = claim.outcome(Altered(committed, "lood-fig-3", lambda _: in_part))
    assert some.word == outcomes.UNDECIDED
    monkeypatch.setattr(claim_numbers, "LEAST_RECORDS", 1001)
    assert on_few(claim.outcome(Altered(committed, "lood-fig-3", lambda _: whole))) == SUPPORTED
