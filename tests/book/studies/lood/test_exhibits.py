"""What the declarations say of the committed tables, what they read, and how the page shows it."""

from membership.book.exhibits import cards, declared
from membership.book.exhibits.panels import panels

EXHIBITS = declared("lood")


def test_a_page_has_pictures_and_not_their_pixels():
    (one,) = (one for one in EXHIBITS if one.id == "lood-fig-2")
    (run,) = panels(one, "paper", "")
    assert "pixels" in run.table
    assert "pixels" not in run.columns
    assert "correlation" in run.columns


def test_a_page_lists_no_more_points_of_a_curve_than_it_has_room_for():
    (one,) = (one for one in EXHIBITS if one.id == "lood-fig-7")
    (run,) = panels(one, "paper", "")
    assert len(run.listed) == run.most_listed < len(run.numbers)
    assert cards.html(one, [run]).count("<tr>") < 210
