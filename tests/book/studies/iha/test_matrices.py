"""The score by what stands for the curvature: each is the public attack's, on the same records."""

import numpy as np
import pytest
from torch import nn

from membership import attacks, curvature, metrics
from membership.book.studies.iha import evaluation, matrices, subjects
from membership.book.studies.iha.experiment import train
from membership.book.studies.iha.forms import DAMPINGS, records, training_records

SOLVERS = dict(zip(matrices.MATRICES, ("exact", "ekfac"), strict=True))


@pytest.fixture(scope="module")
def of_table_2(settings, own_cache):
    return [matrices.of_table_2(one, settings) for one in subjects.decomposed(settings)]


@pytest.fixture(scope="module")
def residual(settings, own_cache):
    (subject,) = subjects.residual(settings)
    return subject, matrices.of_residual(subject, settings)


@pytest.fixture(scope="module")
def table(of_table_2, residual, source):
    swept = evaluation.read(source, subjects.SWEPT, subjects.decomposed)
    forms = [
        source.evidence(f"white-box-{one.slug}") for one in subjects.decomposed(source.settings)
    ]
    return matrices.control_29(of_table_2, [residual[1]], swept, forms)


def _scores_again(found, trained, place, model, loss):
    """The public attack at the second damping, by matrix."""
    query = found["query"].values
    for matrix, solver in SOLVERS.items():
        score = attacks.iha(
            model,
            loss,
            training_records(trained, place),
            records(trained, query),
            trained.task.membership[place, query],
            *trained.recipe.values(),
            damping=DAMPINGS[1],
            solver=solver,
            matrix="ggn",
        ).score
        kept = found["score"].sel(matrix=matrix, damping=DAMPINGS[1]).values[place]
        np.testing.assert_allclose(kept, score, rtol=1e-4, atol=1e-5 * np.abs(score).max())


def test_scores_of_the_residual_network_are_the_public_attacks(residual, settings):
    subject, found = residual
    trained = train(matrices.residual_task(subject, settings), settings)
    model = trained.ensemble.module(1)
    assert any(isinstance(part, nn.BatchNorm2d) for part in model.modules())
    _scores_again(found, trained, 1, model, trained.task.config.loss_of)


def test_of_one_logit_the_matrix_is_that_of_the_probability(of_table_2, trained):
    found = of_table_2[0]
    assert found["target"].values.tolist() == [0, 2]
    probability = nn.Sequential(trained.ensemble.module(0), nn.Sigmoid())
    _scores_again(found, trained, 0, probability, lambda p, y: (p[:, 0] - y) ** 2)


def test_the_hessian_stands_beside_on_the_same_targets_and_records(table, of_table_2, source):
    swept = evaluation.read(source, subjects.SWEPT, subjects.decomposed)[0]
    damping = DAMPINGS[-1]
    score = np.stack([swept.by_target[k][f"IHA, damping {damping:g}"] for k in (0, 2)])
    member = of_table_2[0]["member"].values
    np.testing.assert_array_equal(member, np.stack([swept.member[k] for k in (0, 2)]))
    own = of_table_2[0]["score"].sel(matrix="Gauss-Newton", damping=damping).values
    each = [[metrics.auc(s, m) for s, m in zip(part, member, strict=True)] for part in (own, score)]
    rows = table[table["dataset"].eq("Digits-Odd") & table["damping"].eq(damping)].set_index(
        "matrix"
    )
    assert rows.loc["Hessian", "value"] == pytest.approx(np.mean(each[1]))
    apart = np.mean(each[0]) - np.mean(each[1])
    assert rows.loc["Gauss-Newton less Hessian", "value"] == pytest.approx(apart, abs=1e-6)


def test_every_data_set_has_its_least_eigenvalue_and_the_residual_one_no_hessian(table):
    least = table[table["metric"] == matrices.LEAST]
    assert least["dataset"].tolist() == ["Digits-Odd", "Digits", "Digits, ResNet-8"]
    levels = table[table["metric"].eq("AUC") & table["dataset"].eq("Digits, ResNet-8")]
    assert set(levels["matrix"]) == {"LOSS", "Gauss-Newton", "EK-FAC"}
    assert matrices.control_29_said(table).count(" on ") == 3
    assert len(matrices.control_29_drawn(table).axes) >= 3


def test_the_least_eigenvalue_is_that_of_the_public_hessian(residual, settings):
    subject, found = residual
    trained = train(matrices.residual_task(subject, settings), settings)
    given = trained.ensemble.module(1), trained.task.config.loss_of, *training_records(trained, 1)
    values = np.linalg.eigvalsh(curvature.hessian(*given))
    assert found["least"].values[1] == pytest.approx(values[0], abs=1e-4 * np.abs(values).max())
