"""One output or many: answers at further records of D' tell a model's noise from its membership.

A model's answer at the record z moves with the noise of its training, and so do its answers at
other records. An adversary who asks about those too, and has references of both sides, fits the
leading components of the references' answers there, and takes from the answer at z what they
account for: the slopes are fitted within sides, so that nothing of the coin is in them.
"""

import numpy as np

from membership.arrays import FloatArray
from membership.book.studies.iha import clean_game, whole_game
from membership.book.studies.iha.neighbours import Game

FURTHER = 50
COMPONENTS = (0, 1, 3, 8, 15)
# What was fixed beforehand.
CHOSEN = 8


def chosen(game: Game, seed: int) -> np.ndarray:
    """Rows in the pool of some of D', drawn at random, which every model is asked about."""
    rng = np.random.default_rng([seed, 47])
    return np.sort(rng.choice(game.base[0], min(FURTHER, len(game.base[0])), replace=False))


def numbers(
    own: FloatArray, without: FloatArray, having: FloatArray, draws: whole_game.Draws
) -> FloatArray:
    """AUC of the loss ratio with components subtracted, (components, readings, draws).

    From answers at the records themselves (R, sides, K), and at further ones of the models without
    (F, K) and with the record (R, F, K).
    """
    found = []
    for count in COMPONENTS:
        halves = []
        for half in (0, 1):
            answer = cleaned(own, without, having, half, count)[..., None]
            played, references = answer[:, :, 1 - half :: 2], answer[:, :, half::2]
            halves.append(clean_game.likelihood_ratio(played, references))
        found.append(whole_game.measured(np.stack(halves), draws).T)
    return np.array(found)


def cleaned(
    own: FloatArray, without: FloatArray, having: FloatArray, half: int, count: int
) -> FloatArray:
    """Answers (R, sides, K) less what so many components of those elsewhere account for."""
    references = without[:, half::2]
    middle = references.mean(1, keepdims=True)
    components = np.linalg.svd(references - middle, full_matrices=False)[0][:, :count]
    along = [
        np.broadcast_to(
            components.T @ (without - middle), (len(own), components.shape[1], own.shape[-1])
        ),
        np.einsum("fc,rfk->rck", components, having - middle),
    ]
    features = np.stack(along, 1)
    left = np.empty_like(own)
    for answer, feature, rest in zip(own, features, left, strict=True):
        apart = [
            part - part.mean(-1, keepdims=True)
            for part in (answer[:, half::2], feature[..., half::2])
        ]
        slope = np.linalg.lstsq(np.concatenate(apart[1], -1).T, apart[0].ravel(), rcond=None)[0]
        rest[:] = answer - np.einsum("c,sck->sk", slope, feature)
    return left
