"""What a trained model is cached under."""

from torch import nn

from membership.training.fits import architecture


class Doubling(nn.Module):
    def forward(self, x):
        return 2 * x


class Tripling(nn.Module):
    def forward(self, x):
        return 3 * x


def test_the_code_of_own_classes_counts_and_that_of_torch_does_not():
    torch_only = architecture(nn.Sequential(nn.Linear(2, 2), nn.Tanh()))
    assert torch_only == architecture(nn.Linear(3, 1))
    doubling, tripling = (
        architecture(nn.Sequential(nn.Linear(2, 2), one())) for one in (Doubling, Tripling)
    )
    assert len({torch_only, doubling, tripling}) == 3
