r"""What stands for the inverse Hessian: its eigenvalues, a Cholesky factor or conjugate gradients.

P stands for :math:`H^{-1}` or, with the weight decay, for :math:`(H + \alpha I)^{-1}`, and P' for
the :math:`H^{-1}` between two of them. Vectors are the rows of (count, p), in the basis of the
`WhiteBoxView` that they come from.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch

from membership.arrays import FloatArray, one_of
from membership.curvature.conjugate_gradients import Solver
from membership.curvature.eigen import (
    Spectrum,
    check_conditioning,
    conditioned_inverse,
    spectrum_of,
)
from membership.curvature.factor import Factor, factors
from membership.curvature.objective import Objective
from membership.errors import InputError

SOLVERS = ("exact", "cg")


class Inverse(Protocol):
    """P and P', and what a gradient's quadratic forms with itself are."""

    def solve(self, vectors: FloatArray) -> FloatArray:
        """P v of each row."""

    def between(self, vectors: FloatArray) -> FloatArray:
        """P' v of each row."""

    def influence(self, gradient: FloatArray) -> FloatArray:
        """The form own1, g P g, of each row."""

    def own(self, gradient: FloatArray) -> dict[str, FloatArray]:
        """Besides, own2, g P P g, and own3, g P P' P g; and the residual where one is left."""


@dataclass(frozen=True)
class Eigenvalues:
    """In the eigenbasis of the Hessian, where both are diagonal: the diagonals, of shape (p,)."""

    outer: FloatArray
    inner: FloatArray

    def solve(self, vectors: FloatArray) -> FloatArray:
        return vectors * self.outer

    def between(self, vectors: FloatArray) -> FloatArray:
        return vectors * self.inner

    def influence(self, gradient: FloatArray) -> FloatArray:
        return np.square(gradient) @ self.outer

    def own(self, gradient: FloatArray) -> dict[str, FloatArray]:
        squared, square = np.square(gradient), self.outer**2
        return {
            "own1": squared @ self.outer,
            "own2": squared @ square,
            "own3": squared @ (square * self.inner),
        }


@dataclass(frozen=True)
class Factors:
    """Cholesky factors of the two damped matrices; own3 takes one triangular solution more."""

    outer: Factor
    inner: Factor

    def solve(self, vectors: FloatArray) -> FloatArray:
        return _numbers(self.outer.solve(self._sent(vectors)))

    def between(self, vectors: FloatArray) -> FloatArray:
        return _numbers(self.inner.solve(self._sent(vectors)))

    def influence(self, gradient: FloatArray) -> FloatArray:
        return _numbers(self.outer.half(self._sent(gradient)).square().sum(1))

    def own(self, gradient: FloatArray) -> dict[str, FloatArray]:
        right = self._sent(gradient)
        solved = self.outer.solve(right)
        return {
            "own1": _dot(right, solved),
            "own2": _dot(solved, solved),
            "own3": _numbers(self.inner.half(solved).square().sum(1)),
        }

    def _sent(self, vectors: FloatArray) -> torch.Tensor:
        return torch.as_tensor(vectors).to(self.outer.matrix.device)


@dataclass(frozen=True)
class ConjugateGradients:
    r"""Systems solved to the square root of the accuracy wanted.

    With x an approximate :math:`P g` and r what is left of g,

    .. math:: \|P g\|^2 = \|x\|^2 + 2\, r^\top P x + O(\|r\|^2) ,

    and a second system, for :math:`P' x`, is the one that own3 asks for anyway.
    """

    solver: Solver
    damping: float
    shift: float
    tolerance: float

    @property
    def _rough(self) -> float:
        """Where P' is not P, the second system does not take the first one's error away."""
        return self.tolerance if self.shift else self.tolerance**0.5

    def solve(self, vectors: FloatArray) -> FloatArray:
        both = self.damping + self.shift
        return _numbers(self.solver.solve(self._sent(vectors), both, self.tolerance).vectors)

    def between(self, vectors: FloatArray) -> FloatArray:
        sent = self._sent(vectors)
        return _numbers(self.solver.solve(sent, self.damping, self.tolerance).vectors)

    def influence(self, gradient: FloatArray) -> FloatArray:
        right = self._sent(gradient)
        first = self.solver.solve(right, self.damping + self.shift, self._rough)
        return _dot(first.vectors, right + first.remainder)

    def own(self, gradient: FloatArray) -> dict[str, FloatArray]:
        right = self._sent(gradient)
        first = self.solver.solve(right, self.damping + self.shift, self._rough)
        x = first.vectors
        second = self.solver.solve(x, self.damping, self._rough)
        return {
            "own1": _dot(x, right + first.remainder),
            "own2": _dot(x, x) + 2.0 * _dot(first.remainder, second.vectors),
            "own3": _dot(second.vectors, x + second.remainder),
            "residual": _numbers(torch.maximum(first.residual, second.residual)),
        }

    def _sent(self, vectors: FloatArray) -> torch.Tensor:
        return torch.as_tensor(vectors).to(self.solver.device)


def eigenvalues(
    values: FloatArray,
    damping: float,
    conditioning: str = "damping",
    convention: str = "paper",
    shift: float = 0.0,
) -> Eigenvalues:
    """From the Hessian's eigenvalues; parameters and errors as `conditioned_inverse`."""
    inner = conditioned_inverse(values, damping, conditioning, convention)
    return Eigenvalues(
        conditioned_inverse(values, damping, conditioning, convention, shift) if shift else inner,
        inner,
    )


def identity(size: int) -> Eigenvalues:
    """Of so many parameters, in any orthonormal basis: no curvature, a control."""
    ones = np.ones(size)
    return Eigenvalues(ones, ones)


@dataclass(frozen=True)
class Inversion:
    """How the Hessian is inverted: `attacks.iha` has the parameters; an `InputError` as there.

    A factor does where there is one damping and no spectrum at hand.
    """

    damping: float
    conditioning: str
    convention: str
    solver: str
    spectrum: Spectrum | None = None
    tolerance: float = 1e-6

    def __post_init__(self) -> None:
        check_conditioning(self.damping, self.conditioning, self.convention)
        one_of("solver", self.solver, SOLVERS)
        if self.solver == "cg" and self.conditioning == "low-rank":
            raise InputError(
                "conditioning = 'low-rank': conjugate gradients cannot leave eigenvalues out; use "
                "solver='exact', or conditioning='damping'"
            )

    def of(
        self,
        goal: Objective,
        train: tuple[torch.Tensor, torch.Tensor],
        n_queries: int,
        shift: float = 0.0,
    ) -> tuple[Inverse, Spectrum | None]:
        """What stands for the inverse, and the spectrum in whose basis it works, if in one.

        `conditioned_inverse` has the shift.
        """
        if self.solver == "cg":
            systems = Solver(goal, *train, n_systems=n_queries)
            return ConjugateGradients(systems, self.damping, shift, self.tolerance), None
        if self.spectrum is None and self.conditioning == "damping":
            inner, outer = factors(goal, *train, self.damping, shift)
            return Factors(outer, inner), None
        spectrum = self.spectrum or spectrum_of(goal, *train)
        spectrum.check(goal)
        how = (self.damping, self.conditioning, self.convention, shift)
        return eigenvalues(spectrum.values, *how), spectrum


def _numbers(values: torch.Tensor) -> FloatArray:
    return values.cpu().numpy()


def _dot(left: torch.Tensor, right: torch.Tensor) -> FloatArray:
    return _numbers((left * right).sum(1))
