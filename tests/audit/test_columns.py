"""What lies beside scores in a table is no attack: by its name, or by its numbers."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from membership import tables
from membership.audit import Scored, audit, read_scores, write
from membership.audit.columns import is_no_attack
from membership.errors import InputError
from tests.audit.test_several import Polars, run, three, without

NO_ATTACKS = (
    "index", "Index", "idx", "id", "ID", "ids", "user_id", "userId", "User ID", "record_id",
    "sample.id", "image_idx", "uuid", "row", "row_nr", "rowNumber", "row number", "record_index",
    "level_0", "rn", "label", "Labels", "true_label", "class", "classes", "target_class",
    "predicted", "y", "y_true", "ground truth", "targets", "category", "is_member", "in_train",
    "split", "fold",
)  # fmt: skip
ATTACKS = (
    "loss", "LiRA", "rmia", "attack-p", "attack_r", "label-only", "label_only_distance",
    "p_true_label_given_x", "per_class", "gini_index", "risk_index", "train_loss", "entropy", "x",
    "1", "yeom", "grid", "valid", "mu", "score_1", "negative loss", "lira_online", "IHA", "no_ref",
    "is_member_score", "classifier", "qmia",
)  # fmt: skip


@pytest.mark.parametrize("name", NO_ATTACKS)
def test_a_column_that_is_no_attack_by_its_name_is_refused_unless_asked_for(name: str) -> None:
    frame = three()[["member", "loss", "lira"]]
    odd = frame.assign(**{name: np.arange(len(frame))[::-1] % 7 + frame["loss"]})
    with pytest.raises(InputError) as refused:
        read_scores(odd)
    assert f"column {name!r} is no attack by its name; leave it out, or name" in str(refused.value)
    assert "--attack COLUMN" in str(refused.value)
    assert list(read_scores(odd, ["loss", "lira"]).score) == ["loss", "lira"]
    assert read_scores(odd, [name]).column == name
    assert read_scores(odd.rename(columns={"loss": "score"})).column == "score"


@pytest.mark.parametrize("name", ATTACKS)
def test_a_column_that_may_be_an_attack_by_its_name_is_taken(name: str) -> None:
    frame = three()[["member", "loss"]].rename(columns={"loss": name})
    assert not is_no_attack(name)
    assert read_scores(frame).column == name


def test_attacks_are_chosen_in_python_as_by_the_command() -> None:
    frame = three()[["member", "loss", "lira"]]
    found = audit(frame.assign(id=range(len(frame))), attacks=["loss", "lira"])
    assert without(found, "warnings") == without(audit(frame), "warnings")
    assert "does not read: id." in found["warnings"][0]


MADE: dict[str, object] = {
    "reset_index": lambda frame: frame.reset_index(),
    "reset_index twice": lambda frame: frame.reset_index().reset_index(),
    "named index": lambda frame: frame.rename_axis("user_id").reset_index(),
    "polars": lambda frame: Polars(frame.reset_index()),
}


@pytest.mark.parametrize("way", MADE)
def test_row_numbers_as_programs_write_them_are_refused(way: str) -> None:
    frame = three()[["member", "loss", "lira"]].sort_values("member", ignore_index=True)
    with pytest.raises(InputError, match="is no attack by its name"):
        audit(MADE[way](frame))


def test_an_index_that_pandas_wrote_is_left_out_and_named(tmp_path: Path) -> None:
    three()[["member", "loss", "lira"]].to_csv(tmp_path / "scores.csv")
    pd.read_csv(tmp_path / "scores.csv").to_csv(tmp_path / "again.csv")
    report = audit(read_scores(tmp_path / "again.csv"))
    assert report["provenance"]["columns"] == ["loss", "lira"]
    assert "does not read: one without a name, Unnamed: 0." in report["warnings"][0]


SAID = {
    "numbers": (np.arange(400), "holds each whole number from 0 to 399 once"),
    "numbers from 1, shuffled": (
        np.random.default_rng(0).permutation(400) + 1.0, "holds each whole number from 1 to 400",
    ),
    "rises": (np.arange(400) * 1.5, "never falls from one row to the next"),
    "rises with ties": (np.arange(400) // 7, "never falls"),
    "falls": (-np.sqrt(np.arange(400)), "never rises"),
}  # fmt: skip


def test_a_column_that_is_the_membership_itself_is_said() -> None:
    frame = three()
    said = "is one number for every member and another for all others"
    copy = frame["member"] * 5.0 - 1
    assert audit(frame.assign(kept=copy))["warnings"][0].startswith(f"kept {said}")
    assert audit(Scored(copy, frame["member"]))["warnings"][0].startswith(f"score {said}")
    almost = copy.copy()
    almost.iloc[0] = 7.0
    for right in (almost, 9.0 * frame["member"] + frame["loss"].rank() / len(frame)):
        warnings = audit(Scored(right, frame["member"]))["warnings"]
        assert not any("all others" in one for one in warnings)


@pytest.mark.parametrize("case", SAID)
def test_a_column_that_numbers_or_orders_the_rows_is_said(case: str) -> None:
    score, said = SAID[case]
    first = audit(three().assign(when=score))["warnings"][0]
    assert first.startswith(f"when {said}")
    alone = audit(Scored(score, three()["member"]))
    assert alone["warnings"][0].startswith(f"score {said}")
    tested = next(one["text"] for one in alone["checklist"] if one["status"] == "tested")
    assert tested.endswith("a note says what was found.")


def test_scores_that_do_neither_are_not_said_to() -> None:
    rng = np.random.default_rng(1)
    for score in (rng.normal(size=400), rng.integers(0, 400, 400), rng.permutation(400) / 2):
        said = audit(Scored(score, three()["member"]))["warnings"]
        assert not any("row to the next" in text or "whole number" in text for text in said)


def test_the_page_says_at_its_top_which_columns_were_taken(tmp_path: Path) -> None:
    found, page = run(tmp_path, three().rename(columns={"loss": "<loss>"}))
    assert found["provenance"]["columns"] == ["<loss>", "lira", "rmia"]
    before = page.partition("What does this mean for a release?")[0]
    assert "the columns <strong>&lt;loss&gt;, lira, rmia</strong>" in before
    frame = three()[["member", "lira"]]
    write(audit(frame), frame, tmp_path, "mine")
    one = (tmp_path / "audit.html").read_text()
    assert "the column <strong>lira</strong>" in one.partition("What does this mean")[0]


MASKED = {
    "score": lambda values, mask: {"score": np.ma.masked_array(values, mask)},
    "member": lambda values, mask: {"member": np.ma.masked_array(values > 0, mask)},
    "record": lambda values, mask: {"record": np.ma.masked_array(np.arange(60), mask)},
    "group of words": lambda values, mask: {"group": np.ma.masked_array(["a", "b"] * 30, mask)},
}


@pytest.mark.parametrize("case", MASKED)
def test_what_is_masked_is_refused_wherever_scores_are_given(case: str) -> None:
    rng = np.random.default_rng(0)
    values, member = rng.normal(size=60), np.arange(60) % 2
    given = {"score": values, "member": member, **MASKED[case](values, np.arange(60) == 7)}
    for asked in (audit, lambda given: Scored(**given), read_scores):
        with pytest.raises(InputError, match="entries are masked; leave their records out"):
            asked(given)
    whole = {"score": values, "member": member, **MASKED[case](values, np.zeros(60, bool))}
    assert audit(whole)["provenance"]["inputs"]


@pytest.mark.parametrize(
    "missing",
    [
        lambda v: pd.array([None, *v[1:]], dtype="Float64"),
        lambda v: pd.Series([None, *v[1:]], dtype="Float32"),
        lambda v: [pd.NA, *v[1:]],
    ],
)
def test_what_is_missing_is_refused_by_its_place(missing) -> None:
    values, member = np.random.default_rng(0).normal(size=60), np.arange(60) % 2
    with pytest.raises(InputError, match=r"record 0: loss is '(nan)?'; give a finite number"):
        audit({"loss": missing(values.tolist()), "member": member})


@pytest.mark.parametrize("dtype", ["longdouble", "float16", ">f8", ">i4", "uint64", "float32"])
def test_numbers_of_any_width_are_read(dtype: str) -> None:
    score = np.random.default_rng(0).integers(0, 99, 60).astype(dtype)
    member = np.arange(60) % 2
    found = audit({"loss": score, "member": member})
    assert found["auc"] == audit(Scored(score.astype(float), member))["auc"]


ENDLESS = "import sys\nwhile True: sys.stdout.buffer.write(b'1.0,1\\n' * 10000)"


def test_a_pipe_is_read_to_its_end_or_to_a_stated_size(tmp_path, monkeypatch) -> None:
    """Whatever its size is said to be: of a pipe or a device that is 0."""
    three().to_csv(tmp_path / "scores.csv", index=False)
    wanted = tables.read(tmp_path / "scores.csv")
    with (tmp_path / "scores.csv").open("rb") as file:
        found = tables.read(Path(f"/dev/fd/{file.fileno()}"))
    assert {name: found.words(name) for name in found.columns} == {
        name: wanted.words(name) for name in wanted.columns
    }
    assert found.digest == wanted.digest
    monkeypatch.setattr(tables, "MOST", 1 << 20)
    with subprocess.Popen([sys.executable, "-c", ENDLESS], stdout=subprocess.PIPE) as endless:
        with pytest.raises(InputError, match=r"holds more than 1,048,576 bytes, the most that is"):
            tables.read(Path(f"/dev/fd/{endless.stdout.fileno()}"))
        endless.terminate()
    with pytest.raises(InputError, match="/dev/zero holds more than"):
        read_scores("/dev/zero")


def test_a_report_is_of_what_was_read_even_from_a_pipe(tmp_path: Path) -> None:
    """Which can be read once."""
    three().to_csv(tmp_path / "scores.csv", index=False)
    plain, _ = run(tmp_path, three())
    piped = f"{sys.executable} -m membership audit <(cat scores.csv) --output piped"
    done = subprocess.run(["bash", "-c", piped], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = (tmp_path / "piped" / "audit.json").read_text()
    assert plain["provenance"]["inputs"][0]["sha256"] in found


def test_a_report_is_written_through_links_and_onto_no_device(tmp_path: Path) -> None:
    frame, out = three()[["member", "lira"]], tmp_path / "out"
    out.mkdir()
    (out / "audit.json").symlink_to(tmp_path / "elsewhere.json")
    write(audit(frame), frame, out, "mine")
    assert (out / "audit.json").is_symlink()
    assert (tmp_path / "elsewhere.json").stat().st_size > 1000
    (out / "audit.html").unlink()
    os.mkfifo(out / "audit.html")
    before = (tmp_path / "elsewhere.json").stat().st_mtime_ns
    for asked in (
        lambda: write(audit(frame), frame, out, "mine"),
        lambda: run(tmp_path, frame),
    ):
        with pytest.raises(InputError, match=r"audit\.html: it is a pipe; name a plain file"):
            asked()
    assert (tmp_path / "elsewhere.json").stat().st_mtime_ns == before
