import json
import re

import pytest
from click.testing import CliRunner

from membership import privacy
from membership.book.cli.calculator import calculate
from membership.errors import InputError

SIZES = ["gmip", "-n", "400", "-N", "48000", "--epochs", "10", "-d", "650", "--alone"]
FEW = ["gmip", "-n", "100", "-N", "10000", "--epochs", "0.1", "-d", "400", "--alone"]
FIXED = ["--sampling", "fixed", "--adjacency", "replace-one"]


def printed(*words: str) -> str:
    result = CliRunner().invoke(calculate, words, catch_exceptions=False)
    assert result.exit_code == 0
    return result.output


def test_it_prints_what_the_accountant_says():
    # tests/rendered/test_calculator_page.py compares every number of 200 settings.
    output = printed(*SIZES, *FIXED, "-C", "500", "--tau", "2.84")
    sigma = privacy.noise_multiplier(400, 2.84, 500.0)
    found = privacy.assess(
        400, 48_000, 10, 650, sigma=sigma, sampling="fixed", adjacency="replace-one"
    )
    assert f"epsilon at delta 1e-05 {found.epsilon:.6f}" in re.sub(" +", " ", output)
    assert "fixed sampling: batches of exactly n" in output
    assert "one record replaced" in output
    assert re.search(r"noise tau at C = 500 +2\.84$", output, re.M)


@pytest.mark.slow
def test_dp_accounting_stands_beside():
    output = printed("gmip", "-n", "256", "-N", "60000", "--epochs", "60", "--sigma", "1.1")
    ours, theirs = re.search(r"epsilon at delta 1e-05 +(\S+) +(\S+)$", output, re.M).groups()
    assert float(ours) == pytest.approx(float(theirs), abs=1e-3)
    assert float(theirs) == pytest.approx(2.38, abs=0.005)
    assert "membership: what differential privacy implies" in output


@pytest.mark.slow
def test_a_target_gives_the_noise():
    output = printed(*SIZES, "--epsilon", "1.5", "--delta", "1e-6")
    assert re.search(r"epsilon at delta 1e-06 +1\.500000$", output, re.M)
    output = printed(*SIZES, "--tpr", "0.002", "--protect", "membership")
    assert re.search(r"TPR at 0\.1 % FPR, at most +0\.2000 %", output)


def test_no_attack_beats_the_rate_printed_for_few_steps():
    """Ten steps: in the limit of many, .282 % at 0.1 % false positives; the truth is .529 %."""
    output = printed(*FEW, *FIXED)
    assert re.search(r"TPR at 0\.1 % FPR, at most +0\.529\d %", output)
    assert "membership: the limit falls short of the composed rates and is no bound" in output
    assert "no bound" not in printed(*SIZES, *FIXED)


def test_one_step_may_tell_all():
    output = printed("gmip", "-n", "2", "-N", "4", "--epochs", "1", "-d", "999", "--alone")
    assert output.count("100.0000 %") == 6


def test_without_noise_differential_privacy_promises_nothing():
    output = printed(*SIZES, *FIXED)
    assert re.search(r"mu of all steps +0.791364 +no guarantee", output)


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--tau", "1"], "clip is missing"),
        (["--mu", "1", "--epsilon", "1"], "--mu and --epsilon: give one of"),
        (["--sampling", "shuffled"], "no accountant exists for shuffled batches"),
        (["--tpr", "0.2", "--fpr", "0.3"], "fpr = 0.3: expected one of"),
    ],
)
def test_bad_input_is_the_rooms_own_error(words, named):
    result = CliRunner().invoke(calculate, [*SIZES, *words])
    assert isinstance(result.exception, InputError)
    assert named in str(result.exception)


def test_a_missing_size_is_named():
    result = CliRunner().invoke(calculate, ["gmip", "-n", "400", "-N", "48000"])
    assert isinstance(result.exception, InputError)
    assert "epochs = None" in str(result.exception)


def test_rate_and_steps_print_what_batches_and_epochs_print():
    sizes = ["gmip", "-n", "250", "-N", "10000", "--epochs", "5", "--sigma", "1.3", "--alone"]
    logged = ["gmip", "--rate", "0.025", "--steps", "200", "--sigma", "1.3", "--alone"]
    assert printed(*logged) == printed(*sizes)


LOGGED = ["gmip", "--alone", "--rate", "0.004", "--steps", "1000", "--sigma", "0.8"]
PHASE = "rate=0.01, steps=500 sigma=1"


def test_phases_and_groups_are_composed():
    output = printed(*LOGGED, "--phase", PHASE, "--group", "2")
    phase = {"rate": 0.01, "steps": 500, "sigma": 1.0}
    found = privacy.assess(rate=0.004, steps=1000, sigma=0.8, history=[phase], group=2)
    assert re.search(rf"^epsilon at delta 1e-05 +{found.epsilon:.6f}$", output, re.M)
    assert f"to cite: {found.statement}\n" in output
    assert "differential privacy: 2 records added or removed" in output
    alone = printed("gmip", "--alone", "--phase", PHASE)
    assert re.search(r"^steps +500\nnoise multiplier sigma +1$", alone, re.M)


AUDIT = {"epsilon_lower_bound": {"value": 0.5, "delta": 1e-5}, "mu_lower_bound": {"value": 0.1}}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, r"audit: epsilon at least 0.5000 at delta 1e-05, promised 1.*: not refuted by these"),
        ({}, r"audit: mu at least 0.1000, promised 0.*: not refuted by these attacks"),
        ({"mu_lower_bound": {"value": 3.0}}, "audit: mu at least 3.0000, .*: the promise is ref"),
        (
            {"epsilon_lower_bound": {"value": 9, "delta": 1e-5}},
            "9.0000 .*: the promise is ref",
        ),
        ({"epsilon_lower_bound": {"value": 9, "delta": 0}}, "9.0000 at delta 0, where noisy SGD "),
        ({"epsilon_lower_bound": None}, "^audit: mu at least 0.1000"),
    ],
)
def test_an_audits_bounds_stand_beside(tmp_path, changed, said):
    file = tmp_path / "audit.json"
    file.write_text(json.dumps(AUDIT | changed), encoding="utf-8")
    output = printed(*LOGGED, "--audit", str(file))
    assert re.search(said, output, re.M)
    assert output.count("audit: ") == 2 - (None in changed.values())


@pytest.mark.parametrize("text", ["{}", "[]", "no JSON", '{"mu_lower_bound": 1}'])
def test_what_is_no_audit_is_refused(tmp_path, text):
    file = tmp_path / "audit.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"--audit audit\.json: no lower bounds in it"):
        printed(*LOGGED, "--audit", str(file))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["--phase", "rate=x"],
            "--phase 'rate=x': 'rate=x' is no name=number; as rate=0.01,steps=500",
        ),
        (["--phase", "rate"], "'rate' is no name=number"),
        (["--phase", "rate=0.1,epoch=2"], r"history\[0\]: unknown 'epoch'"),
        (["--phase", "rate=0.1,steps=0"], r"history\[0\]: steps = 0"),
        (["--prior", "0"], "prior = 0.0"),
        (["--at-epsilon", "-1"], "epsilon = -1.0"),
        (["--group", "0"], "group = 0"),
    ],
)
def test_what_cannot_be_composed_is_refused(words, said):
    with pytest.raises(InputError, match=said):
        printed(*LOGGED, *words)
