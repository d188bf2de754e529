"""Bad input is refused: exit code 2, one line, no traceback, and nothing is written.

Every case runs the command in this process; what would start a notebook fails the case. The last
few run the real command. Parameters' cases are made from the settings, so that a new parameter is
tried without a line here.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import get_origin

import pytest

from membership import paths
from membership.book import cli, running
from membership.book.settings import ChapterSettings
from tests.faults import bad_files

REPOSITORY = Path(__file__).parents[2]
CHAPTERS = running.chapters()
BEYOND = "9" * 5000
DEEP = "[" * 100_000


@pytest.fixture
def house(tmp_path, monkeypatch):
    """A project of its own: the chapters and the registry, and nothing else."""
    root = tmp_path / "house"
    (root / "data").mkdir(parents=True)
    written = shutil.ignore_patterns("*.ipynb")  # by `make notebooks`, and large
    shutil.copytree(REPOSITORY / "notebooks", root / "notebooks", ignore=written)
    shutil.copy(REPOSITORY / "_toc.yml", root)
    for name in ("registry.toml", "cifar10-duplicates.csv"):
        if (REPOSITORY / "data" / name).is_file():
            shutil.copy(REPOSITORY / "data" / name, root / "data")
    for name in ("project_root", "checkout"):
        monkeypatch.setattr(paths, name, lambda: root)
    monkeypatch.chdir(tmp_path)
    for name in ("MEMBERSHIP_DATA", "MEMBERSHIP_CACHE"):
        monkeypatch.delenv(name, raising=False)

    def began(*_, **__):
        raise AssertionError("the work began")

    monkeypatch.setattr(running, "run_notebook", began)
    monkeypatch.setattr(subprocess, "run", began)
    return root


@pytest.fixture
def refused(house, monkeypatch, capsys):
    """Give the command these words; it must refuse them. Returns its one line."""

    def attempt(*words: str, code: int = 2) -> str:
        before = listing(house.parent)
        monkeypatch.setattr(sys, "argv", ["membership", *words])
        with pytest.raises(SystemExit) as left:
            cli.main()
        told = capsys.readouterr()
        assert (left.value.code, told.out) == (code, ""), told
        assert told.err.startswith("membership: ")
        (line,) = told.err.splitlines()
        assert "Traceback" not in line
        assert "fault of the program" not in line
        assert len(line) < 1500
        assert listing(house.parent) == before
        return line

    return attempt


def listing(folder: Path) -> list[tuple[str, int]]:
    """Every file and folder with its size."""
    found = [path for path in folder.rglob("*") if not path.is_symlink()]
    return sorted((str(path), path.stat().st_size if path.is_file() else 0) for path in found)


def says_which(line: str, name: str, value: str) -> bool:
    """Whether a refusal names the parameter or, of a list, the entry that it refuses."""
    kind = name.removeprefix("also_").removesuffix("s")  # what an entry of a list is called
    return kind in line or any(entry in line for entry in re.findall(r"[\w.:-]{3,}", value))


def misspelt(name: str) -> str:
    return name[:-1] + "_" + name[-1]


def wrong_values(settings: type[ChapterSettings], name: str) -> list[str]:
    """Text that the parameter must refuse: of another type, out of range, too long or too large."""
    field = settings.model_fields[name]
    if field.annotation is int:
        return ["five", "1.5", "true", "[1]", "", "-1", "1" + "0" * 30, BEYOND]
    if field.annotation is float:
        return ["five", "true", "nan", "-0.5", "1e308", "1e-320", DEEP]
    if get_origin(field.annotation) is list:
        sized = json.dumps([7] * 200) if "int" in str(field.annotation) else json.dumps(["a"] * 200)
        return ["five", "5", '{"a": 1}', "[[1]]", "[null]", sized, DEEP]
    if name in ("architecture", "feature_network", "device", "profile"):
        return ["nonsense", "x" * 5000, "a\nb", "mlp-0"]
    return ["x" * 5000, "a\nb", "~nosuchuser/x.npz", "\udcff/x.npz", "/dev/null/x.npz"]


PARAMETERS = [
    (chapter, name) for chapter in CHAPTERS for name in running.settings_class(chapter).model_fields
]


@pytest.mark.parametrize(("chapter", "name"), PARAMETERS)
def test_a_misspelt_parameter_is_named_with_the_right_one(refused, chapter, name):
    line = refused("run", chapter, "-p", misspelt(name), "1")
    assert f"unknown parameter {misspelt(name)!r}; did you mean {name!r}?" in line


@pytest.mark.slow
@pytest.mark.parametrize(("chapter", "name"), PARAMETERS)
def test_a_wrong_value_is_refused(refused, chapter, name):
    profile = () if name == "profile" else ("--profile", "tiny")
    for value in wrong_values(running.settings_class(chapter), name):
        line = refused("run", chapter, *profile, "-p", name, value)
        assert says_which(line, name, value), value[:12]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("run bmi", "'bmi'; did you mean 'bmia'?"),
        ("list bmi", "'bmi'; did you mean 'bmia'?"),
        ("run bmia -p n_target 5", "unknown parameter 'n_target'; did you mean 'n_targets'?"),
        ("run bmia -p n_targets five", "parameter 'n_targets' = 'five'"),
        ("run bmia -p n_targets 5.0", "parameter 'n_targets' = 5.0"),
        ("run bmia -p n_targets -1", "parameter 'n_targets' = -1"),
        ("run bmia --profile papper", "parameter 'profile' = 'papper'"),
        ("run bmia -p device gpu", "parameter 'device' = 'gpu'"),
        (
            "run bmia -p profile tiny --profile quick",
            "'profile' is given twice, as 'tiny' and 'quick'",
        ),
        ("run bmia -p seed 1 -p seed 2", "'seed' is given twice"),
        ("run bmia -p dataset mnits", "mnist"),
        ("run bmia -p dataset nowhere.npz", "nowhere.npz"),
        ("data check mnits", "mnist"),
        ("data fetch mnits", "mnist"),
        ("data check mnist", "missing"),
    ],
)
def test_what_is_refused_is_named(refused, words, told):
    assert told in refused(*words.split())


SIZES = {
    "bayes_optimal": {
        "n_records": ["[0]", "[19]", "[21]", "[4000]", "[1000000000000]"],
        "classes": ["[3]", "[3, 3]", "[3, 99]", "[-1, 3]", "[1, 2, 3]"],
        "n_repeats": ["1"],
        "n_reference": ["1", "3"],
        "cnn_records": ["19", "899", "5000"],
        "feature_network": ["vgg16"],
    },
    "bmia": {
        "n_targets": ["1"],
        "n_reference": ["1", "3"],
        "n_samples": ["1"],
        "architecture": ["mlp", "mlp-", "mlp-x", "mlp-0", "mlp-99999999", "mlp-٣", "resnet19"],
        "architectures": ['["logistic"]', '["mlp-8", "zzz"]', '["", "zzz"]'],
        "ood_dataset": ["zzz", "purchase_like", "nowhere.npz"],
        "also_datasets": ['["zzz"]', '["nowhere.npz"]', '["digits", "mnits"]'],
    },
    "gmip": {
        "monte_carlo": ["999", "1e23"],
        "simulated_repeats": ["1"],
        "simulated_records": ["999"],
        "audit_models": ["1"],
        "utility_seeds": ["1"],
        "n_reference": ["1", "3"],
        "n_background": ["5", "100"],
        "dataset": ["purchase_like:9000"],
        "also_datasets": ['["zzz"]', '["purchase_like:0"]'],
    },
    "iha": {
        "n_models": ["1", "5", "7"],
        "n_targets": ["1", "9"],
        "n_queries": ["39", "5000"],
        "most_parameters": ["10"],
        "loo_records": ["1", "201", "5000"],
        "loo_models": ["3"],
        "dataset": ["purchase_like:39"],
        "also_datasets": ['["purchase_like:1500000"]'],
    },
    "lood": {
        "noise": ["1e-9", "1e9"],
        "n_records": ["19", "400", "5000"],
        "n_reconstructed": ["1", "31"],
        "network_records": ["19", "61"],
        "n_networks": ["3"],
        "n_retrained": ["3", "16"],
        "dataset": ["purchase_like", "purchase_like:500-odd"],
    },
}
SHARED = {
    "dataset": [
        "mnits", "MNIST", "digits ", "purchase_like:", "purchase_like:-5", "purchase_like:1e4",
        "purchase_like:99999999999", f"purchase_like:{BEYOND}", "nowhere.npz", ".npz", "/", "..//",
        "~nosuchuser/x.npz", "x/" * 2000 + "y.npz", "digits-even",
    ],
    "data_root": ["/nowhere", "~nosuchuser", "notebooks/iha.md", "/dev/null"],
    "results_dir": ["/dev/null/x", "~nosuchuser/x", "in_the_way", "in_the_way/deeper/still"],
    "device": ["gpu", "cuda:0", "CPU", "cuda"],
    "profile": ["papper", "Quick", "0"],
    "seed": ["4294967296", "18446744073709551615", "18446744073709551614", "-0.0"],
    "n_jobs": ["1025"],
}  # fmt: skip
SIZED = [(c, n, v) for c, wanted in SIZES.items() for n, values in wanted.items() for v in values]
COMMON = [
    (CHAPTERS[i % len(CHAPTERS)], name, value)
    for name, values in SHARED.items()
    for i, value in enumerate(values)
]


@pytest.fixture
def in_the_way(house):
    (house.parent / "in_the_way").write_text("a file where a folder should be")


@pytest.mark.parametrize(
    ("chapter", "name", "value"),
    SIZED + COMMON,
    ids=[f"{c}-{n}-{v[:24]!r}" for c, n, v in SIZED + COMMON],
)
def test_a_value_that_no_run_can_use_is_refused(
    refused, in_the_way, monkeypatch, chapter, name, value
):
    monkeypatch.setattr(shutil, "which", lambda _: None)
    profile = () if name == "profile" else ("--profile", "tiny")
    line = refused("run", chapter, *profile, "-p", name, value)
    assert says_which(line, name, value)


@pytest.mark.parametrize("variable", ["MEMBERSHIP_DATA", "MEMBERSHIP_CACHE"])
def test_a_folder_of_no_user_is_refused(refused, monkeypatch, variable):
    monkeypatch.setenv(variable, "~nosuchuser/x")
    assert "'~nosuchuser/x': there is no such user's folder" in refused("run", "gmip")


def test_a_name_that_cannot_be_shown_is_named_all_the_same(refused):
    assert r"unknown parameter '\udcff'" in refused("run", "gmip", "-p", "\udcff", "1")


def test_a_number_of_records_is_refused_as_it_was_given(refused):
    given = json.dumps(["digits", "purchase_like:1500000"])
    line = refused("run", "iha", "--profile", "tiny", "-p", "also_datasets", given)
    assert "'purchase_like:1500000': give at most 1,000,000 records" in line


@pytest.mark.parametrize("make", bad_files.ANY, ids=lambda make: make.__name__)
def test_a_bad_file_is_refused(house, refused, make):
    file = house.parent / "own.npz"
    make(file)
    line = refused("run", "gmip", "--profile", "tiny", "-p", "dataset", str(file))
    assert "own.npz" in line or "'own'" in line


@pytest.mark.parametrize("make", bad_files.ANY, ids=lambda make: make.__name__)
def test_a_bad_file_in_the_place_of_a_public_one_is_refused(house, refused, make):
    (house.parent / "prepared").mkdir()
    file = house.parent / "prepared" / "adult.npz"
    make(file)
    line = refused("data", "check", "adult", "--root", str(file.parent))
    assert "adult" in line


UNFIT = [(chapter, make) for make, chapters in bad_files.UNFIT.items() for chapter in chapters]


@pytest.mark.parametrize(("chapter", "make"), UNFIT, ids=lambda v: getattr(v, "__name__", v))
def test_a_file_that_a_chapter_cannot_use_is_refused(house, refused, chapter, make):
    file = house.parent / "own.npz"
    make(file)
    line = refused("run", chapter, "--profile", "tiny", "-p", "dataset", str(file))
    assert any(words in line for words in ("own", "dataset", "data set"))


COMMANDS = [
    "runn", "run nosuch", "run bmia nosuch", "run bmia -p seed", "run bmia --nosuch", "run -p",
    "run bmia --profile", "run bmia --profile nosuch", "run bmia -p seed 1 -p seed 2",
    "run bmia --profile tiny -p profile quick", "list nosuch", "list bmia iha", "list --nosuch",
    "data nosuch", "data fetch", "data fetch nosuch", "data fetch digits",
    "data fetch purchase_like:5", "data check", "data check nosuch", "data check mnist",
    "data check mnist --root /nowhere", "data check mnist --root ~nosuchuser",
    "data check purchase_like:0", "data check purchase_like:99999999999", "data check ../mnist",
    "data fetch mnist --root /nowhere", "build nosuch", "build", "clean nosuch", "clean --nosuch",
    "calculate nosuch", "calculate gmip", "--nosuch",
]  # fmt: skip


@pytest.mark.parametrize("words", COMMANDS)
def test_a_command_that_makes_no_sense_is_refused(refused, words):
    assert refused(*words.split()).removeprefix("membership: ").strip()


ODD = ["", "x" * 5000, "a\nb", "\udcff", "\x1b[31m", "..", "/", "~nosuchuser", "{}", "$(ls)", "💥"]


@pytest.mark.parametrize("command", ["run", "list", "data check", "data fetch"])
@pytest.mark.parametrize("name", ODD, ids=[repr(name[:12]) for name in ODD])
def test_an_odd_name_is_refused(refused, command, name):
    told = refused(*command.split(), name)
    assert ("chapter" if command in ("run", "list") else "dataset=") in told


@pytest.mark.parametrize("variable", ["MEMBERSHIP_DATA", "MEMBERSHIP_CACHE"])
@pytest.mark.parametrize("folder", ["/dev/null", "/dev/null/x", "in_the_way"])
def test_a_folder_that_is_none_is_refused(refused, in_the_way, monkeypatch, variable, folder):
    monkeypatch.setenv(variable, folder)
    assert folder in refused("run", "gmip", "--profile", "tiny")


RUN = {"-n": "400", "-N": "48000", "--epochs": "10", "-d": "650"}
# What a refusal calls an option; the others by their own names.
PARAMETER = {"-N": "n_records", "-K": "k", "-C": "clip", "--sampling": "adjacency"}
NUMBERS = ["", "x", "nan", "inf", "-1", "0", "1e308", "1e400", "1" + "0" * 400, "1_0x"]
CALCULATED = [{**RUN, option: value} for option in [*RUN, "-K"] for value in NUMBERS]
CALCULATED += [{**RUN, "--tau": "1", "-C": value} for value in [*NUMBERS, "1e-300", "1e300"]]
CALCULATED += [{**RUN, "-C": "1", "--tau": v} for v in NUMBERS if v != "0"]
CALCULATED += [{**RUN, "-C": "1", "--tau": "1e300"}, {**RUN, "-N": "399"}, {**RUN, "-n": "1"}]
CALCULATED += [{**RUN, target: v} for target in ("--mu", "--epsilon", "--tpr") for v in NUMBERS]
CALCULATED += [{**RUN, "--sigma": v} for v in NUMBERS if v != "0"]
CALCULATED += [{**RUN, "--delta": v} for v in NUMBERS] + [{**RUN, "--sampling": "fixed"}]


@pytest.mark.parametrize(
    "given", CALCULATED, ids=[" ".join(f"{k} {v[:9]}" for k, v in g.items()) for g in CALCULATED]
)
def test_the_calculator_refuses_what_is_no_size(refused, given):
    told = refused("calculate", "gmip", *(word for pair in given.items() for word in pair))
    names = {PARAMETER.get(option, option.lstrip("-")) for option in given}
    named = told.removeprefix("membership: ").split(" = ")[0]
    assert named in names or any(f"'{option}'" in told for option in given)


def test_noise_without_a_norm_is_refused(refused):
    words = [word for pair in {**RUN, "--tau": "1"}.items() for word in pair]
    assert "clip is missing" in refused("calculate", "gmip", *words)


REAL = [
    ("run", "bmia", "-p", "ood_dataset", "zzz"),
    ("run", "gmip", "-p", "utility_seeds", "1"),
    ("run", "iha", "-p", "n_queries", "5000"),
    ("run", "lood", "-p", "noise", "1e-320"),
    ("run", "bayes_optimal", "-p", "n_records", "[4000]"),
    ("data", "check", "mnits"),
]


@pytest.mark.parametrize("words", REAL, ids=" ".join)
def test_the_real_command_refuses_in_a_line_and_leaves_nothing(tmp_path, words):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MEMBERSHIP_")}
    environment["MEMBERSHIP_CACHE"] = str(tmp_path / "cache")
    done = subprocess.run(
        [sys.executable, "-m", "membership", *words],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_fault_of_the_program_is_one_line_that_names_its_log(house, monkeypatch, capsys):
    def fault(*_):
        raise ArithmeticError("first line\nsecond line")

    monkeypatch.setattr(running, "chapters", fault)
    monkeypatch.setattr(sys, "argv", ["membership", "list"])
    with pytest.raises(SystemExit) as left:
        cli.main()
    assert left.value.code == 1
    (line,) = capsys.readouterr().err.splitlines()
    log = house / "logs" / "membership-error.log"
    assert "ArithmeticError" in line
    assert str(log) in line
    assert "report" in line
    assert "second line" in log.read_text()
    assert "Traceback" in log.read_text()
