"""What the chapter's first pictures set beside each other."""

import pytest

from membership.exhibits import files
from membership.studies.iha import drawings


@pytest.mark.parametrize(
    ("exhibit", "draw"),
    [("iha-ctl-14", drawings.two_by_two), ("iha-ctl-20", drawings.two_by_two_by_rate)],
)
def test_the_square_of_four_has_every_attack_in_its_place(exhibit, draw):
    table, _ = files.load(exhibit, "paper")
    figure = draw(table)
    # Two data sets, or two learning rates.
    assert len(figure.axes) == 2 * len(drawings.READINGS)
    for axis in figure.axes:
        places = {text.get_position(): text.get_text().split("\n")[0] for text in axis.texts}
        assert places == {
            (0.5, 0.5): "LOSS",
            (1.5, 0.5): "LiRA-L",
            (0.5, 1.5): "IHA",
            (1.5, 1.5): "projection",
        }


def test_knowledge_is_a_colour_of_its_own():
    table, _ = files.load("iha-ctl-1", "paper")
    figure = drawings.knowledge(table)
    (legend,) = figure.legends
    told = {text.get_text() for text in legend.get_texts()}
    assert told == {"told none", "told all other records", "a coin"}
    assert len(figure.axes) == table["dataset"].nunique()


def test_the_printed_number_stands_between_the_two_that_it_may_be():
    table, _ = files.load("iha-ctl-3", "paper")
    figure = drawings.own_reference(table)
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert [" ".join(label.split()) for label in labels] == [
        drawings.LEFT_OUT,
        drawings.PRINTED,
        drawings.AMONG,
    ]


def test_the_weight_decay_has_a_bar_beside_the_published_score():
    table, _ = files.load("iha-ctl-4", "paper")
    figure = drawings.weight_decay(table)
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()][:2] == ["IHA", "IHA*"]
    areas = table[table["quantity"].isin(["AUC of IHA", "AUC of IHA*"])]["value"]
    assert [text.get_text() for text in figure.axes[0].texts] == [f"{area:.3f}" for area in areas]


def test_what_is_ahead_where_sgd_ran_has_a_panel_a_claim():
    table, _ = files.load("iha-ctl-9", "paper")
    figure = drawings.over_the_loss(table)
    assert len(figure.axes) == len(drawings.LEADS)
    for axis, metric in zip(figure.axes, drawings.LEADS, strict=True):
        leads = table[table["metric"] == metric]["value"]
        assert [text.get_text() for text in axis.texts] == [f"{lead:+.2f}" for lead in leads]
