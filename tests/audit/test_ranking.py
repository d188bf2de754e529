"""Which of several attacks a release is told of, what that pays, and of which scores a page is."""

import errno
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from membership.audit import Scored, Several, audit, read_scores, write
from membership.errors import InputError, RunError
from tests.audit.test_several import three


def few_for_certain(n: int = 2_000) -> pd.DataFrame:
    """One attack moves all members a little; the other finds a quarter of them, and no more."""
    rng = np.random.default_rng(1)
    member = np.arange(n) % 2
    sure = (member == 1) & (rng.random(n) < 0.25)
    found = np.where(sure, 10 + rng.random(n), rng.normal(size=n))
    group = np.where(np.arange(n) % 3, "a", "b")
    return pd.DataFrame(
        {"member": member, "shift": rng.normal(member, 1), "few": found, "group": group}
    )


def test_the_first_is_the_one_that_finds_most_at_the_rate_that_is_named() -> None:
    frame = few_for_certain()
    report = audit(frame)
    assert [one["name"] for one in report["attacks"]] == ["few", "shift"]
    assert report["attacks"][0]["auc"]["value"] < report["attacks"][1]["auc"]["value"]
    assert (report["ranked_at"], report["first_by_auc"]) == (0.01, "shift")
    said = report["meaning"]
    assert said[0].startswith("Of 2 attacks, few finds the most members where 1% of non-members")
    assert "By the AUC, which takes all thresholds together, shift is ahead" in said[0]
    alone = audit(Scored(frame["few"], frame["member"], frame["group"]), level=1 - 0.05 / 2)
    assert said[1] == alone["meaning"][0]
    for key in ("most_exposed", "groups", "tpr_at_fpr", "auc"):
        assert report["strongest"][key] == alone[key]
    assert report["strongest"]["most_exposed"][0]["score"] == frame["few"].max()
    same = audit(three())
    assert "best, by its AUC and where 10% of non-members are accused." in same["meaning"][0]


def test_the_next_may_find_as_many_where_the_difference_does_not_say() -> None:
    rng = np.random.default_rng(1)
    member = np.arange(600) < 300
    shared = rng.normal(size=600) + 2.0 * member
    near, far = shared + 0.5 * rng.normal(size=600), -shared
    told = {}
    for other, name in ((near, "near"), (far, "far"), (2 * shared, "same")):
        report = audit(Several({"first": shared, name: other}, member))
        told[name] = "the next, may find as many or more" in report["meaning"][0]
        gap = report["attacks"][1]["tpr_behind_best"]
        assert told[name] == (gap["low"] < 0 <= gap["high"])
    assert told == {"near": True, "far": False, "same": False}


def test_a_mean_over_targets_is_ranked_by_the_rate_too() -> None:
    frame = pd.concat([few_for_certain().assign(target=t) for t in "abc"], ignore_index=True)
    report = audit(frame.assign(record=np.arange(len(frame))))
    assert [one["name"] for one in report["attacks"]] == ["few", "shift"]
    assert report["strongest"]["attack"] == "few"
    assert report["attacks"][1]["tpr_behind_best"]["high"] < 0


def test_who_finds_few_for_certain_does_not_guess_whatever_the_auc() -> None:
    n = 400
    score = np.random.default_rng(3).normal(size=n)
    score[:40:2] = 9 + np.arange(20)
    report = audit(Scored(score, np.arange(n) % 2 == 0))
    assert report["auc"]["low"] <= 0.5 < report["auc"]["value"]
    assert report["tpr_at_fpr"][2]["low"] > 0.1
    assert report["meaning"][0].startswith("Who sees of the released model")


def test_two_names_of_one_score_pay_once() -> None:
    frame = three()[["member", "loss", "lira"]]
    report = audit(frame)
    again = audit(frame.assign(twin=np.exp(frame["lira"]), third=2 * frame["lira"] + 1))
    assert (report["different_attacks"], again["different_attacks"]) == (2, 2)
    for key in ("epsilon_lower_bound", "mu_lower_bound", "pair_level"):
        assert again[key] == report[key]
    assert again["strongest"]["level"] == report["strongest"]["level"]
    assert "Of 4 attacks 2 are different." in again["warnings"][-1]
    one = audit(frame[["member", "lira"]].assign(twin=frame["lira"]))
    assert "Of 2 attacks 1 is different." in one["warnings"][-1]
    assert one["strongest"]["level"] == 0.95
    assert not any("was chosen on the records" in text for text in one["meaning"])


def test_a_page_is_drawn_of_the_scores_that_its_report_was_made_of(tmp_path: Path) -> None:
    frame = three()
    report = audit(frame[["member", "lira"]])
    for fine in (
        frame,
        frame.sample(frac=1, random_state=0),
        Scored(frame["lira"], frame["member"]),
        {"member": frame["member"], "lira": np.exp(frame["lira"])},
    ):
        write(report, fine, tmp_path, "mine")
    (tmp_path / "audit.html").unlink()
    for other, said in (
        (frame[["member", "lira"]].assign(lira=frame["loss"]), "scored: TPR at"),
        (frame.iloc[:200], "scored: TPR at|scored: members|scored: AUC"),
        (frame[["member", "loss"]], "attack 'lira' is no column of scores"),
        (read_scores(frame[["member", "loss", "lira"]]), "several attacks or targets"),
        (Scored(-frame["lira"], frame["member"]), "give the scores that it was made of"),
    ):
        with pytest.raises(InputError, match=said):
            write(report, other, tmp_path, "mine")
    assert not (tmp_path / "audit.html").exists()


def test_a_disk_that_fills_between_two_files_leaves_neither(tmp_path: Path, monkeypatch) -> None:
    frame, full = three()[["member", "lira"]], tmp_path / "out"
    report, synced = audit(frame), []

    def sync(descriptor: int) -> None:
        synced.append(descriptor)
        if len(synced) == 2:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", sync)
    with pytest.raises(RunError, match="the disk is full"):
        write(report, frame, full, "mine")
    assert list(full.iterdir()) == []
