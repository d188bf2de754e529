"""The same file twice, and its rows in another order: the same report."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from click.testing import CliRunner

from membership import evidence
from membership.book.cli import cli
from tests.audit.test_comparison import outputs

N = 240
ATTACKS = ("loss", "lira", "rmia")


def rows(*attacks: str, targets: int = 1, ties: bool = False) -> pd.DataFrame:
    """Scores of each attack on records that every target was asked."""
    rng = np.random.default_rng(6)
    parts = []
    for target in range(targets):
        member = rng.random(N) < 0.5
        part = {"record": [f"r{i}" for i in range(N)], "member": member.astype(int)}
        for at, name in enumerate(attacks):
            score = rng.normal(size=N) + (0.5 + 0.2 * at) * member
            part[name] = score.round() if ties else score
        parts.append(pd.DataFrame(part).assign(target=f"m{target}"))
    frame = pd.concat(parts, ignore_index=True)
    return frame if targets > 1 else frame.drop(columns="target")


def grouped(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(group=[f"g{int(name[1:]) % 3}" for name in frame["record"]])


CASES: dict[str, tuple[pd.DataFrame, list[str]]] = {
    "one attack": (rows("score"), []),
    "tied scores": (rows("score", ties=True), []),
    "groups": (grouped(rows("score")), []),
    "coins": (rows("score"), ["--design", "coins"]),
    "coins, tied": (rows("score", ties=True), ["--design", "coins"]),
    "several attacks": (rows(*ATTACKS), []),
    "several attacks, tied": (grouped(rows(*ATTACKS, ties=True)), []),
    "one attack of several targets": (rows("score", targets=3), []),
    "several attacks, targets and groups": (grouped(rows(*ATTACKS, targets=3)), []),
}


def audited(folder: Path, frame: pd.DataFrame, options: list[str]) -> str:
    frame.to_csv(folder / "scores.csv", index=False)
    given = ["audit", str(folder / "scores.csv"), "--output", str(folder / "out"), *options]
    done = CliRunner().invoke(cli, given)
    assert done.exit_code == 0, done.output
    return (folder / "out" / "audit.json").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_a_report_is_the_same_twice_and_in_any_order_of_rows(tmp_path: Path, case: str) -> None:
    frame, options = CASES[case]
    first = audited(tmp_path, frame, options)
    assert audited(tmp_path, frame, options) == first
    wanted = json.loads(first)
    for seed in range(3):
        found = json.loads(audited(tmp_path, frame.sample(frac=1, random_state=seed), options))
        # The digest is of the file, which is another.
        assert found.pop("provenance") != wanted["provenance"]
        assert found == {key: value for key, value in wanted.items() if key != "provenance"}


def observed(targets: list[int], order: np.ndarray) -> xr.Dataset:
    """What models answer, with the records in this order."""
    return outputs(targets, records=120, models=12, label=np.arange(120) % 3).isel(record=order)


@pytest.mark.slow
@pytest.mark.parametrize("targets", [[0], [0, 1, 2]], ids=["one target", "three targets"])
def test_evidence_gives_the_same_report_twice_and_in_any_order_of_records(
    tmp_path: Path, targets: list[int]
) -> None:
    def report(order: np.ndarray) -> dict:
        evidence.save(tmp_path / "own.evidence", observed(targets, order))
        given = ["audit", str(tmp_path / "own.evidence"), "--output", str(tmp_path / "out")]
        done = CliRunner().invoke(cli, given)
        assert done.exit_code == 0, done.output
        return json.loads((tmp_path / "out" / "audit.json").read_text(encoding="utf-8"))

    first = report(np.arange(120))
    assert report(np.arange(120)) == first
    shuffled = report(np.random.default_rng(1).permutation(120))
    # The digest is of the file, which is another.
    assert shuffled.pop("provenance") != first.pop("provenance")
    assert shuffled == first
