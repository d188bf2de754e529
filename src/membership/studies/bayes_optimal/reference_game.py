"""Section 6.3's game: networks trained on random halves of the same records, all queried."""

from dataclasses import dataclass, replace

import numpy as np
import xarray as xr

from membership import attacks, signals

# Of its members, from where on a network is said to fit them.
FITTED = 0.99


@dataclass(frozen=True)
class Target:
    """One target model and what its adversary has.

    Attributes
    ----------
    loss, correct, member : numpy.ndarray, shape (records,)
        Of the target: cross-entropy, whether it is right, and the truth to be inferred.
    reference_loss, reference_member : numpy.ndarray, shape (models, records)
        Of the reference models.
    shadow : numpy.ndarray, shape (records,), optional
        What attack models learnt from the same reference models say; higher for members.
    """

    loss: np.ndarray
    correct: np.ndarray
    member: np.ndarray
    reference_loss: np.ndarray
    reference_member: np.ndarray
    shadow: np.ndarray | None = None

    def mast(self, tau: str, temperature: float = 1.0) -> np.ndarray:
        """MAST with all reference models, shape (records,)."""
        return attacks.mast(
            self.loss,
            self.reference_loss,
            tau=tau,
            reference_member=self.reference_member,
            temperature=temperature,
        )


@dataclass(frozen=True)
class ReferenceGame:
    """The signals of networks trained on random halves of the same records.

    Attributes
    ----------
    loss, correct : numpy.ndarray, shape (models, records)
        Cross-entropy in nats, and whether the decision is right.
    member : numpy.ndarray of bool, shape (models, records)
        Which records each network was trained on: exactly half.
    attrs : dict
        Origin of the numbers, as a table carries it.
    attacked : tuple of int
        The networks that are targets.
    shadow : numpy.ndarray, shape (models, records), optional
        Score of the shadow attack on each target, others being its shadow models.
    """

    loss: np.ndarray
    correct: np.ndarray
    member: np.ndarray
    attrs: dict
    attacked: tuple[int, ...]
    shadow: np.ndarray | None = None

    @classmethod
    def of(cls, networks: xr.Dataset) -> "ReferenceGame":
        """The game that evidence of kind "outputs" holds."""
        said = networks.attrs
        attrs = {key: said[key] for key in ("data", "deviations", "sizes", "device")}
        return cls(
            signals.loss_of_log_odds(networks["log_odds"].values),
            networks["correct"].values.astype(float),
            networks["member"].values,
            attrs | {"setup": {"networks": said["setup"]}},
            tuple(said["targets"]),
            networks["shokri"].values if "shokri" in networks else None,
        )

    @property
    def fits(self) -> np.ndarray:
        """Which networks fit their members, shape (models,)."""
        return (self.correct * self.member).sum(1) >= FITTED * self.member.sum(1)

    def fitted(self) -> "ReferenceGame":
        """The game of the networks that fit their members alone."""
        rows = np.flatnonzero(self.fits)
        return replace(
            self,
            loss=self.loss[rows],
            correct=self.correct[rows],
            member=self.member[rows],
            attacked=tuple(place for place, row in enumerate(rows) if row in self.attacked),
            shadow=None if self.shadow is None else self.shadow[rows],
        )

    def targets(self):
        """Each target model, all other networks being its reference models.

        Only records that some reference model saw and another did not are queried: which they are
        says nothing about the target, whose half was drawn independently.
        """
        for row in self.attacked:
            others = np.delete(np.arange(len(self.loss)), row)
            seen = self.member[others]
            queried = seen.any(0) & ~seen.all(0)
            yield Target(
                self.loss[row, queried],
                self.correct[row, queried],
                self.member[row, queried],
                self.loss[np.ix_(others, queried)],
                seen[:, queried],
                None if self.shadow is None else self.shadow[row, queried],
            )
