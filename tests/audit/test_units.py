"""Records that are no trials of their own: one name twice, and several records of a person."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from click.testing import CliRunner
from sklearn.linear_model import LogisticRegression

from membership import metrics, privacy
from membership.audit import Scored, audit, compare, gather, write
from membership.book.cli import cli
from membership.errors import InputError
from tests.audit.test_comparison import outputs
from tests.audit.test_design import scored

MANY, VISITS = 100, 10


def persons(seed: int = 1, alike: float = 0.9, leak: float = 0.0, visits: int = VISITS) -> dict:
    """Visits of persons who are in or out whole; scores are alike within a person."""
    rng = np.random.default_rng([seed, 3])
    member = np.repeat(rng.random(MANY) < 0.5, visits)
    own = np.repeat(rng.normal(size=MANY), visits)
    score = np.sqrt(alike) * own + np.sqrt(1 - alike) * rng.normal(size=member.size)
    unit = [f"patient {i // visits}" for i in range(member.size)]
    return {"score": score + leak * member, "member": member, "unit": unit}


def by_hand(given: dict) -> pd.DataFrame:
    return pd.DataFrame(given).groupby("unit", sort=True).mean()


@pytest.mark.parametrize("options", [{}, {"design": "coins"}])
def test_an_audit_of_units_is_that_of_their_mean_scores(options: dict, tmp_path: Path) -> None:
    given = persons(leak=1.0)
    report, means = audit(given, **options), by_hand(given)
    alone = audit(Scored(means["score"], means["member"] == 1, record=means.index), **options)
    assert report["units"] == {"records": MANY * VISITS, "units": MANY}
    for key in ("auc", "epsilon_lower_bound", "mu_lower_bound", "records"):
        numbers = {name: value for name, value in alone[key].items() if name != "reason"}
        assert {name: report[key][name] for name in numbers} == pytest.approx(numbers)
    assert report["most_exposed"][0]["record"].startswith("patient ")
    texts = [one["text"] for one in report["checklist"]]
    assert any("in one unit, which was in or out whole" in text for text in texts)
    assert not any(text.startswith("Units, such as persons") for text in texts)
    write(report, given, tmp_path, "mine")
    page = (tmp_path / "audit.html").read_text()
    assert f"{MANY * VISITS} records were taken together as {MANY} units" in page


def test_bounds_and_promises_are_of_a_whole_unit(tmp_path: Path) -> None:
    """An epsilon for each of ten records allows ten times that for all of them."""
    leaky = persons(leak=2.0)
    two = pd.DataFrame(leaky).rename(columns={"score": "lira"}).assign(loss=leaky["score"] ** 3)
    for given in (leaky, two):
        plain, held = audit(given), audit(given, promised=0.01, promised_mu=0.01)
        (told,) = [text for text in plain["meaning"] if "promise of" in text]
        assert "a promise of differential privacy for a whole unit with an epsilon" in told
        for one, notion in zip(held["promises"], ("differential", "Gaussian"), strict=True):
            assert one["sentence"].startswith(f"The promise of {notion} privacy for a whole unit ")
        checked = [one["text"] for one in held["checklist"]]
        assert any("promised for single records promises less for it" in text for text in checked)
        write(held, None if given is two else leaky, tmp_path, "mine")
        page = (tmp_path / "audit.html").read_text()
        assert "was differentially private for a whole unit, then" in page
        assert '<th scope="col">unit</th>' in page
        assert "what one unit is" in page
        assert "where units are independent trials" in page
        coins = audit(given, design="coins")
        write(coins, None if given is two else leaky, tmp_path, "mine")
        page = " ".join((tmp_path / "audit.html").read_text().split())
        assert "states that each unit was included by its own fair coin" in page
        assert "of 100 units are members" in page
        assert "Scores may move with other units' memberships" in page
    single = audit({name: leaky[name] for name in ("score", "member")}, promised=0.01)
    assert not any("whole unit" in text for text in single["meaning"])


def test_the_order_of_the_rows_moves_no_number() -> None:
    given = pd.DataFrame(persons())
    mixed = given.sample(frac=1, random_state=3)
    first, second = audit(given), audit(mixed)
    assert {**first, "provenance": 0} == {**second, "provenance": 0}


def test_several_attacks_and_targets_are_judged_by_unit() -> None:
    frames = []
    for target in "ab":
        given = persons(ord(target), leak=1.0)
        frames.append(pd.DataFrame(given).rename(columns={"score": "lira"}).assign(target=target))
    frame = pd.concat(frames, ignore_index=True).assign(loss=lambda f: -f["lira"])
    report = audit(frame)
    assert (report["records"], report["targets"]) == (MANY, 2)
    assert report["units"]["units"] == 2 * MANY
    one = audit(frame[frame["target"] == "a"].drop(columns="target"))
    assert one["strongest"]["records"] == audit(persons(97, leak=1.0))["records"]


def test_persons_without_units_are_warned_of() -> None:
    given = persons()
    names = given.pop("unit")
    for column in ("group", "patient"):
        report = audit(given | {column: names})
        assert any(f"of the 100 names in the column {column}" in t for t in report["warnings"])
    rng = np.random.default_rng(0)
    drawn = given | {"member": rng.random(MANY * VISITS) < 0.5, "group": names}
    assert audit(drawn)["warnings"] == []
    for report in (audit(given | {"group": names}), audit(drawn)):
        assert any(one["text"].startswith("Units, such as persons") for one in report["checklist"])


def mixed(given: dict) -> dict:
    member = given["member"].copy()
    member[3] ^= True
    return given | {"member": member}


REFUSED = {
    "members and others": (mixed(persons()), "unit: patient 0 holds"),
    "fewer than are needed": (
        {name: values[:150] for name, values in persons().items()},
        "score: 15 units; an audit needs at least 20",
    ),
    "no name": (persons() | {"unit": ["", *persons()["unit"][1:]]}, "unit is ''; give the unit's"),
    "the record's name": (
        {"record" if name == "unit" else name: one for name, one in persons().items()},
        "share their record's name (patient 0, for example) and say something else",
    ),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_units_that_are_none_are_refused_in_a_line(tmp_path: Path, kind: str) -> None:
    given, said = REFUSED[kind]
    pd.DataFrame(given).to_csv(tmp_path / "s.csv", index=False)
    command = ["audit", str(tmp_path / "s.csv"), "--output", str(tmp_path / "out")]
    done = CliRunner().invoke(cli, command)
    assert isinstance(done.exception, InputError), done.output
    assert said in str(done.exception)
    assert "\n" not in str(done.exception)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("options", [{}, {"design": "coins"}])
def test_one_name_twice_costs_that_record_and_a_line(options: dict) -> None:
    one = scored()
    names = [f"r{i}" for i in range(400)]
    plain = audit(Scored(one.score, one.member, record=names), **options)
    rows = [*range(400), 7]
    again = audit(
        Scored(one.score[rows], one.member[rows], record=[names[i] for i in rows]), **options
    )
    for key in ("auc", "epsilon_lower_bound", "mu_lower_bound", "most_exposed", "records"):
        assert again[key] == plain[key]
    (note,) = again["warnings"]
    assert note.startswith("1 record occurs more than once (r7, for example)")
    assert "1 of 401 rows are not counted" in note
    names[7] = "r8"  # Two rows that say different things: neither has a truth.
    left = audit(Scored(one.score, one.member, record=names), **options)
    keep = np.delete(np.arange(400), [7, 8])
    alone = audit(Scored(one.score[keep], one.member[keep]), **options)
    assert left["epsilon_lower_bound"] == alone["epsilon_lower_bound"]
    assert left["mu_lower_bound"]["value"] > 0
    assert "2 of 400 rows are not counted" in left["warnings"][0]


def test_one_name_twice_on_a_target_costs_it_there() -> None:
    one = scored()
    frame = pd.DataFrame({"member": one.member, "a": one.score, "record": np.arange(400)})
    frame = pd.concat([frame.assign(target=t) for t in "ab"], ignore_index=True)
    again = pd.concat([frame, frame.iloc[[3]]], ignore_index=True)
    first, second = audit(frame), audit(again)
    assert second["attacks"] == first["attacks"]
    assert any("1 of 801 rows" in text for text in second["warnings"])


def test_evidence_with_one_label_twice_keeps_its_bounds() -> None:
    seen = outputs([0], 200, 8)
    plain = compare(seen)
    twice = xr.concat([seen, seen.isel(record=[5])], "record").assign_attrs(seen.attrs)
    again = compare(twice)
    assert again["attacks"] == plain["attacks"]
    assert again["mu_lower_bound"] == plain["mu_lower_bound"]
    assert again["warnings"][0].startswith("1 of 201 records of Digits are others again")
    other = seen.isel(record=[6]).assign_coords(record=[5])
    left = compare(xr.concat([seen, other], "record").assign_attrs(seen.attrs))
    assert left["records"] == 199
    assert left["mu_lower_bound"]["value"] > 0
    copies = compare(seen.assign_attrs(copies=[3, 9]))
    assert copies["records"] == 198


def trained(x, y, seed):
    return LogisticRegression(C=1e4).fit(x, y)


def test_gathering_draws_units_whole_and_the_report_judges_them(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(160, 6)), np.arange(160) % 2
    units = np.arange(160) // 4
    seen = gather(x, y, trained, n_reference=4, n_targets=1, units=units, draw="halves")
    for mask in seen["member"].values:
        whole = np.bincount(units, mask)
        assert set(whole) <= {0, 4}
    report = compare(seen)
    assert report["units"] == {"records": 160, "units": 40}
    assert report["strongest"]["records"] == {"members": 20, "non_members": 20}
    assert report["strongest"]["most_exposed"][0]["record"] in {str(i) for i in range(40)}
    write(report, None, tmp_path, "mine")
    assert "160 records were taken together as 40 units" in (tmp_path / "audit.html").read_text()
    member = np.arange(160) < 82
    model = trained(x[member], y[member], 0)
    with pytest.raises(InputError, match="unit: 20 holds 2 members and 2 others"):
        gather(x, y, trained, model=model, member=member, units=units)
    with pytest.raises(InputError, match="units has shape"):
        gather(x, y, trained, units=units[:9])


@pytest.mark.slow
def test_with_no_leak_at_all_units_keep_what_is_promised() -> None:
    """Ten visits a patient, in or out whole: records by themselves would break both numbers."""
    runs, held, refuted, broken = 300, 0, 0, 0
    for seed in range(runs):
        given = persons(seed)
        of_units = Scored(given["score"], given["member"], unit=given["unit"])
        units, records = (of_units.score, of_units.member), (given["score"], given["member"])
        low, high = metrics.auc_interval(*units)
        held += low <= 0.5 <= high
        refuted += privacy.epsilon_lower_bound(*units, delta=1e-5) > 0
        low, high = metrics.auc_interval(*records)
        broken += not low <= 0.5 <= high
    assert 0.93 * runs - 4 <= held <= 0.97 * runs + 4
    assert refuted <= 0.05 * runs
    assert broken > 0.3 * runs
