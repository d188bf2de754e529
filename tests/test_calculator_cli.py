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
    mu_step = min(found.mip_step, found.gdp_step)
    low = privacy.numerical_tradeoff([0.01], mu_step, 400, 48_000, found.steps).low
    most = 100 * (1 - float(low[0]))
    assert f"at 1 % false positives: membership at most {most:.3f} %" in result.output


def test_no_attack_beats_the_rate_printed_for_few_steps():
    """Ten steps: in the limit of many, 0.28 % at 0.1 % false positives; the truth is 0.53 %."""
    sizes = ["gmip", "-n", "100", "-N", "10000", "--epochs", "0.1", "-d", "400"]
    result = CliRunner().invoke(calculate, sizes)
    printed = [float(share) for share in re.findall(r"at most (\S+) %", result.output)]
    found = privacy.assess(100, 10_000, 0.1, 400)
    exact = privacy.numerical_tradeoff([0.001, 0.01, 0.1], found.mip_step, 100, 10_000, 10)
    assert all(
        share >= 100 * (1 - fnr) - 5e-4 for share, fnr in zip(printed, exact.high, strict=True)
    )
    assert printed[0] == pytest.approx(0.529, abs=1e-3)
    assert printed[0] > 1.8 * 100 * float(privacy.gaussian_tpr(0.001, found.mip))


def test_one_step_may_tell_all():
    result = CliRunner().invoke(
        calculate, ["gmip", "-n", "2", "-N", "4", "--epochs", "1", "-d", "999"]
    )
    assert result.output.count("membership at most 100.000 %") == 3


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
