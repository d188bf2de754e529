"""The machine-readable statement: every report has the published form, and nothing else passes."""

import copy
import json
from collections.abc import Callable

import jsonschema
import numpy as np
import pytest

from membership import paths
from membership.audit import Scored, audit, compare
from membership.audit.report import FORMAT
from membership.audit.sentences import checklist_of_evidence, checklist_of_scores
from tests.audit.test_comparison import outputs
from tests.audit.test_several import targets, three
from tests.audit.test_units import persons

SCHEMA = json.loads(
    (paths.project_root() / "book/_static/audit.schema.json").read_text(encoding="utf-8")
)
FORM = jsonschema.Draft202012Validator(SCHEMA)


def plain(report: dict) -> dict:
    return json.loads(json.dumps(report, allow_nan=False))


def one(**further) -> dict:
    frame = three()
    return plain(audit(Scored(frame["lira"], frame["member"], group=frame["group"]), **further))


REPORTS: dict[str, Callable[[], dict]] = {
    "one attack": one,
    "at a delta of 0": lambda: one(delta=0.0),
    "units": lambda: audit(persons()),
    "promises": lambda: one(promised=8, promised_mu=1),
    "several attacks": lambda: audit(three()),
    "several targets": lambda: audit(targets()[0]),
    "pooled targets": lambda: audit(targets(shared=False)[0]),
    "evidence": lambda: compare(outputs([0], label=np.arange(400) % 3)),
    "evidence of few records": lambda: compare(outputs([0], 6)),
    "evidence of several targets": lambda: compare(outputs(records=100)),
}


@pytest.mark.parametrize("kind", REPORTS)
def test_every_report_has_the_published_form(kind: str) -> None:
    report = plain(REPORTS[kind]())
    assert [error.message for error in FORM.iter_errors(report)] == []
    assert report["format"] == FORMAT == SCHEMA["title"]


def test_the_form_is_a_schema() -> None:
    form = jsonschema.Draft202012Validator
    assert [error.message for error in form(form.META_SCHEMA).iter_errors(SCHEMA)] == []


WRONG: dict[str, Callable[[dict], object]] = {
    "no bound": lambda report: report.pop("epsilon_lower_bound"),
    "no checklist": lambda report: report["checklist"].clear(),
    "another format": lambda report: report.update(format="membership-audit-0"),
    "a percentage": lambda report: report["auc"].update(value=76.0),
    "a word": lambda report: report["mu_lower_bound"].update(value="large"),
    "a missing end": lambda report: report["tpr_at_fpr"][0].pop("low"),
    "a short digest": lambda report: report["provenance"]["inputs"][0].update(sha256="ab12"),
    "another status": lambda report: report["checklist"][0].update(status="hoped"),
    "a promise of nothing": lambda report: report.update(promises=[]),
    "no count": lambda report: report["records"].update(members=-1),
}


@pytest.mark.parametrize("change", WRONG)
def test_another_form_does_not_pass(change: str) -> None:
    report = copy.deepcopy(one())
    assert FORM.is_valid(report)
    WRONG[change](report)
    assert not FORM.is_valid(report)


def test_a_comparison_lacking_a_part_does_not_pass() -> None:
    report = plain(audit(three()))
    for part in ("pairs", "strongest", "bounds_design", "targets"):
        assert not FORM.is_valid({key: value for key, value in report.items() if key != part})


@pytest.mark.parametrize(
    ("given", "not_tested"),
    [
        ({"named": True, "grouped": True, "whole": True}, {"Stronger", "Records", "Another"}),
        (
            {"named": False, "grouped": True},
            {"Stronger", "Records", "Another", "Copies", "Units,"},
        ),
        (
            {"named": True, "grouped": False, "targets": 3, "attacks": 2},
            {"Stronger", "Records", "Groups,", "Units,"},
        ),
    ],
)
def test_the_checklist_follows_what_was_given(given: dict, not_tested: set) -> None:
    listed = checklist_of_scores(**given, noted=False)
    said = {one["text"].split()[0].rstrip(".") for one in listed if one["status"] == "not tested"}
    assert said == not_tested
    twice = any("none occurs twice" in one["text"] for one in listed)
    assert twice == given["named"]


def test_the_checklist_says_whether_a_note_is_of_what_was_tested() -> None:
    told = {
        noted: [
            "a note says" in one["text"]
            for one in checklist_of_scores(named=True, grouped=True, noted=noted)
            if one["status"] == "tested"
        ]
        for noted in (True, False)
    }
    assert told == {True: [True], False: [False]}


def test_the_checklist_of_evidence_says_whether_its_records_were_looked_at() -> None:
    status = {
        looked: next(
            one["status"]
            for one in checklist_of_evidence(looked_at=looked, grouped=True, units=2)
            if one["text"].startswith("Members and non-members differ")
        )
        for looked in (True, False)
    }
    assert status == {True: "tested", False: "assumed"}
