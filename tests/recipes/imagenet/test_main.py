"""The command: what it saves, and how it ends on bad input."""

import subprocess
import sys

import pytest

from membership.book import exhibits
from membership.errors import RunError
from recipes.imagenet import table
from recipes.imagenet.__main__ import EXHIBIT, main

pytestmark = pytest.mark.slow

SMALL = "--models resnet18 --epochs 1 --batch-size 5 --image-size 32 --device cpu --n-jobs 1"


@pytest.fixture
def arguments(imagenet, tmp_path):
    return ["--root", str(imagenet), "--out", str(tmp_path / "results"), *SMALL.split()]


def test_the_run_is_saved_as_an_exhibit_the_same_twice(arguments, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(table, "AUGMENTATIONS", table.AUGMENTATIONS[-1:])
    assert main(arguments) == 0
    assert "resnet18, aug=Flip, Crop" in capsys.readouterr().out
    found, record = exhibits.load(EXHIBIT, root=tmp_path / "results")
    assert len(found) == 5
    assert record["sizes"]["Networks"] == "resnet18"
    assert "data_root" not in str(record)
    assert record["setup"]["networks"]["recipe"]["image_size"] == 32
    folder = tmp_path / "results/paper/bayes_optimal"
    first = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert sorted(first) == [f"{EXHIBIT}.csv", f"{EXHIBIT}.json", "run.manifest"]
    assert main(arguments) == 0
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == first


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (["--root", "/nowhere"], "/nowhere/train: no such folder"),
        (["--models", "resnet20"], "should name each network once"),
        (["--seed", "-1"], "parameter 'seed' = -1"),
        (["--device", "tpu"], "parameter 'device' = 'tpu'"),
        (["--out", "/proc/nowhere"], "cannot write /proc/nowhere"),
    ],
)
def test_bad_input_exits_2_with_one_line(arguments, change, message, capsys, monkeypatch):
    monkeypatch.setattr(table, "train", None)
    assert main([*arguments, *change]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_a_damaged_image_exits_2_and_writes_nothing(arguments, damaged, tmp_path, capsys):
    assert main(arguments) == 2
    assert f"{damaged}: unreadable image" in capsys.readouterr().err
    assert [path for path in (tmp_path / "results").rglob("*") if path.is_file()] == []


@pytest.mark.parametrize(
    ("raised", "message"),
    [(RunError("training diverged"), "training diverged"), (KeyboardInterrupt(), "stopped; the")],
)
def test_a_failed_or_stopped_run_exits_1(arguments, raised, message, capsys, monkeypatch):
    def fail(*_):
        raise raised

    monkeypatch.setattr(table, "train", fail)
    assert main(arguments) == 1
    assert message in capsys.readouterr().err


def test_the_module_runs_as_a_command(imagenet):
    command = [sys.executable, "-m", "recipes.imagenet"]
    done = subprocess.run(
        [*command, "--root", "/nowhere"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr == (
        "/nowhere/train: no such folder; expected one folder a class with its images\n"
    )
