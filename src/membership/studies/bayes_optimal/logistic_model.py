"""Two-class logistic regression with the derivatives that MATT needs."""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit
from sklearn.linear_model import LogisticRegression


@dataclass(frozen=True)
class LogisticModel:
    r"""A fitted two-class logistic regression.

    Attributes
    ----------
    theta : numpy.ndarray, shape (d + 1,)
        Weights, then the intercept.
    inverse_penalty : float
        scikit-learn's C: the fit minimises
        :math:`\sum_i \ell(\theta, z_i) + \lVert w \rVert^2 / (2C)`, intercept unpenalised.
    """

    theta: np.ndarray
    inverse_penalty: float

    def logit(self, x: np.ndarray) -> np.ndarray:
        """Log-odds of class 1, shape (records,)."""
        return x @ self.theta[:-1] + self.theta[-1]

    def log_odds(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Log-odds of the label, shape (records,)."""
        return (2 * y - 1) * self.logit(x)

    def loss(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Cross-entropy a record, in nats, shape (records,)."""
        return np.logaddexp(0.0, -self.log_odds(x, y))

    def curvature(self, x: np.ndarray) -> np.ndarray:
        """Second derivative of each record's loss in its logit, shape (records,)."""
        p = expit(self.logit(x))
        return p * (1 - p)

    def hessian(self, x: np.ndarray) -> np.ndarray:
        """Hessian of the summed, penalised loss over `x`, shape (d + 1, d + 1)."""
        design = with_one(x)
        penalty = np.full(design.shape[1], 1 / self.inverse_penalty)
        penalty[-1] = 0.0
        return design.T @ (self.curvature(x)[:, None] * design) + np.diag(penalty)


def fit(x: np.ndarray, y: np.ndarray, inverse_penalty: float) -> LogisticModel:
    """Logistic regression by scikit-learn's L-BFGS."""
    model = LogisticRegression(C=inverse_penalty, tol=1e-6, max_iter=20_000).fit(x, y)
    return LogisticModel(np.append(model.coef_[0], model.intercept_), inverse_penalty)


def with_one(x: np.ndarray) -> np.ndarray:
    """The features with a column of ones for the intercept, shape (records, d + 1)."""
    return np.concatenate([x, np.ones((len(x), 1))], axis=1)
