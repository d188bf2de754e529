"""What the chapter's first pictures set beside each other."""

from membership.exhibits import files
from membership.studies.bmia import drawings


def test_the_promised_rate_stands_in_every_panel():
    table, _ = files.load("bmia-ctl-2", "paper")
    figure = drawings.nominal(table)
    assert len(figure.axes) == table["panel"].nunique()
    for axis in figure.axes:
        (promised,) = (mark for mark in axis.containers if mark.get_label() == "promised")
        assert set(promised[0].get_ydata()) == {1.0}


def test_attacks_stand_by_what_they_need_and_the_plain_difference_on_its_line():
    table, _ = files.load("bmia-tab-1", "paper")
    figure = drawings.references(table)
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels == list(drawings.ATTACKS.values())
    plain = table[(table["attack"] == "difference") & (table["metric"] == drawings.FOUND)]
    lines = [axis.lines[-1].get_xdata()[0] for axis in figure.axes]
    assert lines == plain["value"].tolist()


def test_three_attacks_of_one_name_stand_beside_one_posterior():
    table, _ = files.load("bmia-ctl-6", "paper")
    figure = drawings.three_liras(table)
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels == list(drawings.VARIANCES.values())
    whole, _ = files.load("bmia-tab-1", "paper")
    ours = whole[(whole["attack"] == "BMIA") & (whole["metric"] == drawings.FOUND)]["value"]
    assert [axis.lines[-1].get_xdata()[0] for axis in figure.axes] == ours.tolist()
