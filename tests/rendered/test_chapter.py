"""What the executed chapter holds: the numbers of a `tiny` run through the real pipeline."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from membership import metrics
from membership.book import exhibits, running
from membership.book.studies.bayes_optimal import logistic, network_tables

CHAPTER = "bayes_optimal"
JUDGES = {"bayes-optimal-tab-1": logistic.judged, "bayes-optimal-tab-2": network_tables.judged}
NOT_RUN = {"bayes-optimal-tab-3"}
# One chapter is run whole, with its pictures; of the others evidence and tables are made again,
# those of times left out: no second run takes as long as the first.
WHOLE = "comparison"
AGAIN = """
import json, sys
from dataclasses import replace
from joblib import Parallel, delayed
from membership.book import running
from membership.book.exhibits import declared
from membership.book.exhibits.chapter import Chapter

whole, place, left_out = sys.argv[1], sys.argv[2], set(json.loads(sys.argv[3]))
given = {"profile": "tiny", "results_dir": place}

def tables(chapter):
    settings = running.settings_class(chapter).from_values(given)
    exhibits = tuple(replace(one, draw=None) for one in declared(chapter))
    again = Chapter(settings, exhibits)
    for one in exhibits:
        if one.id not in left_out and not again.source.lacks(one):
            again.show(one.id)

others = [one for one in running.chapters() if one != whole]
Parallel(n_jobs=2, batch_size=1)(delayed(tables)(one) for one in others)
options = ["--profile", "tiny", "-p", "results_dir", place, "--force", "--quiet"]
running.run_side_by_side([whole], options, 2)
"""


def folder(site, chapter):
    # The site carries no evidence.
    found = site.parents[1] / "results" / "tiny" / chapter
    if not found.is_dir():
        pytest.skip("the site at MEMBERSHIP_SITE holds no tiny run")
    return found


@pytest.fixture(scope="session")
def results(site):
    return folder(site, CHAPTER)


def read(results, end):
    return pd.read_csv(results / f"bayes-optimal-{end}.csv")


@pytest.mark.parametrize("chapter", running.chapters())
def test_every_exhibit_of_a_chapter_is_there(chapter, site):
    found = folder(site, chapter)
    listed = set(exhibits.catalogue().query("chapter == @chapter")["id"]) - NOT_RUN
    assert {path.stem for path in found.glob("*.csv")} == listed
    assert {path.stem for path in found.glob("*.json")} == listed
    for drawing in set(found.glob("*.svg")) - set(found.glob("*.narrow.svg")):
        assert drawing.with_suffix(".pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize("chapter", running.chapters())
def test_records_name_seed_and_versions(chapter, site):
    for path in folder(site, chapter).glob("*.json"):
        record = json.loads(path.read_text())
        assert record["seed"] == 0
        assert record["profile"] == "tiny"
        assert "torch" in record["versions"]


def test_nothing_on_digits_is_called_agreement(results):
    for path in results.glob("*.json"):
        record = json.loads(path.read_text())
        assert "comparison" not in record
        if record["id"] in JUDGES:
            table, _ = exhibits.load(record["id"], record["profile"], results.parents[1])
            assert set(JUDGES[record["id"]](table)["verdict"]) <= {"", "not comparable"}


def test_figure_1_separates_by_record_and_not_by_loss(results):
    records = read(results, "fig-1").query("series == 'record'")
    auc = {
        attack: metrics.auc(rows["score"], rows["member"].astype(bool))
        for attack, rows in records.groupby("attack")
    }
    assert set(auc) == {"MALT", "MAST"}
    assert auc["MAST"] > 0.99 > auc["MALT"] > 0.6


def test_simulated_accuracies_agree_with_the_exact_ones(results):
    rows = read(results, "ctl-1").query("metric == 'attack_accuracy(%)'").set_index("attack")
    rows = rows.drop(index="MAST less MALT")  # a paired difference: no closed form stands beside it
    exact = rows["exact"]
    assert exact["MALT"] == pytest.approx(73.65, abs=0.005)
    assert exact["MAST"] == pytest.approx(99.93, abs=0.005)
    errors = (rows["value"] - exact).abs() / rows["standard_error"].clip(lower=0.05)
    assert (errors < 4).all(), errors


def test_table_1_obeys_the_papers_equation_41(results):
    value = read(results, "tab-1").set_index(["n", "attack", "metric"])["value"]
    for n in (60, 120):
        train = value[n, "(model)", "train_accuracy(%)"]
        test = value[n, "(model)", "validation_accuracy(%)"]
        attack = value[n, "0-1", "attack_accuracy(%)"]
        assert attack == pytest.approx(50 + (train - test) / 2, abs=1e-6)


def test_matt_and_the_loss_difference_rank_records_alike(results):
    rows = read(results, "ctl-3").query("metric == 'rank_correlation'")
    assert (rows["value"] > 0.95).all()


def test_theorem_1_holds_with_the_posterior_and_not_with_the_prior(results):
    table = read(results, "ctl-7")
    for case, rows in table.groupby(["theta", "z"]):
        rows = rows.set_index("expectation")
        exact = rows.loc["exact", "value"]
        sigma = (rows["high"] - rows["low"]) / (2 * 1.96)
        distance = (rows["value"] - exact).abs() / sigma
        assert distance["posterior"] < 4
        # At the mode of the prior the two readings happen to meet.
        assert case == (0.0, 1.0) or distance["prior"] > 10


def test_the_averages_compare_the_readings_of_tau_on_the_networks(results):
    rows = read(results, "ctl-5").query("game == 'networks' and metric == 'auc(%)'")
    assert np.isfinite(rows["value"]).all()
    assert set(rows["attack"]) == {
        "MALT",
        "MAST, log-mean-exp (OUT)",
        "MAST, mean (OUT)",
        "MAST, best separating (IN and OUT)",
        "MAST, mean (IN and OUT)",
    }


@pytest.fixture(scope="module")
def again(site, tmp_path_factory):
    """The results of every chapter made a second time, with nothing in the cache."""
    folder(site, CHAPTER)  # skips where there was no first run
    root, place = site.parents[1], tmp_path_factory.mktemp("again")
    environment = {
        **os.environ,
        "PYTHONPATH": str(root / "src"),
        "MEMBERSHIP_CACHE": str(place / "cache"),
    }
    timed = [one for chapter in running.chapters() for one in of_times(folder(site, chapter))]
    command = [sys.executable, "-c", AGAIN, WHOLE, str(place / "results"), json.dumps(timed)]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return place / "results" / "tiny"


@pytest.mark.parametrize("chapter", running.chapters())
def test_a_second_run_from_nothing_writes_the_same_bytes(chapter, site, again):
    first, again = folder(site, chapter), again / chapter
    left_out, whole = of_times(first), chapter == WHOLE
    endings = {path.suffix for path in first.iterdir()} if whole else {".csv", ".evidence"}
    expected = {path.name for path in first.iterdir() if path.suffix in endings}
    if not whole:
        expected = {name for name in expected if exhibit_of(Path(name)) not in left_out}
    assert {path.name for path in again.iterdir() if path.suffix in endings} == expected
    made = (path for path in again.iterdir() if path.suffix in endings)
    compared = [path for path in made if exhibit_of(path) not in left_out]
    assert len(compared) + len(left_out) >= len(list(first.glob("*.json")))
    for path in compared:
        written = [recorded(folder / path.name, left_out) for folder in (first, again)]
        assert written[0] == written[1], path.name


def of_times(results: Path) -> set[str]:
    """The exhibits of a run that hold times, and the evidence that is theirs alone."""
    timed = {True: set(), False: set()}
    for path in results.glob("*.json"):
        record = json.loads(path.read_text())
        timed[bool(record["timing"])] |= {record["id"], *record["evidence"]}
    return timed[True] - timed[False]


def exhibit_of(path: Path) -> str:
    """What a file shows: an exhibit's drawings have endings of their own (`.narrow.svg`)."""
    return path.name.partition(".")[0]


def recorded(path: Path, left_out: set[str]) -> object:
    """The bytes of a file; of a run's record, what it says of files whose bytes are no times."""
    if path.name != "run.manifest":
        return path.read_bytes()
    (run,) = json.loads(path.read_text())["runs"]
    return run | {
        "files": {n: d for n, d in run["files"].items() if exhibit_of(Path(n)) not in left_out}
    }
