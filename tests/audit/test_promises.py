"""A promise of privacy held against an audit: verdict, sentence, and the error that it pays."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from membership import privacy
from membership.audit import Scored, audit, compare, write
from membership.book.cli import cli
from membership.errors import InputError
from tests.audit.test_comparison import BLIND, outputs
from tests.audit.test_design import scored
from tests.audit.test_several import three

KEPT = "a promise that is kept is called refuted in at most"


def few() -> Scored:
    return Scored(np.arange(24.0), np.arange(24) >= 12)


@pytest.mark.parametrize(
    ("promised", "verdict", "said"),
    [
        (0.5, "refuted", "is refuted: this attack proves an epsilon of at least"),
        (3.5, "not refuted", "is not refuted by this attack, which proves an epsilon of at least"),
        (
            50,
            "not tested",
            "is not tested by these records: even an attack that is never wrong",
        ),
    ],
)
def test_the_verdict_follows_the_bound(promised: float, verdict: str, said: str) -> None:
    one = scored()
    report, plain = audit(one, promised=promised, delta=1e-4), audit(one, delta=1e-4)
    (judged,) = report["promises"]
    bound = report["epsilon_lower_bound"]
    assert bound == plain["epsilon_lower_bound"]
    assert judged == {
        "notion": "epsilon",
        "promised": promised,
        "delta": 1e-4,
        "verdict": verdict,
        "sentence": judged["sentence"],
    }
    start = f"The promise of differential privacy with an epsilon of {promised:g} at a delta of"
    assert judged["sentence"].startswith(f"{start} 0.0001 {said}")
    shown = bound["value"] if verdict != "not tested" else bound["provable"]
    assert f" {shown:.3f}" in judged["sentence"]
    at = report["meaning"].index(judged["sentence"])
    assert f"{KEPT} 5% of such audits. 10 thresholds share" in report["meaning"][at + 1]
    assert not any("A promise of differential" in text for text in report["meaning"])


def test_a_bound_of_0_is_said_in_words() -> None:
    rng = np.random.default_rng(2)
    one = Scored(rng.normal(size=400), np.arange(400) < 200)
    report = audit(one, promised=1, promised_mu=1)
    for judged, notion in zip(report["promises"], ("epsilon", "mu"), strict=True):
        assert report[f"{notion}_lower_bound"]["value"] == 0
        assert f"which proves no {notion} above 0 at a confidence of 97.5%." in judged["sentence"]


def test_what_a_perfect_attack_would_prove_is_its_own_bound() -> None:
    one = scored()
    member = one.member
    found = audit(one, delta=1e-3)
    assert found["epsilon_lower_bound"]["provable"] == privacy.epsilon_lower_bound(
        member.astype(float), member, delta=1e-3
    )
    assert found["mu_lower_bound"]["provable"] == privacy.mu_lower_bound(member * 1.0, member)
    coins = audit(one, delta=1e-3, design="coins")
    assert coins["epsilon_lower_bound"]["provable"] == privacy.one_run_epsilon(
        member * 1.0, member, delta=1e-3
    )


def test_two_promises_share_the_error() -> None:
    one = scored()
    report = audit(one, promised=1, promised_mu=1.2)
    assert [judged["notion"] for judged in report["promises"]] == ["epsilon", "mu"]
    assert "delta" not in report["promises"][1]
    half = audit(one, level=0.975)
    for bound in ("epsilon_lower_bound", "mu_lower_bound"):
        assert report[bound] == half[bound]
    assert report["level"] == 0.95
    assert any(
        f"{KEPT} 5% of such audits. Two promises and 10 thresholds" in t for t in report["meaning"]
    )
    assert "at a confidence of 97.5%" in report["promises"][0]["sentence"]


def test_several_attacks_and_coins_share_it_too(tmp_path: Path) -> None:
    report = audit(three(), promised=0.2, promised_mu=30)
    assert report["promises"][0]["verdict"] == "refuted"
    assert "these attacks prove" in report["promises"][0]["sentence"]
    tried = report["epsilon_lower_bound"]["tried"]
    assert any(f"{tried} thresholds of 3 attacks share" in text for text in report["meaning"])
    coins = audit(scored(), promised=0.2, design="coins")
    assert any("5 tries share that error" in text for text in coins["meaning"])
    write(report, None, tmp_path, "mine")
    page = (tmp_path / "audit.html").read_text()
    assert report["promises"][0]["sentence"] in page
    assert "with a confidence of 97.5% for all of them at once" in page


def test_records_that_prove_nothing_test_no_promise() -> None:
    seen = outputs([0])
    shifted = compare(seen.assign_attrs(warnings=[BLIND]), promised=1)
    assert shifted["meaning"][0] == BLIND
    assert "is not tested: these members differ" in shifted["promises"][0]["sentence"]
    assert compare(seen, promised=1)["promises"][0]["verdict"] == "refuted"
    none = compare(outputs([0], 6), promised=1, promised_mu=1, delta=1e-3)
    assert {judged["verdict"] for judged in none["promises"]} == {"not tested"}
    assert "at a delta of 0.001 is not tested: memberships" in none["promises"][0]["sentence"]
    assert "few" in audit(few(), promised=1, level=0.9999999)["promises"][0]["sentence"]


REFUSED = {
    "--promised=0": "promised = 0.0: give an epsilon above 0",
    "--promised=-1": "promised = -1.0: give an epsilon above 0",
    "--promised=nan": "promised = nan: give an epsilon above 0, and finite",
    "--promised=inf": "promised = inf: give an epsilon above 0, and finite",
    "--promised-mu=0": "promised_mu = 0.0: give a mu above 0",
    "--promised=1 --delta=1": "delta is 1.0; give a number of at least 0 and below 1",
    "--level=1": "level is 1.0; give a confidence",
}


@pytest.mark.parametrize("given", REFUSED)
def test_what_is_no_promise_is_refused_before_the_file_is_read(tmp_path: Path, given: str) -> None:
    command = ["audit", "absent.csv", "--output", str(tmp_path / "out"), *given.split()]
    done = CliRunner().invoke(cli, command)
    assert isinstance(done.exception, InputError)
    assert str(done.exception).startswith(REFUSED[given])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("value", ["8", True, [8], 1j])
def test_a_promise_is_a_number(value: object) -> None:
    with pytest.raises(InputError, match="promised = "):
        audit(few(), promised=value)
    with pytest.raises(InputError, match="promised_mu = "):
        compare(outputs([0], 6), promised_mu=value)


def test_the_command_takes_promises_and_says_so(tmp_path: Path) -> None:
    three().to_csv(tmp_path / "s.csv", index=False)
    given = ["audit", str(tmp_path / "s.csv"), "--output", str(tmp_path / "out")]
    done = CliRunner().invoke(cli, [*given, "--promised", "8", "--promised-mu", "1"])
    assert done.exit_code == 0, done.output
    report = json.loads((tmp_path / "out" / "audit.json").read_text())
    assert "--promised=8.0 --promised-mu=1.0" in report["provenance"]["command"]
    assert len(report["promises"]) == 2


@pytest.mark.slow
def test_a_promise_that_is_kept_is_refuted_no_more_often_than_is_said() -> None:
    """Randomised response of 1 is kept just so: the sharpest case."""
    refuted = 0
    for seed in range(400):
        rng = np.random.default_rng([seed, 7])
        member = rng.random(1_000) < 0.5
        told = np.where(rng.random(1_000) < 1 / (1 + np.exp(-1)), member, ~member)
        report = audit(Scored(told + 1e-9 * rng.random(1_000), member), promised=1, delta=0)
        refuted += report["promises"][0]["verdict"] == "refuted"
    assert refuted <= 0.05 * 400 + 2 * np.sqrt(400 * 0.05 * 0.95)
