"""What an audit of evidence says was done, and by whom memberships were drawn."""

import numpy as np
import pytest
import torch
from torch import nn

from membership import audit, installation
from membership.errors import InputError
from tests.audit.test_comparison import outputs

RNG = np.random.default_rng(3)
X = RNG.normal(size=(200, 6))
Y = (X[:, 0] > 0).astype(int)
SMALL = {"n_reference": 2, "n_targets": 2}


def linear(x, y, seed):
    torch.manual_seed(seed)
    return nn.Linear(6, 2).double()


def test_coins_are_tossed_for_each_record_and_target_and_the_bounds_rest_on_them(tmp_path) -> None:
    seen = audit.gather(X, Y, linear, held=(X[:40], Y[:40]), seed=4, **SMALL)
    member = seen["member"].values
    tossed = np.random.default_rng(5).random((2, 200)) < 0.5
    assert (member[:2] == tossed).all()
    assert (member[2:].sum(axis=1) == 100).all()
    assert seen.attrs["drawn"] == {
        "by": "this audit", "design": "coins", "one": "record", "seed": 4,
    }  # fmt: skip
    report = audit.compare(seen, design="coins")
    assert report["design"]["name"] == "coins"
    (said,) = (one["text"] for one in report["checklist"] if one["status"] == "done")
    assert "Drawn by this audit: a fair coin for each record and target, by seed 4." in said
    assumed = [one["text"] for one in report["checklist"] if one["status"] == "assumed"]
    assert any(
        "trains on the records that it is given and on no others" in text for text in assumed
    )
    assert not any("drawn independently" in text for text in assumed)
    done = report["setup"]
    assert (done["references"], done["held"], done["targets"], done["records"]) == (2, 40, 2, 200)
    assert done["recipe"] == {"train": "linear"}
    for one in done["accuracy"]:
        right = seen["correct"].values[one["target"]] == 1
        inside = member[one["target"]]
        assert one["members"] == right[inside].mean()
        assert one["others"] == right[~inside].mean()
    given = {one["name"]: one["given"] for one in report["attacks"]}
    assert "40 held records" in given["attack-p"]
    assert given["mast"].startswith("2 models, of which those trained on other records; ")
    audit.write(report, None, tmp_path, "mine")
    page = " ".join((tmp_path / "audit.html").read_text().split())
    for text in (said.partition(". ")[2], "2 reference models", "40 held records", "train: linear"):
        assert text in page
    assert "Whoever ordered this audit" not in page


def test_halves_are_said_and_no_coins() -> None:
    seen = audit.gather(X, Y, linear, draw="halves", **SMALL)
    assert (seen["member"].values.sum(axis=1) == 100).all()
    report = audit.compare(seen)
    assert "design" not in report
    assert "exactly half of the records" in report["setup"]["memberships"]
    with pytest.raises(InputError, match="design = 'coins': the gathering drew exactly half"):
        audit.compare(seen, design="coins")
    with pytest.raises(InputError, match="draw = 'dice': expected one of coins, halves"):
        audit.gather(X, Y, linear, draw="dice", **SMALL)


def test_trials_of_coins_leave_one_thing_to_believe() -> None:
    report = audit.compare(audit.gather(X, Y, linear, **SMALL))
    assert "design" not in report
    assumed = [one["text"] for one in report["checklist"] if one["status"] == "assumed"]
    assert any("score moves with another" in text for text in assumed)
    assert not any("drawn independently" in text for text in assumed)


def test_units_have_a_coin_each() -> None:
    units = np.arange(200) // 4
    seen = audit.gather(X, Y, linear, units=units, **SMALL)
    target = seen["member"].values[0].reshape(50, 4)
    assert (target.all(axis=1) | ~target.any(axis=1)).all()
    report = audit.compare(seen)
    assert "a fair coin for each unit" in report["setup"]["memberships"]


def test_members_of_a_given_model_are_whoever_ordered_it_says() -> None:
    member = np.arange(200) % 2 == 0
    seen = audit.gather(X, Y, None, model=linear(X, Y, 1), member=member)
    report = audit.compare(seen)
    assert "Stated by whoever ordered this audit" in report["setup"]["memberships"]
    assert report["setup"]["references"] == 0
    assert not [one for one in report["checklist"] if one["status"] == "done"]


def test_evidence_that_does_not_say_it_is_said_not_to() -> None:
    done = audit.compare(outputs([0]))["setup"]
    assert "does not say how memberships were drawn" in done["memberships"]
    assert (done["references"], done["accuracy"], done["held"]) == (23, [], 0)


@pytest.mark.parametrize(("targets", "references"), [([0], 5), ([0, 3], 4), ([*range(6)], 5)])
def test_targets_without_other_models_are_each_others_references(targets, references) -> None:
    assert audit.compare(outputs(targets, 60, 6))["setup"]["references"] == references


def test_a_report_names_the_code_that_made_it() -> None:
    made = audit.audit(audit.Scored(RNG.normal(size=40), np.arange(40) < 20))["provenance"]
    assert made["code_sha256"] == installation.code_digest()
    assert made["commit"] == (installation.git_commit() or None)
