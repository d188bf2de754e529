import numpy as np
import pytest

from membership.book.studies.loss_enough.logistic import (
    KINDS,
    LIKELY,
    NOISE,
    OPTIMISERS,
    PENALTY,
    RATE,
    LogisticGame,
)
from membership.book.studies.loss_enough.names import (
    ALL,
    BEST_LOSS,
    BEST_PARAMETERS,
    MALT,
    MAST,
    POPULATION,
    POSTERIOR,
    SGD,
)


@pytest.fixture(scope="module")
def game():
    return LogisticGame(11, others=3)


def by_knowledge_and_attack(game, optimiser):
    rates = game.rates(optimiser).items()
    return {(others, attack): pair for others, part in rates for attack, pair in part.items()}


@pytest.fixture(scope="module")
def rates(game):
    return {optimiser: by_knowledge_and_attack(game, optimiser) for optimiser in OPTIMISERS}


def test_every_set_has_its_probability(game):
    assert sum(chance for _, chance in game.sets) == pytest.approx(1)
    assert len(game.sets) == len({counts for counts, _ in game.sets}) == 35
    drawn = np.random.default_rng(0).choice(5, (20_000, 3), p=LIKELY)
    counts, chance = game.sets[17]
    same = (np.stack([(drawn == k).sum(axis=1) for k in range(5)], axis=1) == counts).all(axis=1)
    assert same.mean() == pytest.approx(chance, abs=0.01)


def test_gradients_are_those_of_the_losses(game):
    step = 1e-6
    for axis in (0, 1):
        moved = [
            np.logaddexp(0, -KINDS @ (game.weights + s * np.eye(2)[axis]).T) for s in (step, -step)
        ]
        np.testing.assert_allclose(
            game.gradients[:, :, axis], (moved[0] - moved[1]) / (2 * step), atol=1e-8
        )


def test_the_posterior_is_the_one_of_equation_2(game):
    counts = (1, 0, 2, 0, 0)
    law = game.law(POSTERIOR, counts)
    energy = [
        sum(c * np.log1p(np.exp(-kind @ w)) for c, kind in zip(counts, KINDS, strict=True))
        + PENALTY / 2 * w @ w
        for w in game.weights
    ]
    expected = np.exp(-np.array(energy) / game.temperature)
    np.testing.assert_allclose(law, expected / expected.sum(), rtol=1e-9)


def test_a_step_of_sgd_leaves_its_law_as_it_is(game):
    counts = (1, 0, 1, 1, 0)
    law = game.law(SGD, counts)
    assert law.min() >= 0
    assert law.sum() == pytest.approx(1)
    after = np.zeros_like(law)
    for weight, mass in zip(game.weights, law, strict=True):
        for kind, count in zip(KINDS, counts, strict=True):
            gradient = -kind / (1 + np.exp(kind @ weight))
            to = weight - RATE * (gradient + PENALTY / 4 * weight)
            near = np.exp(-(((game.weights - to) / NOISE) ** 2).sum(axis=1) / 2)
            after += count / 3 * mass * near / near.sum()
    np.testing.assert_allclose(after, law, atol=1e-10)


@pytest.mark.parametrize("optimiser", OPTIMISERS)
@pytest.mark.parametrize("others", [ALL, POPULATION])
def test_no_attack_beats_the_best(rates, optimiser, others):
    found = {attack: each for (k, attack), each in rates[optimiser].items() if k == others}
    for attack, (area, rate) in found.items():
        assert area <= found[BEST_PARAMETERS][0] + 1e-9, attack
        assert rate <= found[BEST_PARAMETERS][1] + 1e-9, attack
    for attack in (MALT, MAST):
        assert found[attack][0] <= found[BEST_LOSS][0] + 1e-9


def test_the_posterior_needs_the_loss_alone_and_sgd_does_not(rates):
    posterior, sgd = rates[POSTERIOR], rates[SGD]
    for attack in (BEST_LOSS, MAST):
        assert posterior[ALL, attack] == pytest.approx(posterior[ALL, BEST_PARAMETERS])
    assert sgd[ALL, BEST_PARAMETERS][0] > sgd[ALL, BEST_LOSS][0]


@pytest.mark.parametrize("optimiser", OPTIMISERS)
def test_knowing_the_others_never_hurts_and_malt_does_not_look(rates, optimiser):
    found = rates[optimiser]
    for attack in (BEST_PARAMETERS, BEST_LOSS):
        assert found[ALL, attack][0] > found[POPULATION, attack][0]
    assert found[ALL, MALT] == pytest.approx(found[POPULATION, MALT])


def test_a_finer_grid_moves_the_posteriors_areas_little(rates):
    grids = by_knowledge_and_attack(LogisticGame(22, others=3), POSTERIOR), rates[POSTERIOR]
    finer, coarse = ({key: area for key, (area, _) in grid.items()} for grid in grids)
    assert finer == pytest.approx(coarse, abs=5e-4)
