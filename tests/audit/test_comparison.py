"""Every registered attack on a file of evidence, compared."""

import hashlib
import json
import re
from base64 import b64decode
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import xarray as xr
from click.testing import CliRunner
from scipy import stats

from membership import attacks, evidence, metrics, privacy
from membership.audit import Scored, audit, compare, write
from membership.book.cli import cli
from membership.errors import InputError

ORIGIN = {"set": "Digits", "data": {"digits": "ab12"}, "recipe": {"loss": "cross-entropy"}}


def outputs(
    targets: list[int] | None = None,
    records: int = 400,
    models: int = 24,
    leak: float = 1.5,
    seed: int = 2,
    **further,
):
    rng = np.random.default_rng(seed)
    member = rng.random((models, records)) < 0.5
    hard = rng.normal(0, 2, records)
    log_odds = hard + leak * member + rng.normal(0, 1, member.shape)
    labels = {"record": np.arange(records)}
    named = [0, 1, 2] if targets is None else targets
    return evidence.dataset(
        "outputs",
        {"log_odds": log_odds, "member": member, **further},
        labels,
        targets=named,
        **ORIGIN,
    )


def distinct(table: attacks.ScoreTable) -> list[np.ndarray]:
    """Scores of which no two rank all records of every target alike."""
    kept: list[np.ndarray] = []
    for score in table.score.values():
        ranks = stats.rankdata(score, axis=1)
        if not any((stats.rankdata(other, axis=1) == ranks).all() for other in kept):
            kept.append(score)
    return kept


@pytest.mark.slow
def test_attacks_are_listed_from_the_strongest_with_paired_differences() -> None:
    report = compare(outputs())
    areas = [one["auc"]["value"] for one in report["attacks"]]
    found = [one["tpr_at_fpr"][0]["value"] for one in report["attacks"]]
    assert list(zip(found, areas, strict=True)) == sorted(zip(found, areas, strict=True))[::-1]
    assert report["attacks"][0]["behind_best"] is None
    found = {one["name"]: one for one in report["attacks"]}
    table = attacks.score_table(outputs())
    direct = np.mean(
        [metrics.auc(s, m) for s, m in zip(table.score["loss"], table.member, strict=True)]
    )
    assert found["loss"]["auc"]["value"] == pytest.approx(direct)
    last = report["attacks"][-1]
    assert last["behind_best"]["value"] == pytest.approx(areas[-1] - areas[0])
    best = table.score[report["attacks"][0]["name"]]
    paired = metrics.paired_interval(
        "auc", table.score[last["name"]], best, table.member, level=report["pair_level"]
    )
    different = report["different_attacks"]
    assert different == len(distinct(table))
    assert report["pair_level"] == 1 - 0.05 / (different * (different - 1) / 2)
    assert last["behind_best"]["low"] == pytest.approx(paired.low, abs=1e-12)


@pytest.mark.slow
def test_the_strongest_is_told_as_scores_are_at_a_level_that_pays_for_the_choice() -> None:
    seen = outputs(label=np.arange(400) % 3)
    report, table = compare(seen), attacks.score_table(seen)
    name, level = report["attacks"][0]["name"], 1 - 0.05 / len(distinct(table))
    one = Scored(table.score[name][0], table.member[0], group=np.arange(400) % 3)
    alone, found = audit(one, level=level), report["strongest"]
    assert (found["attack"], found["target"], found["level"]) == (name, 0, level)
    same = ("auc", "tpr_at_fpr", "positive_predictive_value", "groups", "group_level", "records")
    assert {key: found[key] for key in same} == {key: alone[key] for key in same}
    assert len(found["groups"]) == 3
    counts = {"models_without", "as_high"}
    told = [{k: v for k, v in one.items() if k not in counts} for one in found["most_exposed"]]
    assert told == alone["most_exposed"]
    assert all(point["low"] <= point["tpr"] <= point["high"] for point in found["roc"])
    assert any("chosen on the records" in text for text in report["meaning"])


def test_models_that_were_not_asked_everything_are_left_out_of_the_count() -> None:
    """As in the committed evidence of networks, of which only targets were asked all logits."""
    every = np.full((24, 400), np.nan)
    every[:3] = np.random.default_rng(0).normal(size=(3, 400))
    exposed = compare(outputs(shokri=every))["strongest"]["most_exposed"]
    assert max(one["models_without"] for one in exposed) in (1, 2)


@pytest.mark.slow
def test_an_exposed_record_is_counted_in_every_model_trained_without_it() -> None:
    seen = outputs(models=20)
    found = compare(seen)["strongest"]
    for one in found["most_exposed"][:5]:
        row, without, high = int(one["record"]), 0, 0
        for model in range(1, 20):
            scores = attacks.scores(seen, target=model)
            if not scores.member[row]:
                without += 1
                high += bool(scores.score[found["attack"]][row] >= one["score"])
        assert (one["models_without"], one["as_high"]) == (without, high)


@pytest.mark.slow
def test_the_chosen_attack_on_nothing_is_said_to_guess() -> None:
    """At most 5% of audits of guessing exclude it, though the best of the attacks is taken."""
    wrong, runs = 0, 60
    for seed in range(runs):
        found = compare(outputs([0], 100, 8, leak=0.0, seed=seed))["strongest"]["auc"]
        wrong += not found["low"] <= 0.5 <= found["high"]
    assert wrong <= 0.05 * runs + 3 * (0.05 * 0.95 * runs) ** 0.5


@pytest.mark.slow
def test_bounds_hold_for_all_attacks_and_targets_at_once() -> None:
    table = attacks.score_table(outputs())
    report = compare(outputs(), delta=1e-3)
    different = distinct(table)
    level = 1 - 0.05 / (3 * len(different))
    bounds = [
        privacy.epsilon_lower_bound(one, truth, delta=1e-3, level=level)
        for score in different
        for one, truth in zip(score, table.member, strict=True)
    ]
    found = report["epsilon_lower_bound"]
    assert (found["value"], found["level"], found["delta"]) == (max(bounds), 0.95, 1e-3)
    # About 200 members and 200 others of each attack and target: 1, 4, 16, 64 and half of both.
    assert found["tried"] == 3 * len(different) * 10
    # Scores with mu = 1.5 between members and others: no bound may lie above what is true of them.
    assert 0.3 < report["mu_lower_bound"]["value"] < 1.5


def test_what_leaks_nothing_proves_nothing() -> None:
    report = compare(outputs(leak=0.0))
    assert report["epsilon_lower_bound"]["value"] == report["mu_lower_bound"]["value"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("records", [6, 400])
def test_too_few_records_prove_nothing_and_say_so(records: int, tmp_path: Path) -> None:
    path = evidence.save(tmp_path / "mine.evidence", outputs([0], records))
    delta = ["--delta", "1e-5", "--output", str(tmp_path)]
    assert CliRunner().invoke(cli, ["audit", str(path), *delta]).exit_code == 0
    page = (tmp_path / "audit.html").read_text()
    assert ("at delta 1e-05" in page) == (records == 400)
    assert ("No bound on epsilon or mu" in page) == (records == 6)


def test_every_attack_is_either_tried_or_said_to_lack_something() -> None:
    report = compare(outputs())
    tried = {one["name"] for one in report["attacks"]}
    left = {one["name"]: one["lacks"] for one in report["left_out"]}
    assert tried | set(left) == set(attacks.registry())
    assert not tried & set(left)
    assert all(left.values())


@pytest.mark.slow
def test_rates_that_the_non_members_do_not_carry_are_left_out() -> None:
    (rate,) = compare(outputs())["attacks"][0]["tpr_at_fpr"]
    assert rate["fpr"] == 0.1


def test_one_target_is_said_to_be_one() -> None:
    assert "One target" in compare(outputs([0]))["warnings"][0]


@pytest.mark.slow
def test_the_command_takes_evidence(tmp_path: Path) -> None:
    path = evidence.save(tmp_path / "mine.evidence", outputs())
    done = CliRunner().invoke(cli, ["audit", str(path), "--output", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    report = json.loads((tmp_path / "out/audit.json").read_text())
    assert report["targets"] == 3
    assert report["provenance"]["seed"] == 0
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert report["provenance"]["inputs"] == [{"name": "mine.evidence", "sha256": digest}]
    page = (tmp_path / "out/audit.html").read_text()
    assert all(one["display"].replace("'", "&#39;") in page for one in report["attacks"])


@pytest.mark.slow
def test_figures_of_one_page_share_no_names_and_show_the_rates_of_the_tables(
    tmp_path: Path,
) -> None:
    report = compare(outputs([0]))
    write(report, None, tmp_path, "mine")
    page = (tmp_path / "audit.html").read_text()
    drawn = re.findall(r'<img src="data:image/svg\+xml;base64,([^"]+)" alt="ROC', page)
    assert "<svg" not in page
    assert len(drawn) == 2
    for one in drawn:
        assert ElementTree.fromstring(b64decode(one)).tag.endswith("svg")
    points = {one["fpr"]: one for one in report["strongest"]["roc"]}
    for rate in report["strongest"]["tpr_at_fpr"]:
        shown = points[rate["fpr"]]
        assert (shown["tpr"], shown["low"]) == (rate["value"], rate["low"])
    words = page[page.index("Left out, and what each would need") : page.index("What was assumed")]
    assert not re.search(r"`|form\.|posterior\.", words)


def test_attacks_that_agree_in_every_number_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    table_of = attacks.score_table
    one, other = list(table_of(outputs([0])).score)[:2]

    def agreeing(*given: xr.Dataset) -> attacks.ScoreTable:
        table = table_of(*given)
        table.score[other] = 2 * table.score[one]
        return table

    assert not [text for text in compare(outputs([0]))["warnings"] if "Equal in every" in text]
    monkeypatch.setattr(attacks, "score_table", agreeing)
    report = compare(outputs([0]))
    (said,) = [text for text in report["warnings"] if "Equal in every number" in text]
    display = {attack["name"]: attack["display"] for attack in report["attacks"]}
    assert display[one] in said
    assert display[other] in said


def test_evidence_that_allows_nothing_says_what_is_lacking() -> None:
    few = outputs(models=3).assign_attrs(recipe={"loss": "hinge"})
    with pytest.raises(InputError, match=r"allows no registered attack.*hinge"):
        compare(few)


def test_no_targets(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="targets"):
        compare(outputs([]))
    (tmp_path / "bad.evidence").write_bytes(b"no evidence")
    done = CliRunner().invoke(
        cli, ["audit", str(tmp_path / "bad.evidence"), "--output", str(tmp_path / "out")]
    )
    assert isinstance(done.exception, InputError)


BLIND = (
    "A classifier that never sees the model tells members from non-members with an AUC of 0.95: "
    "they differ in more than membership, and every attack's number measures that too."
)


def test_a_shift_stands_first_and_takes_the_sentence_on_epsilon_back(tmp_path: Path) -> None:
    seen = outputs([0])
    plain, report = compare(seen), compare(seen.assign_attrs(warnings=["Another.", BLIND]))
    assert any("is refuted" in text for text in plain["meaning"])
    assert report["meaning"][0] == BLIND
    assert not any("below" in text for text in report["meaning"])
    assert any("no promise of differential privacy is refuted here" in t for t in report["meaning"])
    for bound in ("epsilon_lower_bound", "mu_lower_bound"):
        assert report[bound]["value"] == 0 < plain[bound]["value"]
        assert "in more than membership" in report[bound]["reason"]
    assert report["attacks"] == plain["attacks"]
    write(report, None, tmp_path, "mine")
    page = (tmp_path / "audit.html").read_text()
    first = page.partition("What does this mean for a release?</h2>")[2].lstrip()
    assert first.startswith(f'<p class="warning"><strong>Note.</strong> {BLIND[:60]}')
    assert page.count(BLIND[:60]) == 1


FORGED = ["classification"], {"a": 1}, {}, 3, -1, 2.5, None, True, "x", [[1]], [None], 10**30
ATTRIBUTES = (
    *("task", "recipe", "targets", "references", "complements", "set", "data", "warnings"),
    *("kind", "rank", "seed"),
)


def told(seen: xr.Dataset) -> str:
    """Of a report its attacks, of a refusal its message; nothing else may come."""
    try:
        return json.dumps(compare(seen)["attacks"])
    except InputError as error:
        return str(error)


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_a_forged_attribute_is_taken_or_refused_in_a_line(name: str) -> None:
    seen = outputs([0], 60, 6)
    for value in FORGED:
        assert "\n" not in told(seen.assign_attrs({name: value})), value
    if name not in ("recipe", "data", "seed"):
        assert name in told(seen.assign_attrs({name: {"a": [1]}}))
