"""What the chapter's first pictures set beside each other."""

import pytest

from membership.exhibits import files
from membership.studies.bayes_optimal import drawings


@pytest.mark.parametrize(("name", "drawn"), [("3", "twins"), ("9", "parameters_and_loss")])
def test_a_point_a_game_of_the_table(name, drawn):
    table, _ = files.load(f"bayes-optimal-ctl-{name}", "paper")
    (axis,) = getattr(drawings, drawn)(table).axes
    points = sum(len(mark[0].get_xdata()) for mark in axis.containers)
    first = table[table["metric"] == "auc(%)"]["attack"].iloc[0]
    assert points == ((table["attack"] == first) & (table["metric"] == "auc(%)")).sum()


def test_accuracy_stands_beside_members_found():
    table, _ = files.load("bayes-optimal-tab-2", "paper")
    first, second = drawings.right_and_found(table).axes
    malt, mast = (
        table[(table["attack"] == name) & (table["metric"] == "TPR@1%FPR(%)")]["value"].iloc[0]
        for name in ("MALT", "MAST")
    )
    texts = [text.get_text() for text in second.texts]
    assert {f"{malt:.1f}", f"{mast:.1f}"} <= set(texts)
    assert len(first.texts) == len(second.texts) == len(drawings.COMPARED)
