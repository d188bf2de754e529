import math

import pandas as pd
import pytest
from scipy.stats import false_discovery_control

from membership.book import published
from membership.errors import InputError

ON = ["dataset", "attack", "metric"]
SETUP = {
    "data": "MNIST-Odd",
    "members": 30_000,
    "architecture": "784-1",
    "reference_models": 127,
    "recipe": published.setup("iha")["MNIST-Odd"]["recipe"],
    "queried_members": 30_000,
    "queried_non_members": 30_000,
}


def study(setup=None, **columns):
    table = pd.DataFrame(
        {
            "dataset": "MNIST-Odd",
            "attack": ["IHA (Exact)", "LiRA", "IHA (Exact)", "SIF", "none"],
            "metric": ["AUC", "AUC", "TPR@1%FPR (%)", "AUC", "AUC"],
            "value": [0.542, 0.515, 2.9, 0.515, 0.5],
            "low": 0.0,
            "high": 1.0,
            "standard_error": [0.001, 0.001, 0.2, 0.012, 0.01],
            "degrees_of_freedom": 4.0,
            "n_repeats": 5,
        }
    ).assign(**columns)
    table.attrs = {"setup": {"MNIST-Odd": SETUP if setup is None else setup}, "device": "cpu"}
    return table


def compared(table=None, **known):
    table = study() if table is None else table
    return published.compare(table, published.reference("iha_table2"), ON, **known)


def test_rows_keep_their_order_and_get_their_words():
    found = compared()
    assert list(found.columns)[:7] == [*ON, "published", "value", "low", "high"]
    assert list(found["verdict"]) == ["agrees", "differs", "compatible", "compatible", ""]
    assert found["reason"].iloc[4] == "the paper gives no number"
    assert found["imputed"].tolist() == [False, False, True, False, False]
    assert found.attrs["device"] == "cpu"


def test_the_interval_is_that_of_the_difference():
    row = compared().iloc[0]
    spread = 0.004 * math.sqrt(10 / 9)
    by_hand = published.verdict(
        *(0.542, 0.001, 4, 0.542), margin=0.01, spread=spread, n_models=10, decimals=3
    )
    assert (row["difference_low"], row["difference_high"]) == (by_hand.low, by_hand.high)


def test_a_missing_spread_is_imputed_with_the_ratio_that_the_row_shows():
    row = compared().iloc[2]
    # The AUC of the same attack: theirs .004 sqrt(10/9), ours .001 sqrt(5).
    ratio = 0.004 * math.sqrt(10 / 9) / (0.001 * math.sqrt(5))
    assert ratio > 1
    error = 0.2 * math.sqrt(1 + ratio**2 * 5 / 10)
    by_hand = published.verdict(2.9, error, 4, 2.61, margin=2.61 / 4, decimals=2)
    assert row["difference_high"] == pytest.approx(by_hand.high)


def test_another_set_up_is_looked_at_first_and_says_why():
    found = compared(study({**SETUP, "data": "digits"}))
    assert set(found["verdict"][:4]) == {"not comparable"}
    assert found["reason"].iloc[0] == "other data: digits instead of MNIST-Odd"
    assert found["difference"].isna().all()


def test_numbers_that_only_stand_beside_each_other_get_no_verdict():
    found = compared(unjudged="a variant")
    assert set(found["verdict"]) == {""}
    assert found["published"].notna().sum() == 4
    assert found["reason"].iloc[0] == "a variant"


def test_a_number_without_standard_error_is_not_judged():
    found = compared(study(standard_error=math.nan))
    assert set(found["verdict"][:4]) == {"not judged"}


def models(validation):
    table = pd.DataFrame(
        {
            "n": 400,
            "attack": ["(model)", "MALT"],
            "metric": ["validation_accuracy(%)", "mAP_test(%)"],
            "value": [validation, 54.0],
            "low": 0.0,
            "high": 100.0,
            "standard_error": 0.2,
            "degrees_of_freedom": 19,
            "n_repeats": 20,
        }
    )
    stated = published.setup("bayes_optimal")["Table 1, n=400"]
    facts = ("data", "members", "queried_members", "queried_non_members", "architecture", "recipe")
    table.attrs = {"setup": {"400": {name: stated[name] for name in facts}}}
    printed = published.reference("bayes_optimal_table1")
    printed["n"] = printed["dataset"].str.extract(r"n=(\d+)", expand=False).astype(int)
    return published.compare(table, printed, ["n", "attack", "metric"], by="n")


def test_where_the_recipe_is_open_another_models_rows_are_not_comparable():
    same, other = models(93.8), models(85.0)
    assert same["verdict"].iloc[0] == "agrees"
    assert same["verdict"].iloc[1] in ("agrees", "compatible", "differs")
    assert list(other["verdict"]) == ["differs", "not comparable"]
    assert other["reason"].iloc[1].startswith("another model: the recipe is not fully stated")
    assert "validation accuracy (%) is 85 instead of 93.8" in other["reason"].iloc[1]


def test_seconds_of_another_machine_are_never_compared():
    table = pd.DataFrame(
        {
            "dataset": ["Purchase-100"],
            "attack": ["IHA"],
            "metric": ["precompute time (s)"],
            **{"value": [2580.0], "low": [2580.0], "high": [2580.0]},
        }
    )
    table.attrs = {"setup": {"Purchase-100": {}}}
    found = published.compare(table, published.reference("iha_table6"), ON)
    assert found["verdict"].iloc[0] == "seconds of another machine"
    # What else differs is told beside.
    assert found["reason"].iloc[0].startswith("other data: not stated instead of Purchase-100")


@pytest.mark.parametrize(("factor", "word"), [(1.2, "agrees"), (1.3, "differs"), (0.9, "agrees")])
def test_ratios_are_judged_by_a_factor(factor, word):
    name = "retraining for one record over closed form for one"
    printed = pd.DataFrame({"metric": [name], "value": [105.0]})
    reference = published.noted(printed, "lood", decimals=2)
    table = pd.DataFrame({"metric": [name], "value": [105 * factor]})
    table["low"] = table["high"] = table["value"]
    stated = published.setup("lood")["README"]
    table.attrs = {"setup": {"": stated}}
    assert published.compare(table, reference, ["metric"])["verdict"].iloc[0] == word


def test_a_table_must_state_its_set_up():
    table = study()
    table.attrs = {}
    with pytest.raises(InputError, match="setup"):
        compared(table)
    table.attrs = {"setup": {"digits": {}}}
    with pytest.raises(InputError, match="MNIST-Odd"):
        compared(table)


def test_ambiguous_keys_missing_columns_and_text_are_refused():
    reference = published.reference("iha_table2")
    with pytest.raises(InputError, match=r"table holds \(MNIST-Odd\) twice"):
        published.compare(study(), reference, ["dataset"])
    with pytest.raises(InputError, match=r"reference holds .* twice"):
        published.compare(study(), pd.concat([reference, reference]), ON)
    with pytest.raises(InputError, match=r"table lacks the columns \['low'\]"):
        published.compare(study().drop(columns="low"), reference, ON)
    with pytest.raises(InputError, match="holds text"):
        published.compare(study(), reference.assign(value="lost"), ON)
    with pytest.raises(InputError, match="differ in type"):
        published.compare(study(dataset=range(5)), reference, ON)


def table(words, p=None, reasons=None):
    count = len(words)
    return pd.DataFrame(
        {
            "published": [math.nan if word == "" else 0.5 for word in words],
            "verdict": words,
            "reason": reasons or [""] * count,
            "p_value": p or [math.nan] * count,
            "standard_error": 0.01,
            "margin": 0.01,
            "difference_low": -0.02,
            "difference_high": 0.02,
        }
    )


def test_verdicts_are_counted_with_what_chance_would_give():
    words = ["agrees"] * 12 + ["compatible"] * 4 + ["differs"] * 4
    found = published.summary(table(words, [0.5] * 16 + [1e-6, 0.01, 0.02, 0.03]))
    assert found == (
        "20 comparable: 12 agree, 4 compatible (4 too imprecise to agree), 4 differ; "
        "at most about 1 would differ by chance; 1 differs after Holm"
    )


def test_what_is_not_comparable_or_not_judged_is_counted_with_its_kind():
    words = ["agrees", "not comparable", "not comparable", "not judged", ""]
    reasons = ["", "another model: its accuracy is 85", "other data", "", ""]
    found = published.summary(table(words, [0.5] * 5, reasons))
    assert found.endswith(
        "2 not comparable (1 of them: another model); 1 not judged: no standard error"
    )
    assert published.summary(table([""])) == "the paper gives none of these numbers"
    beside = table(["", ""]).assign(published=0.5)
    assert published.summary(beside) == "2 published numbers, none judged"


def test_exact_numbers_do_not_differ_by_chance():
    exact = table(["agrees"] * 3, [1.0] * 3).assign(standard_error=0.0)
    assert published.summary(exact) == "3 comparable: 3 agree, 0 compatible, 0 differ"


@pytest.mark.parametrize(
    ("p", "left"),
    [([0.04, 0.04], 0), ([0.02, 0.04], 2), ([0.01, 0.9], 1), ([0.024, 0.06], 1)],
)
def test_holm_leaves_what_all_numbers_together_do_not_explain(p, left):
    assert published.differ_after_holm(table(["differs"] * len(p), p)) == left


def test_holm_is_no_stricter_than_bonferroni_and_no_laxer_than_by_false_discovery():
    p = [0.001, 0.004, 0.01, 0.02, 0.3, 0.6]
    found = published.differ_after_holm(table(["differs"] * 6, p))
    assert sum(6 * one <= 0.05 for one in p) <= found
    assert found <= (false_discovery_control(p) <= 0.05).sum()
