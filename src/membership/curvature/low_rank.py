"""The leading eigenpairs of a Hessian from products alone, to speed conjugate gradients up."""

from dataclasses import dataclass

import torch

from membership.curvature.products import Product

MOST_VECTORS = 256


@dataclass(frozen=True)
class LowRank:
    """Approximate eigenpairs, those of the largest absolute values first.

    Attributes
    ----------
    values : torch.Tensor, shape (rank,)
    vectors : torch.Tensor, shape (rank, p)
        Orthonormal rows.
    """

    values: torch.Tensor
    vectors: torch.Tensor

    def to(self, dtype: torch.dtype) -> "LowRank":
        """The same in another precision."""
        return LowRank(self.values.to(dtype), self.vectors.to(dtype))

    def precondition(self, vectors: torch.Tensor, damping: float) -> torch.Tensor:
        """Divide (count, p) by the damped Hessian, as far as the eigenpairs go.

        Along the eigenvectors by eigenvalue plus damping; elsewhere by the smallest of these, so
        that the preconditioned matrix has eigenvalues near 1 (Frangella, Tropp and Udell 2023).
        """
        along = vectors @ self.vectors.T
        scale = self.values[-1].abs() + damping
        along *= scale / (self.values + damping) - 1.0
        return torch.addmm(vectors, along, self.vectors).div_(scale)


def low_rank(product: Product, size: int, n_systems: int, device: torch.device) -> LowRank | None:
    """Leading eigenpairs, as many as pay for themselves over a number of systems.

    A random start, two steps of subspace iteration and the Rayleigh-Ritz step: three products a
    vector, in single precision, since a preconditioner may be rough. The start is drawn with a
    fixed seed; the solutions depend on it only within their tolerance.
    """
    rank = min(MOST_VECTORS, n_systems // 4, size // 4)
    if rank < 2:
        return None
    generator = torch.Generator(device).manual_seed(0)
    single = {"dtype": torch.float32, "device": device}
    basis = torch.randn(rank, size, generator=generator, **single)
    for _ in range(2):
        basis = torch.linalg.qr(product(basis).T).Q.T.contiguous()
    small = basis @ product(basis).T
    values, turn = torch.linalg.eigh((small + small.T) / 2)
    # The last ones of a random subspace are poor approximations: leave a quarter out.
    order = values.abs().argsort(descending=True)[: rank - rank // 4]
    return LowRank(values[order], turn.T[order] @ basis)
