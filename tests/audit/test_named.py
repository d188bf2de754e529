"""Who may be named: a slow procedure beside it, how often names are wrong, and what is said."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

from membership import audit
from membership.audit import named
from membership.book.cli.audits import audit as command
from membership.errors import InputError
from tests.audit.test_comparison import outputs

Drawn = tuple[np.ndarray, np.ndarray]


def drawn(shift: float, n: int, seed: int, values: int | None = None) -> Drawn:
    rng = np.random.default_rng([n, seed])
    member = np.arange(n) < n // 2
    score = rng.normal(size=n) + shift * member
    return (score if values is None else np.round(score * values) / values), member


def by_hand(score: np.ndarray, member: np.ndarray, fdr: float) -> set[int]:
    """Benjamini and Hochberg's adjusted p-values of all, those of further non-members being 1."""
    known = score[~member]
    p = [(1 + sum(known >= one)) / (1 + len(known)) for one in score[member]]
    adjusted = stats.false_discovery_control([*p, *np.ones(len(known))], method="bh")
    return {i for i in range(len(p)) if adjusted[i] <= fdr * (1 + 1e-12)}


@pytest.mark.parametrize("values", [None, 2])
@pytest.mark.parametrize("fdr", [0.05, 0.1, 0.4])
def test_whom_it_names_is_whom_the_procedure_rejects(fdr: float, values: int | None) -> None:
    sizes = set()
    for seed in range(20):
        score, member = drawn(2.0, 200, seed, values)
        found = {*named.places(score, member, fdr).tolist()}
        assert found == by_hand(score, member, fdr)
        sizes.add(len(found))
    assert len(sizes) > 1


@pytest.mark.parametrize("fdr", [0.1, 0.3])
def test_names_are_wrong_no_more_often_than_is_said(fdr: float) -> None:
    """The accuser decides on members and on as many further non-members, and sees all scores."""
    wrong = []
    for seed in range(1500):
        rng = np.random.default_rng(seed)
        known, further = rng.normal(size=(2, 60))
        members = rng.normal(size=60) + 3 * (rng.random(60) < 0.5)
        score = np.r_[members, further, known]
        p = [(1 + (known >= one).sum()) / 61 for one in score[:120]]
        accused = stats.false_discovery_control(p, method="bh") <= fdr
        wrong.append(accused[60:].sum() / max(accused.sum(), 1))
        listed = named.places(np.r_[members, known], np.arange(120) < 60, fdr)
        assert accused[listed].all()  # whoever is on the list is accused, whatever the others are
    assert np.mean(wrong) < fdr / 2 + 3 * np.std(wrong) / np.sqrt(1500)
    assert np.mean(wrong) > fdr / 8


def test_a_report_names_members_and_says_what_that_supposes(tmp_path) -> None:
    score, member = drawn(3.0, 400, 0)
    one = audit.Scored(score, member, record=[f"patient {i}" for i in range(400)])
    report = audit.audit(one)
    who = report["named"]
    assert who["members"] == len(who["records"]) == len(by_hand(score, member, 0.1)) > 20
    assert all(member[int(found["record"].split()[1])] for found in who["records"])
    assert who["sentence"] in report["meaning"]
    assert [found["score"] for found in who["records"]] == sorted(score[member])[::-1][
        : who["members"]
    ]
    audit.write(report, one, tmp_path, "mine")
    page = (tmp_path / "audit.html").read_text()
    assert f"The first 20 of {who['members']} names" in page
    assert "further non-members" in page
    assert "own false-positive rate is counted here" in " ".join(page.split())


@pytest.mark.parametrize("values", [None, 1, 3])
def test_a_names_p_value_counts_the_others_that_score_as_high(values: int | None) -> None:
    score, member = drawn(3.0, 400, 2, values)
    others = score[~member].tolist()
    listed = audit.audit(audit.Scored(score, member), fdr=0.4)["named"]["records"]
    assert len(listed) > 20
    for one in listed:
        as_high = sum(other >= one["score"] for other in others)
        assert one["p"] == (1 + as_high) / (1 + len(others))
    ties = {one["score"] for one in listed} & {*others}
    assert bool(ties) == (values is not None)


def test_nobody_is_named_where_nothing_leaks() -> None:
    score, member = drawn(0.0, 400, 1)
    report = audit.audit(audit.Scored(score, member))
    assert report["named"]["members"] == 0
    assert any(text.startswith("Nobody can be named") for text in report["meaning"])


def test_the_choice_of_the_first_attack_is_paid_for() -> None:
    score, member = drawn(3.0, 400, 0)
    noise = np.random.default_rng(5).normal(size=400)
    report = audit.audit(audit.Several({"a": score, "b": noise}, member))
    who = report["strongest"]["named"]
    assert who["fdr"] == 0.05
    assert who["members"] == len(by_hand(score, member, 0.05))
    paid = "These 5% are what is left of the 10% that were asked for: the choice among 2 attacks"
    assert paid in who["sentence"]
    assert who["sentence"] in report["meaning"]
    alone = audit.audit(audit.Several({"a": score, "b": 2 * score}, member))["strongest"]["named"]
    assert alone["fdr"] == 0.1
    assert "what is left of" not in alone["sentence"]


def test_evidence_counts_each_records_own_rate() -> None:
    report = audit.compare(outputs([0], leak=6), fdr=0.5)
    who = report["strongest"]["named"]
    assert who["members"] > 0
    assert all(0 <= one["as_high"] <= one["models_without"] for one in who["records"])
    assert any(one["models_without"] for one in who["records"])
    assert who["own_rate"] == named.RATE


@pytest.mark.parametrize("fdr", [0, 1, -0.1, float("nan"), "some"])
def test_no_share_is_refused(fdr) -> None:
    score, member = drawn(1.0, 40, 0)
    with pytest.raises(
        InputError, match=r"fdr = .*: give a share of wrong names above 0 and below 1"
    ):
        audit.audit(audit.Scored(score, member), fdr=fdr)


def test_the_command_takes_a_share(tmp_path) -> None:
    score, member = drawn(3.0, 100, 0)
    rows = [f"{s},{int(m)}" for s, m in zip(score, member, strict=True)]
    (tmp_path / "scores.csv").write_text("\n".join(["score,member", *rows]) + "\n")
    given = [str(tmp_path / "scores.csv"), "--output", str(tmp_path / "report"), "--fdr", "0.3"]
    done = CliRunner().invoke(command, given)
    assert done.exit_code == 0, done.output
    report = json.loads((tmp_path / "report" / "audit.json").read_text())
    assert report["named"]["fdr"] == 0.3
    assert "--fdr=0.3" in report["provenance"]["command"]
