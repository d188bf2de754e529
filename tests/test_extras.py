"""The library without its extras: what can be imported, what an audit needs, what is said else."""

import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from membership.installation import with_extra

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
EXTRAS = [Requirement(o).name for n, e in PROJECT["optional-dependencies"].items() for o in e]
# As they are imported, where that is another name.
IMPORTED = {"dp-accounting": "dp_accounting", "laplace-torch": "laplace", "ipython": "IPython"}
# Others bring it along.
PRESENT = {"packaging"}
ABSENT = {IMPORTED.get(name, name.replace("-", "_")) for name in EXTRAS} - PRESENT
WITHOUT = """
import importlib.abc, sys
class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {absent!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Absent())
"""
COMMAND = """
sys.argv = ["membership", *{arguments!r}]
from membership.__main__ import main
main()
"""


def without_extras(code: str, folder: Path) -> subprocess.CompletedProcess:
    script = WITHOUT.format(absent=ABSENT) + textwrap.dedent(code)
    return subprocess.run(
        [sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
def test_every_public_room_is_imported_and_scores_are_audited(tmp_path):
    rows = "".join(f"{i % 7},{i % 2}\n" for i in range(60))
    (tmp_path / "scores.csv").write_text(f"score,member\n{rows}")
    rooms = """
from membership import attacks, audit, curvature, data, evidence, lood, metrics
from membership.book import exhibits
from membership import models, nngp, privacy, signals, training
from membership.book import published, settings
"""
    arguments = ["audit", "scores.csv", "--output", "report"]
    done = without_extras(rooms + COMMAND.format(arguments=arguments), tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "report").is_dir()


@pytest.mark.parametrize(
    ("code", "package", "extra"),
    [
        ("from membership import lood; lood.maximise", "jax", "kernels"),
        ("from membership import nngp; nngp.float64()", "jax", "kernels"),
        (
            """
            from membership import nngp
            nngp.fully_connected(1, engine="neural-tangents")
            """,
            "jax",
            "neural-tangents",
        ),
        (
            """
            from membership import privacy
            privacy.established(sigma=1.0, n=10, n_records=100, epochs=1)
            """,
            "dp_accounting",
            "accounting",
        ),
        (
            """
            import pathlib
            pathlib.Path("own.parquet").write_bytes(b"PAR1")
            from membership import data
            data.load("own.parquet", label="kind")
            """,
            "pyarrow",
            "parquet",
        ),
    ],
)
def test_what_needs_an_extra_names_it(code, package, extra, tmp_path):
    told = without_extras(code, tmp_path).stderr.splitlines()[-1]
    assert f"this needs {package}" in told
    assert told.endswith(with_extra(extra))


def test_a_command_that_needs_one_says_so_in_a_line(tmp_path):
    arguments = ["run", "loss_enough", "--profile", "tiny", "--quiet"]
    done = without_extras(COMMAND.format(arguments=arguments), tmp_path)
    assert done.returncode == 2
    assert done.stderr.endswith(f"{with_extra('book')}\n")
    assert done.stderr.count("\n") == 1
