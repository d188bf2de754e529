import re
import subprocess
import sys

import pytest
from click.testing import CliRunner

from membership import privacy
from membership.calculator_cli import calculate
from membership.errors import InputError

SIZES = ["gmip", "-n", "400", "-N", "48000", "--epochs", "10", "-d", "650"]


def test_it_prints_what_the_accountant_says():
    result = CliRunner().invoke(calculate, [*SIZES, "-C", "500", "--tau", "2.84"])
    assert result.exit_code == 0
    found = privacy.assess(400, 48_000, 10, 650, clip=500.0, tau=2.84)
    printed = dict(re.findall(r"^(\S.*?) {2,}(\S+)$", result.output, re.M))
    assert float(printed["mu of all steps, differential privacy"]) == pytest.approx(
        found.gdp, abs=1e-6
    )
    assert float(printed["mu of one step, membership inference"]) == pytest.approx(
        found.mip_step, abs=1e-6
    )
    rate = 100 * float(privacy.gaussian_tpr(0.01, found.mip))
    assert f"at 1 % false positives: membership {rate:.3f} %" in result.output


def test_without_noise_differential_privacy_promises_nothing():
    result = CliRunner().invoke(calculate, SIZES)
    assert re.search(r"all steps, differential privacy +no guarantee", result.output)
    assert re.search(r"all steps, membership inference +0.786596", result.output)


def test_bad_input_is_the_rooms_own_error():
    result = CliRunner().invoke(calculate, [*SIZES, "--tau", "1"])
    assert isinstance(result.exception, InputError)
    assert "clip is missing" in str(result.exception)


def test_a_missing_size_is_named():
    result = CliRunner().invoke(calculate, SIZES[:-2])
    assert result.exit_code == 2
    assert "--dimension" in result.output


def test_importing_it_imports_no_scipy():
    code = "import sys, membership.calculator_cli; print('scipy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
