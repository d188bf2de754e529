import math

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from membership.book.exhibits.layout import Scale, fitted, forests, grid
from membership.book.exhibits.numbers import is_tidy, quantities


@pytest.fixture
def numbers(toy):
    return quantities(toy.table(), toy.judge(toy.table()))


def tidy(**columns):
    return pd.DataFrame({"value": 1.0, "low": 0.9, "high": 1.1, **columns})[
        [*columns, "value", "low", "high"]
    ]


def test_rows_stand_under_their_first_key_with_a_mark_a_metric(numbers):
    (plot,) = forests(numbers)
    assert [group.heading for group in plot.groups] == ["Digits", "Moons"]
    assert [label for label, _ in plot.groups[1].rows] == ["LOSS", "IHA"]
    (mark,) = plot.groups[1].rows[1][1]
    assert (mark.text, mark.quantity.verdict) == ("0.710", "differs")
    assert mark.published < mark.interval[0] < mark.point < mark.interval[1]
    (axis,) = plot.axes
    assert axis.metric == "AUC"
    assert axis.chance == pytest.approx(plot.groups[1].rows[0][1][0].published)
    assert plot.is_judged
    assert not plot.has_margins


def test_margin_and_spread_are_drawn_where_they_are_known(toy):
    judged = toy.judge(toy.table()).assign(spread=[None, 0.02, None, None])
    judged["equal_low"], judged["equal_high"] = (
        judged["published"] - 0.01,
        judged["published"] + 0.01,
    )
    (plot,) = forests(quantities(toy.table(), judged))
    mark = plot.groups[0].rows[1][1][0]
    assert mark.spread[1] - mark.spread[0] == pytest.approx(2 * (mark.band[1] - mark.band[0]))
    assert plot.groups[0].rows[0][1][0].band is None
    assert plot.has_margins


def test_numbers_about_the_models_are_a_note_and_no_mark():
    table = tidy(
        dataset=["Digits", "Digits", "Moons"],
        attack=["(model)", "LOSS", "LOSS"],
        metric=["test_accuracy(%)", "AUC", "AUC"],
    ).assign(value=[97.25, 0.5, 0.6])
    (plot,) = forests(quantities(table))
    assert [axis.metric for axis in plot.axes] == ["AUC"]
    assert [label for label, _ in plot.groups[0].rows] == ["Digits, LOSS", "Moons, LOSS"]
    two = pd.concat([table, table.tail(1).assign(attack="IHA")])
    notes = {group.heading: group.note for group in forests(quantities(two))[0].groups}
    assert notes == {"Digits": "test accuracy (%) 97.25", "Moons": ""}


def test_a_note_says_which_models_it_is_about_where_there_are_several_kinds():
    table = tidy(
        network=["CNN"] * 4,
        training=["plain", "plain", "cropped", "cropped"],
        attack=["(model)", "MALT"] * 2,
        metric=["test_accuracy(%)", "AUC"] * 2,
    ).assign(value=[58.5, 0.8, 66.5, 0.6])
    (group,) = forests(quantities(table))[0].groups
    assert group.note == "plain: test accuracy (%) 58.5; cropped: test accuracy (%) 66.5"


def test_differences_are_a_plot_of_their_own_about_nothing():
    table = tidy(attack=["MATT", "MALT", "MATT less MALT"], metric=["auc(%)"] * 3)
    table = table.assign(value=[59.0, 54.0, 5.0], low=[58.0, 53.0, 4.5], high=[60.0, 55.0, 5.5])
    levels, differences = forests(quantities(table, differences={"attack": "* less *"}))
    assert [axis.metric for axis in levels.axes] == ["AUC (%)"]
    assert set(dict(levels.groups[0].rows)) == {"MATT", "MALT"}
    (axis,) = differences.axes
    assert axis.metric == "difference in AUC (points)"
    ((label, (mark,)),) = differences.groups[0].rows
    assert label == "MATT \N{MINUS SIGN} MALT"
    assert axis.chance < mark.interval[0]
    assert differences.is_of_differences
    assert not levels.is_of_differences
    # Alone they need no name.
    (alone,) = forests(quantities(table.tail(1), differences={"attack": "* less *"}))
    assert [axis.metric for axis in alone.axes] == ["AUC (%)"]


def test_a_difference_is_what_is_declared_as_one_and_no_word_of_its_name():
    table = tidy(attack=["difference", "b", "b"], metric=["AUC", "AUC", "AUC, gain over b"])
    table = table.assign(value=[0.6, 0.5, -0.1], low=[0.5, 0.4, -0.2], high=[0.7, 0.6, 0.1])
    assert [plot.is_of_differences for plot in forests(quantities(table))] == [False]
    numbers = quantities(table, differences={"metric": "*, gain over b"})
    levels, differences = forests(numbers)
    assert len(levels.groups[0].rows) == 2
    (axis,) = differences.axes
    (mark,) = differences.groups[0].rows[0][1]
    assert mark.point < axis.chance < mark.interval[1]


def test_the_measure_that_sums_up_comes_first_and_rates_are_logarithmic():
    rows = [("TPR@1%FPR (%)", 0.0), ("loss", 3.0), ("AUC", 0.6), ("TPR@1%FPR (%)", 50.0)]
    table = tidy(attack=list("abcd"), metric=[m for m, _ in rows]).assign(
        value=[v for _, v in rows]
    )
    table = table.assign(low=table["value"], high=table["value"])
    table.loc[3, ["low", "high"]] = [1.0, 60.0]
    (plot,) = forests(quantities(table))
    assert [axis.metric for axis in plot.axes] == ["AUC", "TPR at 1% FPR (%)", "loss"]
    nothing = plot.groups[0].rows[0][1][1]
    assert (nothing.point, nothing.leaves, nothing.text) == (None, {"left"}, "0.00")
    assert plot.axes[1].chance is not None
    assert plot.axes[2].chance is None


def test_many_metrics_exact_numbers_and_numbers_without_keys_are_no_plot():
    few = tidy(attack=["a", "b", "c"], metric=["m1", "m2", "m3"])
    assert forests(quantities(few))
    more = pd.concat([few, few.tail(1).assign(metric="m4")])
    assert not forests(quantities(more))
    apart = pd.concat([few, few.tail(1).assign(metric="m3, less that of a")])
    assert forests(quantities(apart, differences={"metric": "*, less that of a"}))
    assert not forests(quantities(few.assign(low=1.0, high=1.0)))
    assert not forests(quantities(tidy(metric=["m1"])))
    assert not forests(quantities(tidy(attack=["a", "b"])))


def test_a_grid_holds_forty_rows_and_says_how_many_it_left_out():
    table = tidy(n=range(43), metric="m")
    found = grid(quantities(table))
    assert [len(group.rows) for group in found.groups] == [40]
    assert found.left_out == 3
    assert found.groups[0].rows[2][0] == "n = 2"


def test_a_cell_without_a_number_is_empty():
    found = grid(quantities(tidy(attack=["a", "b"], metric=["AUC", "loss"])))
    assert found.metrics == ["AUC", "loss"]
    assert [[one is None for one in row] for _, row in found.groups[0].rows] == [
        [False, True],
        [True, False],
    ]


def test_what_was_not_published_is_not_a_number(numbers):
    assert math.isnan(numbers[0].published)
    assert (numbers[0].published_text, numbers[0].verdict) == ("", "")
    assert (numbers[1].published_text, numbers[1].reason) == ("0.62", "")
    assert numbers[1].keys == {"dataset": "Digits", "attack": "IHA"}


def test_a_table_whose_keys_do_not_tell_rows_apart_is_not_tidy(toy):
    assert is_tidy(toy.table())
    assert not is_tidy(pd.concat([toy.table(), toy.table()]))
    assert not is_tidy(pd.DataFrame({"attack": ["a"], "value": ["many"]}))
    assert not is_tidy(pd.DataFrame({"attack": ["a"]}))


def test_few_rows_with_many_metrics_are_turned():
    metrics = [f"m{i}" for i in range(5)]
    rows = pd.MultiIndex.from_product([["Digits"], ["a", "b"], metrics])
    table = rows.to_frame(index=False, name=["dataset", "attack", "metric"])
    table.insert(2, "game", "chess")
    found = grid(quantities(tidy(**table)))
    assert found.metrics == ["a", "b"]
    assert [group.heading for group in found.groups] == ["Digits, chess"]
    assert [label for label, _ in found.groups[0].rows] == metrics
    assert found.groups[0].rows[4][1][1].keys["attack"] == "b"
    assert found.groups[0].rows[4][1][1].metric == "m4"


finite = st.floats(1e-3, 1e3)


def test_positions_are_percent_of_the_axis():
    assert Scale(0.5, 0.7, False).at(0.6) == pytest.approx(50)
    assert Scale(0.1, 10.0, True).at(1.0) == pytest.approx(50)
    assert Scale(0.5, 0.7, False).at(0.9) == 100


def test_what_leaves_the_axis_says_on_which_side():
    axis = Scale(0.1, 10.0, True)
    assert [axis.side(x) for x in (0.0, 0.05, 0.1, 3, 10, 20)] == [
        *("left", "left", "", "", "", "right"),
    ]
    assert not axis.holds(math.nan)


def test_ticks_are_round_and_few():
    assert [label for _, label in Scale(0.47, 0.72, False).ticks()] == ["0.5", "0.6", "0.7"]
    assert [label for _, label in Scale(0.09, 30, True).ticks()] == ["0.1", "1", "10"]
    assert [label for _, label in Scale(0.9, 6, True).ticks()] == ["1", "2", "5"]


@given(st.lists(finite, min_size=1, max_size=8), st.booleans())
def test_every_point_lies_on_the_axis_and_the_ticks_do_too(points, logarithmic):
    axis = fitted(points, [], logarithmic=logarithmic)
    assert all(axis.holds(point) for point in points)
    ticks = axis.ticks()
    assert all(0 <= x <= 100 for x, _ in ticks)
    assert len(ticks) <= 6


def test_one_wide_interval_does_not_press_the_points_together():
    points = [0.5, 0.52, 0.6]
    near = fitted(points, [0.49, 0.62], logarithmic=False)
    assert near.holds(0.49)
    assert near.holds(0.62)
    far = fitted(points, [0.49, 0.62, 0.0, 1.0], logarithmic=False)
    assert (far.low, far.high) == (near.low, near.high)


def test_points_take_most_of_their_axis():
    axis = fitted([0.5, 0.55, 0.7], [], logarithmic=False)
    assert 0 < axis.at(0.5) < 10
    assert 90 < axis.at(0.7) < 100


def test_a_logarithmic_axis_bears_zeros_and_nothing_at_all():
    assert fitted([0.0, 1.0], [], logarithmic=True).holds(1.0)
    assert fitted([0.0], [math.nan], logarithmic=True).low > 0
    assert fitted([], [], logarithmic=False).high > 0
