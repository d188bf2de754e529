"""What an audit refuses: one line that names parameter and value, before any work or file."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from membership import audit, evidence
from membership.book.cli import cli
from membership.errors import InputError
from tests.audit.test_comparison import outputs

N = 80
RNG = np.random.default_rng(0)
MEMBER = np.arange(N) % 2 == 0
SCORE = RNG.normal(size=N) + MEMBER
FRAME = {"score": SCORE, "member": MEMBER.astype(int)}
TABLES = {
    "scores": FRAME,
    # Persons of two records, of which one is a member.
    "mixed": {**FRAME, "unit": np.arange(N) // 2},
    "few units": {"score": SCORE, "member": np.arange(N) < 40, "unit": np.arange(N) // 8},
    "uneven": {**FRAME, "member": np.arange(N) < 5},
    "one side": {"score": SCORE[:24], "member": np.arange(24) < 2},
}
"""By their names, tables of which the first is honest."""
BY_COMMAND = [
    ("scores", "--promised=0", "promised = 0.0: give an epsilon above 0, and finite"),
    ("scores", "--promised-mu=-1", "promised_mu = -1.0: give a mu above 0, and finite"),
    ("scores", "--promised=2 --delta=1", "delta is 1.0; give a number of at least 0 and below 1"),
    ("scores", "--delta=1", "delta is 1.0; give a number of at least 0 and below 1"),
    ("scores", "--level=1", "level is 1.0"),
    ("scores", "--fdr=0", "fdr = 0.0: give a share of wrong names above 0 and below 1"),
    ("scores", "--fdr=1", "fdr = 1.0: give a share of wrong names above 0 and below 1"),
    ("scores", "--design=dice", "'dice' is not one of 'trials', 'coins'"),
    ("scores", "--attack=lira", "attack 'lira' is no column of scores"),
    ("mixed", "", "unit: 0 holds 1 members and 1 others, and so do 40 of 40 units"),
    ("few units", "", "score: 10 units; an audit needs at least 20"),
    ("uneven", "--design=coins", "5 of 80 records are members; a fair coin for each"),
    ("one side", "", "member: 2 members and 22 non-members; give at least 4 of each"),
]


def refused(folder: Path, file: Path, options: str) -> str:
    done = CliRunner().invoke(cli, ["audit", str(file), "--output", str(folder), *options.split()])
    assert done.exit_code != 0, done.output
    assert not folder.exists()
    return f"{done.output} {done.exception}"


@pytest.mark.parametrize(("table", "options", "said"), BY_COMMAND)
def test_a_file_of_scores(table: str, options: str, said: str, tmp_path: Path) -> None:
    columns = TABLES[table]
    rows = zip(*(np.asarray(column).astype(float) for column in columns.values()), strict=True)
    lines = [",".join(f"{cell:.6g}" for cell in row) for row in rows]
    file = tmp_path / "scores.csv"
    file.write_text("\n".join([",".join(columns), *lines]) + "\n")
    assert said in " ".join(refused(tmp_path / "report", file, options).split())


def test_the_honest_table_is_taken() -> None:
    options = {"promised": 2, "promised_mu": 1, "design": "coins", "fdr": 0.2}
    assert len(audit.audit(FRAME, **options)["promises"]) == 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--promised=0", "promised = 0.0"),
        ("--delta=1", "delta is 1.0"),
        ("--fdr=2", "fdr = 2.0"),
        ("--design=coins", "the gathering drew exactly half of the records"),
    ],
)
def test_a_file_of_evidence(options: str, said: str, tmp_path: Path) -> None:
    halves = {"by": "this audit", "design": "halves", "one": "record", "seed": 0}
    file = tmp_path / "halves.evidence"
    evidence.save(file, outputs([0], 60).assign_attrs(drawn=halves))
    assert said in " ".join(refused(tmp_path / "report", file, options).split())


def never(x, y, seed):
    raise AssertionError("trained before the input was checked")


def linear(x):
    return 3 * x


NOISE = audit.Noise(0.1, draws=3)
X, Y = RNG.normal(size=(N, 3)), np.arange(N) % 3
GATHERED: dict[str, tuple[Callable, str]] = {
    "ten units by coins": (
        lambda: audit.gather(X, Y, never, units=np.arange(N) // 8),
        "draw = 'coins': 10 units; give at least 20, or draw='halves'",
    ),
    "two units": (
        lambda: audit.gather(X, Y, never, units=np.arange(N) // 40, draw="halves"),
        "units: 2 units; give at least 4",
    ),
    "units that mix": (
        lambda: audit.gather(X, Y, never, model=never, member=MEMBER, units=np.arange(N) // 2),
        "unit: 0 holds 1 members and 1 others",
    ),
    "another draw": (
        lambda: audit.gather(X, Y, never, draw="thirds"),
        "draw = 'thirds': expected one of coins, halves",
    ),
    "a list of one": (
        lambda: audit.gather(X, Y, never, model=[linear], member=MEMBER),
        "model is a list of 1 models; give two or more, or the model itself",
    ),
    "one object three times": (
        lambda: audit.gather(X, Y, never, model=[linear] * 3, member=MEMBER),
        "model holds one object more than once among its 3 models; keep a copy of each",
    ),
    "other classes at an earlier checkpoint": (
        lambda: audit.gather(
            X, Y, never, model=[lambda x: x[:, [0, 1, 2, 0]], linear], member=MEMBER
        ),
        "model 0 of 2 answers (80, 4) and the last (80, 3); give models of the same classes",
    ),
    "an update of one model": (
        lambda: audit.gather(X, Y, never, model=linear, member=MEMBER, question="added"),
        "question = 'added': model is one model; give a list, of which the first is the model",
    ),
    "another question": (
        lambda: audit.gather(X, Y, never, question="both"),
        "question = 'both': expected one of any, added",
    ),
    "probabilities where a class is asked": (
        lambda: audit.gather(X, Y, never, model=linear, member=MEMBER, perturb=NOISE),
        "model answers float64 of shape (80, 3) for 80 records; where perturb is given, a class",
    ),
    "a share where a class is asked": (
        lambda: audit.gather(X, Y, never, model=lambda x: x[:, 0], member=MEMBER, perturb=NOISE),
        "model answers float64 of shape (80,) for 80 records; where perturb is given, a class",
    ),
    "classes of half of the records": (
        lambda: audit.gather(X, Y, never, model=lambda x: Y[:40], member=MEMBER, perturb=NOISE),
        "model answers int64 of shape (40,) for 80 records",
    ),
    "words where a class is asked": (
        lambda: audit.gather(
            X, Y, never, model=lambda x: np.full(len(x), "cat"), member=MEMBER, perturb=NOISE
        ),
        "model answers <U3 of shape (80,) for 80 records",
    ),
    "vectors that are turned": (
        lambda: audit.gather(X, Y, never, perturb=audit.Moves()),
        "x: records of shape (3,) are no pictures that can be moved by 1 pixels; give (rows,",
    ),
    "words with noise": (
        lambda: audit.gather(X.astype(int), Y, never, perturb=NOISE),
        "x holds int64, of which noise makes other numbers; give floats",
    ),
    "noise of another shape": (
        lambda: audit.gather(X, Y, never, perturb=audit.Noise(np.ones(4))),
        "scale has shape (4,); records have (3,)",
    ),
    "a number as a perturbation": (
        lambda: audit.gather(X, Y, never, perturb=0.1),
        "perturb is of type float; give audit.Noise(...) or audit.Moves(...)",
    ),
    "classes of a regression": (
        lambda: audit.gather(X, Y, never, perturb=NOISE, task="regression"),
        "task = 'regression' beside perturb, which asks for classes alone; leave one out",
    ),
    "logits and classes": (
        lambda: audit.gather(X, Y, never, perturb=NOISE, outputs="logits"),
        "outputs = 'logits' beside perturb, which asks for classes alone; leave one out",
    ),
    "no target": (lambda: audit.gather(X, Y, never, n_targets=0), "n_targets = 0"),
}


@pytest.mark.parametrize("case", GATHERED)
def test_a_gathering(case: str) -> None:
    call, said = GATHERED[case]
    with pytest.raises(InputError) as caught:
        call()
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
