"""Scores of several attacks and of several targets: compared, judged together, and refused."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from click.testing import CliRunner

from membership import metrics, privacy
from membership.audit import Scored, Several, audit, read_scores, write
from membership.book.cli import cli
from membership.errors import InputError

N, ATTACKS = 400, ["loss", "lira", "rmia"]


class Polars:
    """What is asked of a data frame of polars, which need not be installed."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame, self.columns = frame, [*frame]

    def get_column(self, name: str) -> np.ndarray:
        return self._frame[name].to_numpy()


def three(seed: int = 3) -> pd.DataFrame:
    """Three attacks on one model: two that see the same and a weaker one."""
    rng = np.random.default_rng(seed)
    member, hard = np.arange(N) % 2, rng.normal(size=N)
    return pd.DataFrame(
        {
            "member": member,
            "loss": hard + 0.4 * member,
            "lira": 0.2 * hard + member + rng.normal(size=N),
            "rmia": 0.2 * hard + 0.9 * member + rng.normal(size=N),
            "group": np.where(np.arange(N) % 3, "b", "<a>"),
            "record": [f"r{i}" for i in range(N)],
        }
    )


def targets(shared: bool = True, n_targets: int = 4, n: int = 120, leak: float = 1.0):
    """Two attacks on several models, of the same records or each of its own; the last is the
    first's complement where they share them."""
    rng = np.random.default_rng(8)
    hard, parts = rng.normal(size=n), []
    member = rng.random((n_targets, n)) < 0.5
    if shared:
        member[-1] = ~member[0]
    for i in range(n_targets):
        parts.append(
            pd.DataFrame(
                {
                    "target": f"m{i}",
                    "record": np.arange(n) + (0 if shared else i * n),
                    "member": member[i],
                    "loss": hard + leak * member[i] + 0.3 * rng.normal(size=n),
                    "lira": leak * member[i] + rng.normal(size=n),
                }
            )
        )
    return pd.concat(parts, ignore_index=True), member


def without(report: dict, *names: str) -> dict:
    return {key: value for key, value in report.items() if key not in ("provenance", *names)}


@pytest.fixture(scope="module")
def report() -> dict:
    return audit(three())


def test_each_attack_has_the_numbers_of_its_own_audit(report: dict) -> None:
    frame = three()
    assert {one["name"] for one in report["attacks"]} == set(ATTACKS)
    found = [(one["tpr_at_fpr"][2]["value"], one["auc"]["value"]) for one in report["attacks"]]
    assert found == sorted(found, reverse=True)
    assert report["ranked_at"] == report["attacks"][0]["tpr_at_fpr"][2]["fpr"] == 0.1
    for one in report["attacks"]:
        alone = audit(Scored(frame[one["name"]], frame["member"]))
        assert {k: one[k] for k in ("auc", "tpr_at_fpr")} == {
            k: alone[k] for k in ("auc", "tpr_at_fpr")
        }
        rates = [point["fpr"] for point in one["roc"]]
        tpr = [metrics.tpr_at_fpr(frame[one["name"]], frame["member"], rate) for rate in rates]
        assert [point["tpr"] for point in one["roc"]] == pytest.approx(tpr)


def test_every_pair_is_compared_on_the_same_records_and_paid_for(report: dict) -> None:
    frame = three().sort_values(["member", "rmia", "lira", "loss"])
    pairs = {(one["first"], one["second"]): one for one in report["pairs"]}
    assert len(pairs) == 3
    assert report["pair_level"] == pytest.approx(1 - 0.05 / 3)
    for (a, b), one in pairs.items():
        given = (frame[[a]].T, frame[[b]].T, frame[["member"]].T)
        for statistic, further, found in (
            ("auc", {}, one["auc"]),
            ("tpr_at_fpr", {"fpr": 0.1}, one["tpr_at_fpr"][0]),
        ):
            wanted = metrics.paired_interval(
                statistic, *given, level=report["pair_level"], **further
            )
            assert found["value"] == pytest.approx(wanted.difference)
            assert [found["low"], found["high"]] == pytest.approx([wanted.low, wanted.high])
    first = report["attacks"][0]["name"]
    for one in report["attacks"][1:]:
        pair = pairs[first, one["name"]]["auc"]
        assert one["behind_best"]["value"] == -pair["value"]
        assert one["behind_best"]["low"] == -pair["high"]
        rate = pairs[first, one["name"]]["tpr_at_fpr"][0]
        assert one["tpr_behind_best"]["fpr"] == rate["fpr"] == report["ranked_at"]
        assert one["tpr_behind_best"]["high"] == -rate["low"]


def test_the_bounds_pay_for_the_number_of_attacks(report: dict) -> None:
    frame, shared = three(), 1 - 0.05 / 3
    each = [(frame[name], frame["member"]) for name in ATTACKS]
    epsilon = max(privacy.epsilon_lower_bound(*one, delta=1e-5, level=shared) for one in each)
    mu = max(privacy.mu_lower_bound(*one, level=shared) for one in each)
    assert report["epsilon_lower_bound"]["value"] == epsilon > 0
    assert report["mu_lower_bound"]["value"] == mu
    assert report["mu_lower_bound"]["epsilon"] == privacy.gaussian_epsilon(mu, 1e-5)
    assert report["bounds_design"]["trials"] == "one target"


def test_the_first_attack_is_looked_at_closely_with_its_groups(report: dict) -> None:
    frame, name = three(), report["attacks"][0]["name"]
    scored = Scored(frame[name], frame["member"], frame["group"], frame["record"])
    alone = audit(scored, level=1 - 0.05 / 3)
    found = report["strongest"]
    assert found["attack"] == name
    for key in ("auc", "tpr_at_fpr", "groups", "most_exposed", "level"):
        assert found[key] == alone[key], key


@pytest.mark.parametrize(
    "form",
    [
        lambda frame: frame.sample(frac=1, random_state=1),
        Polars,
        lambda frame: {name: frame[name].to_numpy() for name in frame},
        lambda frame: frame.astype({"member": bool, "group": "category"}),
        lambda frame: frame.astype(str),
        read_scores,
        lambda frame: Several(
            {name: frame[name] for name in ATTACKS}, frame["member"], frame["group"],
            frame["record"],
        ),
    ],
)  # fmt: skip
def test_any_form_and_any_order_give_the_same_numbers(report: dict, form) -> None:
    assert without(audit(form(three()))) == without(report)


def test_one_column_of_any_name_is_an_audit_of_one_attack() -> None:
    frame = three()[["member", "lira"]]
    assert audit(frame) == audit(Scored(frame["lira"], frame["member"], column="lira"))
    assert without(audit(frame, seed=5)) == without(audit(frame))


def run(folder: Path, frame: pd.DataFrame, *options: str):
    frame.to_csv(folder / "scores.csv", index=False)
    where = ["audit", str(folder / "scores.csv"), "--output", str(folder / "out"), *options]
    done = CliRunner().invoke(cli, where)
    if done.exception:
        raise done.exception
    return json.loads((folder / "out/audit.json").read_text()), (
        folder / "out/audit.html"
    ).read_text()


@pytest.mark.slow
def test_the_command_writes_what_python_says(tmp_path: Path, report: dict) -> None:
    found, page = run(tmp_path, three())
    assert without(found) == json.loads(json.dumps(without(report)))
    assert found["provenance"]["command"] == (
        "membership audit scores.csv --level=0.95 --delta=1e-05 --seed=0"
    )
    assert page.count("<figure") == 2
    assert all(f'<th scope="row">{name}</th>' in page for name in ATTACKS)
    assert "<a>" not in page
    assert "&lt;a&gt;" in page
    assert f"Each is the largest bound of all attacks, {len(ATTACKS) * 10} thresholds" in page
    write(report, three(), tmp_path / "again", "scores.csv")
    again = (tmp_path / "again/audit.html").read_text()
    assert again.partition("How was this made?")[0] == page.partition("How was this made?")[0]


@pytest.mark.slow
def test_the_columns_of_scores_can_be_named(tmp_path: Path) -> None:
    found, _ = run(tmp_path, three(), "--attack", "lira", "--attack", "loss")
    assert {one["name"] for one in found["attacks"]} == {"lira", "loss"}
    assert any("does not read: rmia" in text for text in found["warnings"])
    assert found["provenance"]["command"].endswith("--seed=0 --attack=lira --attack=loss")
    alone, _ = run(tmp_path, three(), "--attack", "LIRA")
    assert alone["auc"] == next(o["auc"] for o in found["attacks"] if o["name"] == "lira")
    kept = read_scores(three().rename(columns={"lira": "score"}))
    assert isinstance(kept, Scored)
    assert kept.not_read == ("loss", "rmia")


def test_targets_are_crossed_with_their_records_and_complements_are_one_unit() -> None:
    frame, member = targets()
    found = audit(frame)
    assert (found["targets"], found["independent_units"], found["records"]) == (4, 3, 120)
    for one in found["attacks"]:
        score = frame.pivot(index="target", columns="record", values=one["name"]).to_numpy()
        # The table's columns are in the order of the records' names.
        order = np.argsort(np.arange(120).astype(str))
        wanted = metrics.crossed_interval(
            "auc", score[:, order], member[:, order], units=[0, 1, 2, 0]
        )
        assert list(one["auc"].values()) == pytest.approx([wanted.value, wanted.low, wanted.high])
        for i, row in enumerate(found["by_target"]):
            assert row["target"] == f"m{i}"
            alone = audit(Scored(score[i], member[i]), level=1 - 0.05 / 4)
            assert row["auc"][one["name"]] == alone["auc"]
    assert without(audit(frame.sample(frac=1, random_state=0))) == without(found)


@pytest.mark.parametrize("shared", [True, False])
def test_trials_are_pooled_only_where_no_record_was_asked_twice(shared: bool) -> None:
    frame, _ = targets(shared)
    found = audit(frame)
    assert found["bounds_design"]["trials"] == ("per target" if shared else "pooled")
    rows = [frame[frame["target"] == f"m{i}"] for i in range(4)] if shared else [frame]
    level = 1 - 0.05 / (2 * len(rows))
    bounds = [
        privacy.mu_lower_bound(one[name], one["member"], level=level)
        for one in rows
        for name in ("loss", "lira")
    ]
    assert found["mu_lower_bound"]["value"] == pytest.approx(max(bounds))
    assert found["mu_lower_bound"]["value"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("shared", [True, False])
def test_bounds_of_several_targets_are_wrong_as_seldom_as_they_say(shared: bool) -> None:
    """Nothing leaks; each record and each target moves its scores, as hard records do."""
    rng, wrong, runs, n = np.random.default_rng(1), 0, 60, 60
    for _ in range(runs):
        hard, parts = rng.normal(0, 2, 3 * n), []
        for i in range(3):
            rows = np.arange(n) + (0 if shared else i * n)
            frame = pd.DataFrame({"record": rows, "member": rng.random(n) < 0.5})
            noise = rng.normal(size=(n, 2)) + rng.normal()
            frame[["loss", "lira"]] = hard[rows][:, None] + noise
            parts.append(frame.assign(target=i))
        wrong += audit(pd.concat(parts))["mu_lower_bound"]["value"] > 0
    assert wrong <= 0.05 * runs + 3 * (0.05 * 0.95 * runs) ** 0.5


def changed(column: str, row: int, value) -> pd.DataFrame:
    frame = three().astype({column: object})
    frame.loc[row, column] = value
    return frame


def one_sided() -> pd.DataFrame:
    frame = targets()[0]
    return frame.assign(member=frame["member"] | (frame["target"] == "m1"))


REFUSED = {
    "constant": (three().assign(loss=1.0), "loss: all 400 records have 1; nothing to rank"),
    "words": (changed("loss", 3, "high"), "loss is 'high'; give a finite number; where the column"),
    "missing": (changed("lira", 5, np.nan), "lira is ''; give a finite number"),
    "infinite": (three().assign(rmia=np.inf), "rmia is 'inf'; give a finite number"),
    "member missing": (changed("member", 2, None), "member is ''; give 0 or 1"),
    "one name": (
        three().set_axis(["member", "loss", "loss", "rmia", "group", "record"], axis=1),
        "2 columns are named 'loss'; name each column once",
    ),
    "no scores": (three()[["member", "record"]], "lacks score; its columns are"),
    "no member": (three().drop(columns="member"), "lacks score, member"),
    "members only": (
        one_sided(),
        "target 'm1': 120 members and 0 non-members; give at least 4 of each, or leave out",
    ),
    "no target": (targets()[0].assign(target=["", *["m"] * 479]), "target is ''; give the"),
    "no record": (targets()[0].drop(columns="record"), "4 targets and no column record; name"),
    "nameless record": (
        targets()[0].astype({"record": str}).replace({"record": {"7": ""}}), "record is ''",
    ),
    "few": (three().head(10), "loss: 10 records; an audit needs at least 20"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("form", ["frame", "file"])
def test_what_cannot_be_compared_is_refused_in_a_line(tmp_path: Path, case: str, form: str) -> None:
    frame, said = REFUSED[case]
    asked = audit if form == "frame" else lambda given: run(tmp_path, given)
    with pytest.raises(InputError) as refused:
        asked(frame)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_what_is_no_table_or_names_no_column_is_refused() -> None:
    frame = three()
    for given, said in (
        (7, "the table is a int; give a path, a data frame, or arrays by their names"),
        ({"member": frame["member"], "a": frame["loss"][:9]}, "give one value a record"),
        ({"member": frame["member"], "a": frame[["loss"]]}, r"column 'a' has shape (400, 1)"),
        (Several, "the table is a type"),
        (xr.Dataset({"log_odds": ("record", frame["loss"])}), "this is evidence"),
        ("networks.evidence", "this is evidence"),
    ):
        with pytest.raises(InputError) as refused:
            audit(given)
        assert said in str(refused.value)
    with pytest.raises(InputError, match="attack 'qmia' is no column of scores; its columns are"):
        read_scores(frame, ["qmia"])
    for wrong, said in (
        ({"level": 2}, "level is 2; give"),
        ({"level": "0.95"}, "level is '0.95'; give a confidence"),
        ({"level": None}, "level is None"),
        ({"delta": "1e-5"}, "delta is '1e-5'; give a number"),
        ({"seed": -3}, "seed = -3: expected a whole number from 0 up"),
        ({"attacks": ["qmia"]}, "attack 'qmia' is no column of scores"),
    ):
        for given in (frame, frame[["member", "lira"]]):
            with pytest.raises(InputError) as refused:
                audit(given, **wrong)
            assert said in str(refused.value)
    with pytest.raises(InputError, match="they are columns of a table; leave out"):
        audit(read_scores(frame), attacks=["lira"])


def test_warnings_name_the_attack_that_they_are_of() -> None:
    said = audit(three().assign(loss=-three()["loss"]))["warnings"]
    assert any(text.startswith("loss: Members score lower") for text in said)
    assert any("One target" in text for text in said)
    assert not any("One target" in text for text in audit(targets()[0])["warnings"])
