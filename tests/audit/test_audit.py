"""The audit of one attack's scores: the file, the numbers, the page, and what is refused."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from membership import metrics
from membership.audit import Scored, audit, read_scores
from membership.cli import cli
from membership.errors import InputError

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
    assert {one["group"] for one in report["groups"]} == set(groups)
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "http" not in page.replace("http://www.w3.org", "").replace(
        "http://purl.org", ""
    ).replace("http://creativecommons.org", "").replace("https://matplotlib.org", "")


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


BAD = {
    "nan": (table(score=["nan", *["0.5"] * (2 * N - 2), "0.1"]), "line 2: score is 'nan'"),
    "word": (table(score=["1.0", "high", *["0.5"] * (2 * N - 2)]), "line 3: score is 'high'"),
    "infinite": (table(score=["inf", *["0.5"] * (2 * N - 1)]), "score is 'inf'"),
    "tied": (table(score=1.0), "nothing to rank"),
    "members only": (table(member=1), "members only"),
    "others only": (table(member=0), "non-members only"),
    "truth": (table(member=["maybe", *["1"] * (2 * N - 1)]), "member is 'maybe'"),
    "few": (table().iloc[N - 9 : N + 10], "at least 20"),
    "unknown": (table(colour="red"), "has 'colour'"),
    "missing": (table().drop(columns="member"), "lacks member"),
    "empty": (table().head(0), "score has shape"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files_are_refused_in_one_line(tmp_path: Path, name: str) -> None:
    frame, said = BAD[name]
    done = run(written(tmp_path, frame), tmp_path / "out")
    assert isinstance(done.exception, InputError)
    assert said in str(done.exception)
    assert "\n" not in str(done.exception)
    assert not (tmp_path / "out").exists()


def test_files_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "bytes.csv").write_bytes(b"\xff\xfe\x00score")
    (tmp_path / "nothing.csv").write_text("")
    for name, said in (("absent.csv", "cannot read"), ("bytes.csv", "CSV"), ("nothing.csv", "CSV")):
        with pytest.raises(InputError, match=said):
            read_scores(tmp_path / name)
