"""What takes more than a second is told on stderr, and nothing is where it takes less."""

import pytest
import torch
from torch import nn

from membership import attacks, curvature, progress

torch.manual_seed(0)
MLP = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
CNN = nn.Sequential(nn.Unflatten(1, (1, 3)), nn.Conv1d(1, 2, 2), nn.Flatten(), nn.Linear(4, 2))
LOSS = nn.CrossEntropyLoss(reduction="none")
DATA = torch.randn(6, 3), torch.arange(6) % 2
SIF = {"damping": 1.0, "matrix": "ggn"}
CALLS = {
    "gradients": lambda: curvature.per_record_gradients(MLP, LOSS, *DATA),
    "Hessian": lambda: curvature.hessian(CNN, LOSS, *DATA),
    "Gauss-Newton matrix": lambda: curvature.ggn(CNN, LOSS, *DATA),
    "Cholesky factor": lambda: attacks.sif(MLP, LOSS, DATA, DATA, **SIF),
    "conjugate gradients": lambda: attacks.sif(MLP, LOSS, DATA, DATA, solver="cg", **SIF),
    "EK-FAC": lambda: attacks.sif(MLP, LOSS, DATA, DATA, solver="ekfac", **SIF),
}


@pytest.mark.parametrize("what", CALLS)
def test_long_work_has_a_bar_that_names_it(what, monkeypatch, capsys):
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    CALLS[what]()
    assert f"\r{what}: " in capsys.readouterr().err


def test_short_work_is_silent(monkeypatch, capsys):
    monkeypatch.setattr(progress, "PATIENCE", 60.0)
    for call in CALLS.values():
        call()
    assert capsys.readouterr().err == ""


def test_a_part_counts_as_what_it_is_made_of(monkeypatch, capsys):
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    parts = [(range(3), "x"), (range(4), "y")]
    assert list(progress.told(parts, 7, "parts")) == parts
    told = capsys.readouterr().err
    assert "0/7" in told
    assert list(progress.counted("ab", "steps", "step")) == ["a", "b"]
