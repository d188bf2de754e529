"""Leave-one-out retraining, and what attacks make of it."""

import numpy as np
import pandas as pd
import pytest

from membership import attacks
from membership.book.studies.iha import leave_one_out
from membership.book.studies.iha.experiment import scaled_logits
from membership.metrics.roc import flagged


def test_each_model_differs_from_the_base_by_its_own_record(retrained):
    member, groups = retrained.ensemble.membership, retrained.groups
    base = np.arange(member.shape[1]) < len(retrained.base)
    assert (member[groups["targets"]] == base).all()
    for r, (inside, outside) in enumerate(zip(retrained.inside, retrained.outside, strict=True)):
        for model in groups["without"][r]:
            assert np.flatnonzero(member[model] != base).tolist() == [inside]
        for model in groups["with"][r]:
            assert np.flatnonzero(member[model] != base).tolist() == [outside]
    assert base[retrained.inside].all()
    assert not base[retrained.outside].any()
    assert len(np.unique(np.concatenate([g.ravel() for g in groups.values()]))) == len(member)


def test_the_evidence_is_what_the_models_answer(experiment, retrained):
    pool, asked = retrained.task.pool, experiment.outputs["record"].values
    answers = scaled_logits(retrained.ensemble, pool.x[asked], pool.y[asked])
    seen = experiment.outputs["asked"].values
    np.testing.assert_array_equal(experiment.scaled[seen], answers.astype(np.float32)[seen])
    assert np.isnan(experiment.scaled[~seen]).all()
    assert seen[retrained.groups["targets"]].all()
    assert (seen[retrained.groups["with"]].sum(-1) == 1).all()
    member = retrained.ensemble.membership[:, asked]
    np.testing.assert_array_equal(experiment.outputs["member"].values, member)
    assert asked[experiment.outside].tolist() == retrained.outside.tolist()
    assert asked[experiment.inside].tolist() == retrained.inside.tolist()
    assert experiment.outputs.attrs["recipe"]["members"] == len(retrained.base)


def test_agreement_with_the_truth_is_the_rate_of_right_decisions(experiment, settings):
    played = leave_one_out.protocol(experiment, settings)
    table = leave_one_out.table_5([played]).set_index(["attack", "metric"])["value"]
    score, member = played.scores["IHA"], played.member
    called = np.stack([flagged(s, member, 0.3) for s in score])
    tpr, tnr = called[:, member].mean(), (~called[:, ~member]).mean()
    assert table["IHA vs GT", "agreement on members @FPR 0.3"] == pytest.approx(tpr)
    assert table["GT vs IHA", "agreement on non-members @FPR 0.3"] == pytest.approx(tnr)
    assert tnr >= 0.7


def test_references_of_a_member_have_not_seen_it(experiment, settings):
    """The L-attack of the protocol, by hand for one member and one non-member."""
    played = leave_one_out.protocol(experiment, settings)
    target = experiment.groups["targets"][0]
    member = experiment.outputs["member"].values
    for column, rows in (
        (0, experiment.groups["without"][0]),
        (len(experiment.inside), experiment.groups["references"]),
    ):
        assert not member[rows, column].any()
        expected = attacks.attack_r(
            experiment.loss[[target], column], experiment.loss[rows, column][:, None]
        )
        assert played.scores["L-attack"][0, column] == pytest.approx(expected[0])


def test_a_sentence_takes_differences_from_the_paired_rows():
    ends = {
        "IHA less LOSS, pooled": (0.1, 0.3),
        "loss ratio less IHA, pooled": (-0.1, 0.3),
    }
    rows = [("X", name, "AUC, paired difference", *both) for name, both in ends.items()]
    columns = ["dataset", "attack", "metric", "low", "high"]
    table = pd.DataFrame([*rows, ("X", "IHA", "AUC", 0.0, 0.9)], columns=columns)
    told = leave_one_out.leads(table, *ends)
    assert told.startswith("Paired in AUC, IHA less LOSS, pooled: above 0 on X;")
    assert told.endswith("loss ratio less IHA, pooled: undecided on X.")
