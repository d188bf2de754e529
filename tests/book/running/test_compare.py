"""Numbers of several runs as one table: spread over seeds, and two runs side by side."""

import hashlib

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy import stats

from membership.book import cli, manifest
from membership.book.exhibits import files
from membership.book.running import compare
from membership.errors import InputError

CHAPTER, IDS = "loss_enough", ("loss-enough-ctl-1", "loss-enough-fig-1")


def save(root, exhibit, table, *, seed=0, chapter=CHAPTER):
    """Save a table as a run saves it, and note the run as the command does."""
    target = files.location(exhibit, chapter, "tiny", root)
    content = files.csv_bytes(table)
    record = {"csv_sha256": hashlib.sha256(content).hexdigest(), "seed": seed}
    target.parent.mkdir(parents=True, exist_ok=True)
    parts = {".csv": content, ".json": files.json_bytes(record)}
    for suffix, part in parts.items():
        target.with_name(target.name + suffix).write_bytes(part)
    written = {target.name + s: hashlib.sha256(c).hexdigest() for s, c in parts.items()}
    described = {"written_by": manifest.COMMAND, "parameters": {"seed": seed}, "commit": "abc"}
    manifest.enter(target.parent, described, written)
    return compare.saved(root)


def table(*values, attack=("LOSS", "IHA<b>")):
    named = zip(attack[: len(values)], values, strict=True)
    rows = [(name, "AUC", value, value - 0.1, value + 0.1) for name, value in named]
    return pd.DataFrame(rows, columns=["attack", "metric", "value", "low", "high"])


def test_the_numbers_of_a_run_are_those_of_its_tidy_tables(tmp_path):
    save(tmp_path, IDS[1], table(0.5, 0.75))
    curve = pd.DataFrame({"fpr": [0.0, 1.0], "tpr": [0.0, 1.0]})
    save(tmp_path, IDS[0], curve)
    found = compare.numbers(CHAPTER, "tiny", tmp_path)
    assert set(found["exhibit"]) == {IDS[1]}
    assert found["value"].tolist() == [0.5, 0.75]
    assert found["row"].tolist() == ["LOSS", "IHA<b>"]
    assert (found["low"] < found["value"]).all()


def test_the_spread_over_seeds_is_that_of_the_values():
    rng = np.random.default_rng(0)
    draws = rng.normal(size=(2, 7))
    runs = [
        ({"seed": str(seed), "noise": noise}, row(draws[place, seed]))
        for place, noise in enumerate(("0.1", "0.2"))
        for seed in range(7)
    ]
    both = compare.merged(runs)
    assert list(both.columns[:2]) == ["seed", "noise"]
    assert len(both) == 14
    found = compare.spread(both, ["seed", "noise"])
    assert found["noise"].tolist() == ["0.1", "0.2"]
    assert (found["runs"] == 7).all()
    for place, told in found.iterrows():
        values = draws[place]
        slow = stats.ttest_1samp(values, 0).confidence_interval(0.95)
        np.testing.assert_allclose(told[["low", "high"]].astype(float), [slow.low, slow.high])
        assert told["mean"] == pytest.approx(sum(values) / 7)
        assert told["sd"] == pytest.approx(np.sqrt(((values - values.mean()) ** 2).sum() / 6))
        assert (told["least"], told["most"]) == (values.min(), values.max())


def row(value):
    number = ("iha-tab-2", "Table 2", "LOSS", "AUC", value, value, value)
    return pd.DataFrame([number], columns=[*compare.NUMBER, "value", "low", "high"])


def test_one_run_has_no_spread():
    found = compare.spread(row(0.5), [])
    assert found.loc[0, "mean"] == 0.5
    assert found[["sd", "low", "high"]].isna().all(axis=None)


def test_two_runs_side_by_side(tmp_path):
    first = save(tmp_path / "a", IDS[1], table(0.5, 0.75))
    second = save(tmp_path / "b", IDS[1], table(0.625, 0.25, attack=("LOSS", "LiRA")), seed=3)
    found = compare.compare(first, second).set_index("row")
    assert found.loc["LOSS", ["first", "second", "difference"]].tolist() == [0.5, 0.625, 0.125]
    assert np.isnan(found.loc["IHA<b>", "second"])
    assert np.isnan(found.loc["LiRA", "first"])
    asked = compare.asked(first, second)
    assert asked.to_numpy().tolist() == [["seed", "0", "3"]]
    assert len(compare.asked(first, first)) == 0


def test_what_cannot_be_compared_is_refused(tmp_path):
    first = save(tmp_path / "a", IDS[1], table(0.5, 0.75))
    with pytest.raises(InputError, match="no run lies in"):
        compare.saved(tmp_path / "nowhere")
    other = save(tmp_path / "b", "lood-ctl-1", table(0.5), chapter="lood")
    with pytest.raises(InputError, match="of loss_enough and lood"):
        compare.compare(first, other)
    with pytest.raises(InputError, match="2 runs lie in"):
        save(tmp_path / "a", "lood-ctl-1", table(0.5), chapter="lood")
    (first.folder / f"{IDS[1]}.csv").write_text("changed")
    with pytest.raises(InputError, match="not the file that its run wrote"):
        compare.compare(first, first)


@pytest.mark.slow
def test_the_command_compares_and_writes_the_table(project, tmp_path):
    for name, value in (("a", 0.5), ("b", 0.75)):
        save(tmp_path / name, IDS[1], table(value, value))
    (project.root / "notebooks" / "loss_enough.md").write_text("# A stand-in\n")
    done = project.run("compare", "a", "b", "--output", "both", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    written = pd.read_csv(tmp_path / "both" / "compare.csv")
    assert written["difference"].tolist() == [0.25, 0.25]
    assert [path.name for path in (tmp_path / "both").iterdir()] == ["compare.csv"]
    assert "2 of 2 numbers" in done.stdout
    words = ["compare", str(tmp_path / "a"), str(tmp_path / "b"), "--exhibit", "loss-enough-fig-9"]
    wrong = CliRunner().invoke(cli.cli, words)
    assert isinstance(wrong.exception, InputError)
    assert "did you mean" in str(wrong.exception)
    assert wrong.output == ""
