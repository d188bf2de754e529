"""What noise that classes share hides in one step: plain SGD, and Adam as torch steps."""

import numpy as np
import pytest
import torch

from membership.book.studies.gmip import shared_steps as steps


@pytest.mark.parametrize("optimiser", steps.OPTIMISERS)
@pytest.mark.parametrize("dtype", steps.PRECISIONS.values())
def test_a_step_is_torchs(optimiser, dtype):
    rng = np.random.default_rng(0)
    gradient, before = 1e-3 * rng.standard_normal(50), 0.1 * rng.standard_normal(50)
    weight = torch.tensor(before.astype(dtype), requires_grad=True)
    of = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}[optimiser]
    optimise = of([weight], lr=steps.RATE)
    weight.grad = torch.tensor(gradient.astype(dtype))
    optimise.step()
    moved = before.astype(dtype).astype(float) - weight.detach().numpy().astype(float)
    shown = steps.step(gradient, before, optimiser, dtype)
    # A rounding of the weights, whose size is a tenth.
    np.testing.assert_allclose(shown, moved, atol=4 * np.finfo(dtype).eps)


def test_adam_can_be_undone_in_exact_arithmetic_and_not_in_the_digits_of_weights():
    rng = np.random.default_rng(1)
    gradient, before = 1e-3 * rng.standard_normal((2, 200)), 0.1 * rng.standard_normal((2, 200))
    again = steps.undone(steps.step(gradient, before, "adam", np.float64))
    assert np.corrcoef(again.ravel(), gradient.ravel())[0, 1] > 0.999999
    coarse = steps.undone(steps.step(gradient, before, "adam", np.float32))
    assert np.corrcoef(coarse.ravel(), gradient.ravel())[0, 1] < 0.9
    assert (np.sign(coarse) == np.sign(gradient)).all()


def test_shared_noise_cancels_for_sgd_and_in_float64_and_hides_in_float32(monkeypatch):
    monkeypatch.setattr(steps, "BLOCKS", 4)
    table = steps.control_23()
    auc = table.set_index(["optimiser", "attack", "numbers", "noise"])["value"]
    for numbers in steps.PRECISIONS:
        assert auc["sgd", steps.LINEAR, numbers, "none less shared"] == pytest.approx(0, abs=1e-3)
    assert auc["adam", steps.UNDONE, "float64", "none less shared"] == pytest.approx(0, abs=1e-3)
    for attack in (steps.LINEAR, steps.UNDONE):
        assert auc["adam", attack, "float32", "none less shared"] > 0.03
