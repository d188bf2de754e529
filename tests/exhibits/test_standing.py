"""How near a run is to the paper's, from its verdicts or from what it says of itself."""

import pandas as pd
import pytest

from membership.exhibits import declared, panels, standing


def words(about):
    return standing._of_record({"sizes": {}, "deviations": [], **about}, ("mnist", "cifar10"))


@pytest.mark.parametrize(
    ("about", "found"),
    [
        ({"data": {"mnist-odd": ""}}, {standing.AS_PAPER}),
        ({"data": {"mnist": "", "digits": ""}}, {standing.AS_PAPER, standing.SUBSTITUTE}),
        ({"data": {"digits": ""}, "deviations": ["(the paper: 9)"]}, {standing.SUBSTITUTE}),
        ({"data": {"mnist": ""}, "sizes": {"Models": "5 (paper: 30)"}}, {standing.SMALLER}),
        ({"data": {"mnist": ""}, "sizes": {"Models": "30 (paper: 30)"}}, {standing.AS_PAPER}),
        ({"data": {"mnist": ""}, "sizes": {"Seeds": "5 (paper: 30)"}}, {standing.AS_PAPER}),
        (
            {
                "data": {"mnist": ""},
                "deviations": ["layers 2 (the paper: 9), units 1 (the paper: 1)"],
            },
            {standing.SMALLER},
        ),
        (
            {"data": {"mnist": ""}, "deviations": ["ResNet-18 (the paper: ResNet-56)"]},
            {standing.OTHER},
        ),
        (
            {
                "data": {"mnist": "", "purchase_like": ""},
                "deviations": ["Purchase-like(S): 32 models (the paper: 128)"],
            },
            {standing.AS_PAPER, standing.SUBSTITUTE},
        ),
        ({"data": {"mnist": ""}, "deviations": ["sizes are not on record"]}, {standing.UNKNOWN}),
    ],
)
def test_what_a_run_says_of_itself(about, found):
    assert words(about) == found


@pytest.mark.parametrize(
    ("verdict", "reason", "found"),
    [
        ("differs", "difference 2", standing.AS_PAPER),
        ("not comparable", "other data: A instead of B; another network: C", standing.SUBSTITUTE),
        ("not comparable", "a smaller training set: 5 records instead of 9", standing.SMALLER),
        ("not comparable", "another recipe: epochs 5 instead of 9", standing.OTHER),
        ("not comparable", "5 false positives expected of 9; a rate needs 10", ""),
    ],
)
def test_what_decides_a_verdict_decides_the_standing(verdict, reason, found):
    assert standing._of_reason(verdict, reason) == found


def test_numbers_about_the_models_alone_do_not_decide():
    judged = pd.DataFrame(
        {
            "attack": ["(model)", "IHA", "LOSS"],
            "published": [0.9, 0.6, None],
            "verdict": ["agrees", "not comparable", ""],
            "reason": ["", "other data: A instead of B", "the paper gives no number"],
        }
    )
    assert standing._of_verdicts(judged) == {standing.SUBSTITUTE}


def test_without_a_run_a_page_may_say_how():
    exhibit = next(one for one in declared("bayes_optimal") if one.id == "bayes-optimal-tab-3")
    assert standing.standing(exhibit, None) == (standing.RECIPE,)
    other = next(one for one in declared("bayes_optimal") if one.id == "bayes-optimal-tab-1")
    assert standing.standing(other, None) == (standing.NOT_RUN,)


def test_a_run_without_data_is_computed():
    exhibit = next(one for one in declared("gmip") if one.id == "gmip-tab-5")
    run = panels.panels(exhibit, "paper", "")[0]
    assert standing.standing(exhibit, run) == (standing.COMPUTED,)
