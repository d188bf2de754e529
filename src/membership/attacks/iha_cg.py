"""The quadratic forms of the inverse Hessian attack by conjugate gradients."""

import numpy as np
import torch

from membership.attacks.iha_terms import QuadraticForms
from membership.attacks.white_box import OthersGradient, WhiteBoxView
from membership.curvature.solver import Solver
from membership.metrics.arrays import FloatArray

# A relative error of I3 and I4 that is always small enough.
LOOSEST = 1e-2


class FormsByCG:
    """Forms of many records for one model; `QuadraticForms` says which.

    The inverse on the gradient over the others is a combination of two others, one of them the
    same for all records: one solve a record, and with weight decay a second, looser one. It only
    enters I3 and I4, which are smaller than I1 and I2 by weight decay over damping.

    Parameters
    ----------
    solver : Solver
    mean, decay : numpy.ndarray, shape (p,)
        The mean gradient, and the weight decay's part of the residual (0 as published).
    damping : float
        Added to the eigenvalues for the inverse H stands in for.
    shift : float
        Added to them besides, for the inverse that K stands in for; 0 as published.
    weight_decay : float
    tolerance : float
        Relative residual of the first solve.
    """

    def __init__(
        self,
        solver: Solver,
        mean: FloatArray,
        decay: FloatArray,
        damping: float,
        shift: float,
        weight_decay: float,
        tolerance: float,
    ):
        self.solver, self.damping, self.shift = solver, damping, shift
        self.weight_decay, self.tolerance = weight_decay, tolerance
        common = torch.as_tensor(np.stack([mean, decay])).to(solver.device)
        self.mean, self.decay = solver.solve(common, damping + shift, tolerance).vectors

    def __call__(
        self, view: WhiteBoxView, others: OthersGradient
    ) -> tuple[QuadraticForms, FloatArray]:
        """Forms of a block of records in the model's own parameters, and their residuals."""
        right = torch.as_tensor(view.gradient).to(self.solver.device)
        first = self.solver.solve(right, self.damping + self.shift, self.tolerance)
        own2, others2 = self._with(first.vectors, first.vectors, others)
        if self.weight_decay == 0:
            nothing = np.zeros_like(own2)
            forms = QuadraticForms(own2, others2, nothing, nothing)
            return forms, first.residual.cpu().numpy()
        loose = self.tolerance * max(1.0, self.damping / self.weight_decay)
        loose = max(self.tolerance, min(LOOSEST, loose))
        second = self.solver.solve(first.vectors, self.damping, loose)
        own3, others3 = self._with(first.vectors, second.vectors, others)
        return QuadraticForms(own2, others2, own3, others3), first.residual.cpu().numpy()

    def _with(self, left: torch.Tensor, right: torch.Tensor, others: OthersGradient):
        """Rows of `left`, and of the inverse on the others' gradient, times rows of `right`."""
        own = (left * right).sum(1).cpu().numpy()
        mean, decay = (right @ self.mean).cpu().numpy(), (right @ self.decay).cpu().numpy()
        return own, others.scale * mean + others.own * own + decay
