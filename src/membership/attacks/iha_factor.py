r"""The quadratic forms of the inverse Hessian attack from a Cholesky factor.

Three triangular solutions a record: two for :math:`u = H^{-1} g`, and with the third,
:math:`L^{-1} u`, whose squared length is :math:`u^\top H^{-1} u`. What multiplies the gradient over
the others is solved for once.
"""

import torch

from membership.arrays import FloatArray
from membership.attacks.iha_terms import QuadraticForms
from membership.attacks.others import OthersGradient
from membership.curvature.factor import Factor
from membership.curvature.white_box import WhiteBoxView


class FormsByFactor:
    """Forms of many records for one model, with the condition as published.

    Parameters
    ----------
    factor : Factor
    mean : numpy.ndarray, shape (p,)
        The mean gradient, in the model's own parameters.
    """

    def __init__(self, factor: Factor, mean: FloatArray):
        self.factor = factor
        squared = factor.solve(factor.solve(self._sent(mean[None])))
        self.once = torch.cat([squared, factor.solve(squared)]).T.cpu().numpy()

    def __call__(self, view: WhiteBoxView, others: OthersGradient) -> QuadraticForms:
        """Forms of a block of records."""
        u = self.factor.solve(self._sent(view.gradient))
        own2 = u.square().sum(1).cpu().numpy()
        own3 = self.factor.half(u).square().sum(1).cpu().numpy()
        mean2, mean3 = (view.gradient @ self.once).T
        return QuadraticForms(
            own2,
            others.scale * mean2 + others.own * own2,
            own3,
            others.scale * mean3 + others.own * own3,
        )

    def _sent(self, vectors: FloatArray) -> torch.Tensor:
        return torch.as_tensor(vectors).to(self.factor.matrix.device)
