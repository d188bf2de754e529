"""An audit of one run whose records were included by fair coins."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from membership import audit, privacy
from membership.book.cli.audits import audit as command
from membership.errors import InputError
from membership.privacy import one_run
from tests.audit.test_comparison import outputs

COINS = {"design": "coins"}


def scored(n: int = 400, mu: float = 2.0, seed: int = 0) -> audit.Scored:
    rng = np.random.default_rng(seed)
    member = rng.random(n) < 0.5
    return audit.Scored(rng.normal(size=n) + mu * member, member)


def test_its_bounds_are_those_of_one_run_and_the_report_says_what_they_rest_on(tmp_path) -> None:
    one = scored()
    report = audit.audit(one, **COINS)
    epsilon, mu = report["epsilon_lower_bound"], report["mu_lower_bound"]
    assert epsilon["value"] == privacy.one_run_epsilon(one.score, one.member, delta=1e-5) > 0
    assert mu["value"] == privacy.one_run_mu(one.score, one.member) > 0
    assert report["design"]["guesses"] == [266, 50, 12]
    assert report["design"]["one_sided"] == [12]
    assert epsilon["tried"] == 5
    assert report["design"]["reason"] is None
    assumed = [item["text"] for item in report["checklist"] if item["status"] == "assumed"]
    assert any("fair coin of its own" in text for text in assumed)
    audit.write(report, one, tmp_path, "canaries")
    page = (tmp_path / "audit.html").read_text()
    assert "each record was included by its own fair coin" in page
    assert "training that made this one run" in page
    assert "no record's score moves" not in page


def test_the_default_says_nothing_of_coins() -> None:
    report = audit.audit(scored())
    assert "design" not in report
    assert not any("fair coin" in item["text"] for item in report["checklist"])


def test_the_order_of_rows_changes_no_number() -> None:
    one, rows = scored(), np.random.default_rng(1).permutation(400)
    other = audit.audit(audit.Scored(one.score[rows], one.member[rows]), **COINS)
    first = audit.audit(one, **COINS)
    for key in ("epsilon_lower_bound", "mu_lower_bound", "design"):
        assert other[key] == first[key]


def test_a_bound_of_0_has_its_reason() -> None:
    few = audit.Scored(np.arange(20.0), np.arange(20) >= 10)
    for one, options, said in [
        (few, {"level": 0.99999999}, "10 members and 10 others are too few"),
        (scored(mu=0.0, seed=3), {}, "than chance allows"),
        # Ties are broken by chance, and what is left of the scores is chance.
        (audit.Scored(np.arange(400) == 7, np.arange(400) % 2 == 0), {}, "than chance allows"),
    ]:
        report = audit.audit(one, **COINS, **options)
        assert report["epsilon_lower_bound"]["value"] == 0
        assert said in report["design"]["reason"] == report["epsilon_lower_bound"]["reason"]


TRIALS_OF_NOTHING = {
    "few": (audit.Scored(np.arange(20.0), np.arange(20) >= 16), "4 members and 16 others are too"),
    "ties": (
        audit.Scored(np.arange(400) == 7, np.arange(400) % 2 == 0),
        "399 of 400 records share",
    ),
    "chance": (scored(mu=0.0, seed=3), "than chance allows"),
}


@pytest.mark.parametrize("case", TRIALS_OF_NOTHING)
def test_a_bound_of_trials_of_0_has_its_reason_on_the_page(case: str, tmp_path) -> None:
    one, said = TRIALS_OF_NOTHING[case]
    report = audit.audit(one, level=0.999 if case == "few" else 0.95)
    for name in ("epsilon_lower_bound", "mu_lower_bound"):
        assert report[name]["value"] == 0
        assert said in report[name]["reason"]
    audit.write(report, one, tmp_path, "nothing")
    page = " ".join((tmp_path / "audit.html").read_text().split())
    assert page.count(report["mu_lower_bound"]["reason"]) == 1
    assert "prove nothing of the training's privacy" in " ".join(report["meaning"])


def test_a_seed_below_0_is_named() -> None:
    one = scored()
    with pytest.raises(InputError, match="seed = -1: expected a whole number from 0 up"):
        audit.audit({"member": one.member, "a": one.score, "b": -one.score}, seed=-1)


def test_a_bound_above_0_has_no_reason_and_refutes_a_promise() -> None:
    report = audit.audit(scored())
    assert report["epsilon_lower_bound"]["reason"] is report["mu_lower_bound"]["reason"] is None
    promise = f"epsilon below {report['epsilon_lower_bound']['value']:.3f}"
    assert any(promise in text for text in report["meaning"])


def test_at_a_delta_of_0_mu_has_no_epsilon() -> None:
    report = audit.audit(scored(), delta=0.0, **COINS)
    assert report["epsilon_lower_bound"]["value"] > 0
    assert report["mu_lower_bound"]["epsilon"] is None


def test_what_cannot_be_is_refused() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match=r"50 of 200 records are members; a fair coin .* p = "):
        audit.audit(audit.Scored(rng.normal(size=200), np.arange(200) < 50), **COINS)
    with pytest.raises(InputError, match="design = 'dice': expected one of trials, coins"):
        audit.audit(scored(), design="dice")
    few = np.arange(400) < 50
    several = {"member": few, "a": scored().score, "b": -scored().score}
    with pytest.raises(InputError, match=r"50 of 400 records are members; a fair coin"):
        audit.audit(several, **COINS)


def test_several_attacks_share_the_error_of_coins(tmp_path) -> None:
    one = scored()
    noise = np.random.default_rng(1).normal(size=400)
    table = audit.Several({"a": one.score, "noise": noise, "same": 2 * one.score}, one.member)
    report = audit.audit(table, **COINS)
    # Two names of one score pay once: two attacks share the error.
    epsilon, mu = report["epsilon_lower_bound"], report["mu_lower_bound"]
    half = {"level": 0.975}
    assert epsilon["value"] == privacy.one_run_epsilon(one.score, one.member, delta=1e-5, **half)
    assert mu["value"] == privacy.one_run_mu(one.score, one.member, **half) > 0
    assert epsilon["tried"] == 10
    assert any("fair coin of its own" in item["text"] for item in report["checklist"])
    audit.write(report, None, tmp_path, "canaries")
    page = " ".join((tmp_path / "audit.html").read_text().split())
    assert "10 tries together" in page
    assert "12 on one side alone" in page
    assert "where records are independent trials" not in page


def test_each_target_has_its_own_coins() -> None:
    rng = np.random.default_rng(0)
    member = rng.random((2, 300)) < 0.5
    score = rng.normal(size=(2, 300)) + 2 * member
    table = audit.Several(
        {"a": score.ravel()},
        member.ravel(),
        record=np.tile(np.arange(300), 2),
        target=np.repeat(["x", "y"], 300),
    )
    report = audit.audit(table, **COINS)
    each = [
        privacy.one_run_epsilon(*case, delta=1e-5, level=0.975)
        for case in zip(score, member, strict=True)
    ]
    assert report["epsilon_lower_bound"]["value"] == max(each) > 0
    assert report["design"]["fair_coin_p"] == min(one_run.fair(truth) for truth in member)


def test_evidence_takes_coins(tmp_path) -> None:
    seen = outputs([0])
    report = audit.compare(seen, **COINS)
    assert report["design"]["name"] == "coins"
    assert (
        0
        < report["epsilon_lower_bound"]["value"]
        < audit.compare(seen)["epsilon_lower_bound"]["value"] + 2
    )
    assert (
        audit.compare(seen)["epsilon_lower_bound"]["value"]
        != report["epsilon_lower_bound"]["value"]
    )


def test_the_command_has_the_design_in_its_record(tmp_path) -> None:
    one = scored()
    rows = [f"{s},{int(m)}" for s, m in zip(one.score, one.member, strict=True)]
    (tmp_path / "scores.csv").write_text("\n".join(["score,member", *rows]) + "\n")
    given = [str(tmp_path / "scores.csv"), "--output", str(tmp_path / "report")]
    found = CliRunner().invoke(command, [*given, "--design", "coins"])
    assert found.exit_code == 0, found.output
    report = json.loads((tmp_path / "report" / "audit.json").read_text())
    assert "--design=coins" in report["provenance"]["command"]
    assert report["design"]["name"] == "coins"
