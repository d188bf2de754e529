"""The audit of one attack's scores: the file, the numbers, the page, and what is refused."""

import datetime
import gzip
import hashlib
import json
import os
import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy import stats

from membership import metrics, privacy
from membership.audit import Scored, audit, read_scores, write
from membership.book.cli import cli
from membership.errors import InputError
from tests.audit import odd_scores

N = 400


def table(**columns) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    score = np.r_[rng.normal(1, 1, N), rng.normal(0, 1, N)]
    return pd.DataFrame({"score": score, "member": (np.arange(2 * N) < N).astype(int), **columns})


def written(folder: Path, frame: pd.DataFrame, name: str = "scores.csv") -> Path:
    path = folder / name
    frame.to_csv(path, index=False)
    return path


def run(path: Path, folder: Path):
    return CliRunner().invoke(cli, ["audit", str(path), "--output", str(folder)])


def test_the_command_writes_a_page_and_its_numbers(tmp_path: Path) -> None:
    groups = np.where(np.arange(2 * N) % 2, "even", "<script>alert(1)</script>")
    path = written(tmp_path, table(group=groups, record=[f"r{i}" for i in range(2 * N)]))
    done = run(path, tmp_path / "out")
    assert done.exit_code == 0, done.output
    report = json.loads((tmp_path / "out/audit.json").read_text())
    page = (tmp_path / "out/audit.html").read_text()
    scored = read_scores(path)
    assert report["auc"]["value"] == metrics.auc(scored.score, scored.member)
    assert report["auc"]["low"] < report["auc"]["value"] < report["auc"]["high"]
    assert [rate["fpr"] for rate in report["tpr_at_fpr"]] == [0.001, 0.01, 0.1]
    assert report["epsilon_lower_bound"]["level"] == report["mu_lower_bound"]["level"] == 0.95
    assert report["epsilon_lower_bound"]["value"] > 0
    assert report["epsilon_lower_bound"]["delta"] == 1e-5
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    made = report["provenance"]
    assert made["inputs"] == [{"name": "scores.csv", "sha256": digest}]
    assert made["command"] == "membership audit scores.csv --level=0.95 --delta=1e-05"
    assert digest in page
    assert all(text.split("%")[0] in page for text in report["meaning"])
    assert {one["group"] for one in report["groups"]} == set(groups)
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "http" not in page.replace("http://www.w3.org", "").replace(
        "http://purl.org", ""
    ).replace("http://creativecommons.org", "").replace("https://matplotlib.org", "")


def test_rows_in_another_order_give_the_same_json(tmp_path: Path) -> None:
    frame = table(record=[f"r{i}" for i in range(2 * N)], group=np.arange(2 * N) % 3)
    reports = []
    for i, rows in enumerate((frame, frame, frame.sample(frac=1, random_state=1))):
        assert run(written(tmp_path, rows), tmp_path / str(i)).exit_code == 0
        reports.append((tmp_path / str(i) / "audit.json").read_text())
    assert reports[0] == reports[1]
    first, last = (json.loads(reports[i]) | {"provenance": None} for i in (0, 2))
    assert first == last


@pytest.mark.slow
def test_groups_have_intervals_that_hold_for_all_at_once() -> None:
    rng, covered, g = np.random.default_rng(1), 0, 5
    for _ in range(100):
        member = np.arange(400) < 200
        score, group = rng.normal(size=400), rng.permutation(np.arange(400) % g)
        report = audit(Scored(score, member, group=group))
        areas = [one["auc"] for one in report["groups"]]
        covered += all(one["low"] <= 0.5 <= one["high"] for one in areas)
    assert report["group_level"] == 1 - 0.05 / g
    assert covered >= 95 - 3 * 2.2
    threshold = np.quantile(score[~member], 0.99, method="higher")
    one, rows = report["groups"][0], (group == 0) & member
    hits = stats.binomtest(int((score[rows] > threshold).sum()), int(rows.sum()))
    limits = hits.proportion_ci(report["group_level"], method="exact")
    assert (one["tpr"]["low"], one["tpr"]["high"]) == pytest.approx(limits)


def test_a_group_of_one_has_the_widest_interval_and_no_auc() -> None:
    group = np.where(np.arange(2 * N) == 0, "one", "rest")
    report = audit(Scored(table()["score"], table()["member"], group=group))
    (one,) = (each for each in report["groups"] if each["group"] == "one")
    assert (one["auc"], one["fpr"]) == (None, None)
    assert one["tpr"]["high"] - one["tpr"]["low"] > 0.95


def test_the_meaning_follows_the_numbers() -> None:
    leaks = audit(Scored(table()["score"], table()["member"]))
    assert "finds" in leaks["meaning"][0]
    guesses = audit(Scored(np.arange(100) // 2, np.arange(100) % 2))
    assert "does not tell" in guesses["meaning"][0]
    assert guesses["meaning"][-1] == leaks["meaning"][-1]
    assert "Guessing finds 10%" in leaks["meaning"][0]
    assert "By its AUC" not in leaks["meaning"][0]
    member = np.arange(200) < 100
    # The lowest scores are others' alone: no high threshold accuses few of them.
    low = np.where(~member & (np.arange(200) % 3 == 0), -9.0, 1.0 * (np.arange(200) % 50))
    by_auc = audit(Scored(low, member))
    assert by_auc["auc"]["low"] > 0.5
    assert by_auc["tpr_at_fpr"][2]["low"] <= 0.1
    assert "better than guessing; at that rate it may not" in by_auc["meaning"][0]


def test_the_meaning_names_a_group_that_is_found_more_often_than_all(tmp_path: Path) -> None:
    rng, n = np.random.default_rng(2), 2000
    member, small = rng.random(n) < 0.5, rng.random(n) < 0.1
    score = rng.normal(size=n) + np.where(small, 2.0, 0.5) * member
    scored = Scored(score, member, group=np.where(small, "<ward>", "rest"))
    report = audit(scored)
    (ward,) = (one for one in report["groups"] if one["group"] == "<ward>")
    low, high = (f"{100 * ward['tpr'][end]:.1f}%" for end in ("low", "high"))
    assert "group <ward>" in report["meaning"][1]
    assert report["meaning"][1].endswith(f"finds {low} to {high}.")
    write(report, scored, tmp_path, "wards")
    page = (tmp_path / "audit.html").read_text()
    assert "group &lt;ward&gt;" in page
    assert f"<td>0 of {(~member).sum()}</td>" in page
    alike = audit(Scored(score, member, group=np.arange(n) % 2))
    assert alike["meaning"] == audit(Scored(score, member))["meaning"]


def test_at_a_delta_of_0_gaussian_privacy_has_no_epsilon(tmp_path: Path) -> None:
    scored = Scored(table()["score"], table()["member"])
    assert audit(scored, delta=0)["mu_lower_bound"]["epsilon"] is None
    found = audit(scored)["mu_lower_bound"]
    assert found["epsilon"] == privacy.gaussian_epsilon(found["value"], 1e-5)
    write(audit(scored, delta=0), scored, tmp_path, "mine")
    assert "which is an epsilon" not in (tmp_path / "audit.html").read_text()


def test_ten_thousand_groups_are_each_judged_by_their_own_records() -> None:
    n = 20_000
    rng = np.random.default_rng(0)
    score, member = rng.normal(size=n), rng.random(n) < 0.5
    group = np.char.add("g", rng.integers(0, 10_000, n).astype(str))
    groups = audit(Scored(score, member, group=group))["groups"]
    assert [one["group"] for one in groups] == np.unique(group).tolist()
    counts = pd.DataFrame({"group": group, "member": member}).groupby("group")["member"]
    assert [one["members"] for one in groups] == counts.sum().tolist()
    assert [one["non_members"] for one in groups] == (counts.size() - counts.sum()).tolist()


def test_arrays_give_what_the_file_gives(tmp_path: Path) -> None:
    frame = table()
    from_file = audit(read_scores(written(tmp_path, frame)))
    assert audit(Scored(frame["score"].to_numpy(), frame["member"].to_numpy())) == from_file


def test_the_most_exposed_are_members_in_order() -> None:
    frame = table()
    found = audit(Scored(frame["score"], frame["member"]))["most_exposed"]
    members = frame["score"][frame["member"] == 1].sort_values(ascending=False)
    assert [one["score"] for one in found] == members.head(20).tolist()
    assert found[0]["record"] == str(members.index[0])
    others = frame["score"][frame["member"] == 0]
    assert found[-1]["fpr"] == pytest.approx((others >= members.iloc[19]).mean())


def test_the_predictive_value_follows_bayes_rule() -> None:
    report = audit(Scored(table()["score"], table()["member"]))
    rate = report["tpr_at_fpr"][2]
    value = next(
        one
        for one in report["positive_predictive_value"]
        if (one["fpr"], one["prior"]) == (0.1, 0.01)
    )
    assert value["value"] == pytest.approx(rate["value"] * 0.01 / (rate["value"] * 0.01 + 0.099))


def test_a_rate_that_few_non_members_carry_says_so() -> None:
    rates = audit(Scored(table()["score"], table()["member"]))["tpr_at_fpr"]
    assert [rate["measured"] for rate in rates] == [False, False, True]


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (table(score=-table()["score"]), "score lower"),
        (table(score=np.round(table()["score"])), "share one score"),
        (
            table(record=["same", *map(str, range(2 * N - 1))]).replace("7", "same"),
            "more than once",
        ),
    ],
)
def test_warnings(frame: pd.DataFrame, said: str) -> None:
    scored = Scored(frame["score"], frame["member"], record=frame.get("record"))
    assert any(said in text for text in audit(scored)["warnings"])


def test_permuted_membership_is_guessing() -> None:
    member = np.random.default_rng(0).permutation(table()["member"].to_numpy())
    report = audit(Scored(table()["score"], member))
    assert report["auc"]["low"] < 0.5 < report["auc"]["high"]
    assert report["epsilon_lower_bound"]["value"] == 0


NOT_READ = {
    "further.csv": ("id", "loss"),
    "index.csv": ("",),
    "broken_cell.csv": ("note",),
}


@pytest.mark.parametrize("name", odd_scores.READ)
def test_every_way_of_writing_a_table_gives_the_same_audit(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(odd_scores.content(odd_scores.READ[name]))
    scored = read_scores(tmp_path / name)
    assert list(zip(scored.score.tolist(), scored.member.tolist(), strict=True)) == odd_scores.ROWS
    assert scored.not_read == NOT_READ.get(name, ())
    told = [text for text in audit(scored)["warnings"] if "does not read" in text]
    assert bool(told) == bool(scored.not_read)


@pytest.mark.parametrize("name", odd_scores.REFUSED)
def test_every_other_table_is_refused_in_a_line(tmp_path: Path, name: str) -> None:
    given, said = odd_scores.REFUSED[name]
    (tmp_path / name).write_bytes(odd_scores.content(given))
    done = run(tmp_path / name, tmp_path / "out")
    assert isinstance(done.exception, InputError)
    assert said in str(done.exception)
    assert "\n" not in str(done.exception)
    assert not (tmp_path / "out").exists()


def test_a_file_packed_in_two_parts_is_read_whole(tmp_path: Path) -> None:
    halves = odd_scores.PLAIN[:99].encode(), odd_scores.PLAIN[99:].encode()
    (tmp_path / "scores.csv.gz").write_bytes(b"".join(map(gzip.compress, halves)))
    assert read_scores(tmp_path / "scores.csv.gz").score.size == len(odd_scores.ROWS)


@pytest.mark.parametrize("column", ["score", "member", "group"])
@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (lambda n: [[1.0]] * n, r"holds (list|ndarray); give one number or word a record"),
        (lambda n: [{"a": 1}] * n, "holds dict; give one number or word"),
        (lambda n: [b"1.5"] * n, "holds bytes; give one number or word"),
        (lambda n: [datetime.timedelta(days=1)] * n, "holds Timedelta; give one number"),
        (
            lambda n: [datetime.datetime(2020, 1, 1 + i % 9) for i in range(n)],
            "'2020-01-01 00:0",
        ),
    ],
    ids=["lists", "structures", "bytes", "spans of time", "dates"],
)
def test_cells_that_are_no_numbers_are_refused_whatever_holds_them(
    tmp_path: Path, column: str, cells, message: str
) -> None:
    n = 40
    plain = {"score": np.arange(n) % 7 / 3, "member": np.arange(n) % 2, "group": ["a", "b"] * 20}
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({**plain, column: cells(n)})
    frame.to_parquet(tmp_path / "scores.parquet")
    if column == "group" and "2020" in message:
        assert len(audit(read_scores(tmp_path / "scores.parquet"))["groups"]) == 9
        return
    for source in (tmp_path / "scores.parquet", frame):
        with pytest.raises(InputError, match=message):
            read_scores(source)
    # What is not read may be anything.
    other = pd.DataFrame({**plain, "odd": cells(n)})
    assert "does not read: odd." in audit(other)["warnings"][0]


def test_a_parquet_file_of_scores_is_read(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    scores, members = zip(*odd_scores.ROWS, strict=True)
    frame = pd.DataFrame({"Score": scores, "member": [bool(m) for m in members]})
    frame.to_parquet(tmp_path / "scores.parquet")
    scored = read_scores(tmp_path / "scores.parquet")
    assert (scored.score.tolist(), scored.member.tolist()) == (list(scores), list(members))
    frame.assign(Score=np.nan).to_parquet(tmp_path / "x.parquet")
    with pytest.raises(InputError, match=r"x.parquet, record 0: Score is 'nan'; give a finite"):
        read_scores(tmp_path / "x.parquet")


def test_a_long_name_takes_its_own_room_and_many_groups_are_each_counted(tmp_path: Path) -> None:
    rng, n = np.random.default_rng(0), 20_000
    record = [*map(str, range(n - 1)), "x" * 100_000]
    groups = np.array([f"g{i}" for i in rng.integers(0, n // 4, n)])
    frame = pd.DataFrame({"score": rng.normal(size=n), "member": np.arange(n) % 2})
    path = written(tmp_path, frame.assign(group=groups, record=record))
    tracemalloc.start()
    scored = read_scores(path)
    assert tracemalloc.get_traced_memory()[1] < 50e6
    tracemalloc.stop()
    found = audit(scored)["groups"]
    for one in (found[0], found[-1]):
        rows = groups == one["group"]
        assert one["members"] == frame["member"][rows].sum()
        assert one["non_members"] == rows.sum() - one["members"]


def test_a_file_name_that_is_no_utf8_is_audited(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"sc\xffores.csv")
    path.write_text(odd_scores.PLAIN)
    assert run(path, tmp_path / "out").exit_code == 0
    assert "sc?ores.csv" in (tmp_path / "out/audit.html").read_text(encoding="utf-8")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot read .*absent\.csv: No such file"):
        read_scores(tmp_path / "absent.csv")


def test_settings_from_numpy_make_plain_json(tmp_path: Path) -> None:
    frame = table(other=np.arange(2 * N) % 7).drop(columns="score").assign(mine=table()["score"])
    given = {"level": np.float64(0.9), "delta": np.float32(0.25), "seed": np.int64(3)}
    for scores in (table(), frame):
        report = audit(scores, **given)
        write(report, scores, tmp_path, "mine")
        assert json.loads((tmp_path / "audit.json").read_text()) == report
        assert (report["level"], report["epsilon_lower_bound"]["delta"]) == (0.9, 0.25)
