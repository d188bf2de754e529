r"""The quadratic forms of the inverse Hessian attack by conjugate gradients.

Two systems a record are enough, solved to the square root of the accuracy wanted. With x an
approximate :math:`K^{-1} g` and r = g - K x what is left,

.. math:: \|K^{-1} g\|^2 = \|x\|^2 + 2\, r^\top K^{-1} x + O(\|r\|^2) ,

and the second system, for :math:`K^{-1} x`, is the one that I3 and I4 ask for anyway; these are
right to first order in the error only. Whatever multiplies the gradient over the others is solved
for once, with that gradient on the right.
"""

import numpy as np
import torch

from membership.arrays import FloatArray
from membership.attacks.iha_terms import QuadraticForms
from membership.attacks.others import OthersGradient
from membership.curvature.solver import Solver
from membership.curvature.white_box import WhiteBoxView


class FormsByCG:
    """Forms of many records for one model; `QuadraticForms` says which.

    Parameters
    ----------
    solver : Solver
    mean, decay : numpy.ndarray, shape (p,)
        The mean gradient, and the weight decay's part of the residual (0 as published).
    damping : float
        Added to the eigenvalues for the inverse that H stands in for.
    shift : float
        Added to them besides, for the inverse that K stands in for; 0 as published.
    tolerance : float
        Relative error of the forms to aim at.
    """

    def __init__(
        self,
        solver: Solver,
        mean: FloatArray,
        decay: FloatArray,
        damping: float,
        shift: float,
        tolerance: float,
    ):
        self.solver, self.damping, self.shift = solver, damping, shift
        self.tolerance = tolerance**0.5
        once = torch.as_tensor(np.stack([mean, decay])).to(solver.device)
        both = damping + shift
        first = solver.solve(once, both, tolerance).vectors
        between = solver.solve(first, damping, tolerance).vectors
        self.squared = solver.solve(first, both, tolerance).vectors.cpu().numpy()
        self.cubed = solver.solve(between, both, tolerance).vectors.cpu().numpy()

    def __call__(
        self, view: WhiteBoxView, others: OthersGradient
    ) -> tuple[QuadraticForms, FloatArray]:
        """Forms of a block of records in the model's own parameters, and their residuals."""
        right = torch.as_tensor(view.gradient).to(self.solver.device)
        first = self.solver.solve(right, self.damping + self.shift, self.tolerance)
        x = first.vectors
        second = self.solver.solve(x, self.damping, self.tolerance)
        own2 = _dot(x, x) + 2.0 * _dot(first.remainder, second.vectors)
        own3 = _dot(second.vectors, x + second.remainder)
        forms = QuadraticForms(
            own2,
            self._others(self.squared, view, others) + others.own * own2,
            own3,
            self._others(self.cubed, view, others) + others.own * own3,
        )
        return forms, torch.maximum(first.residual, second.residual).cpu().numpy()

    @staticmethod
    def _others(solved: FloatArray, view: WhiteBoxView, others: OthersGradient) -> FloatArray:
        """The part of the mean gradient and of the weight decay."""
        mean, decay = solved
        return others.scale * (view.gradient @ mean) + view.gradient @ decay


def _dot(left: torch.Tensor, right: torch.Tensor) -> FloatArray:
    return (left * right).sum(1).cpu().numpy()
