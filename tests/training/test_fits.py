"""What a trained model is cached under."""

import importlib

from torch import nn

from membership.training.fits import architecture

OWN = """
from torch import nn

class Scaling(nn.Module):
    def forward(self, x):
        return {factor} * x
"""


def test_the_code_of_own_classes_counts_and_that_of_torch_does_not(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    torch_only = architecture(nn.Sequential(nn.Linear(2, 2), nn.Tanh()))
    assert torch_only == architecture(nn.Linear(3, 1))
    own = []
    for factor in (2, 3):
        (tmp_path / f"scaling_by_{factor}.py").write_text(OWN.format(factor=factor))
        scaling = importlib.import_module(f"scaling_by_{factor}").Scaling()
        own.append(architecture(nn.Sequential(nn.Linear(2, 2), scaling)))
    assert len({torch_only, *own}) == 3
