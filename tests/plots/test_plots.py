import os
import subprocess
import sys
import time

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text

from membership import plots
from membership.errors import InputError
from membership.plots import look


@pytest.fixture
def accuracies():
    table = pd.DataFrame(
        [(n, attack) for attack in ("0-1", "MALT", "MATT") for n in (400, 1000, 6000)],
        columns=["n", "attack"],
    )
    table["value"] = np.linspace(51, 57, len(table))
    return table.assign(low=table["value"] - 0.5, high=table["value"] + 0.25)


@pytest.fixture
def scores():
    rng = np.random.default_rng(0)
    frames = []
    for attack in ("MALT", "MAST"):
        for member in (True, False):
            key = {"attack": attack, "member": member}
            drawn = rng.normal(10 * member, 5, 50)
            frames.append(pd.DataFrame({**key, "series": "record", "score": drawn}))
            grid = np.linspace(-20, 30, 20)
            curve = {"series": "exact", "score": grid, "density": np.exp(-(grid**2) / 50)}
            frames.append(pd.DataFrame({**key, **curve}))
    return pd.concat(frames, ignore_index=True)


@pytest.fixture
def curves():
    fpr = np.linspace(0, 1, 50)
    parts = [pd.DataFrame({"attack": a, "fpr": fpr, "tpr": fpr**p}) for a, p in ((1, 1), (2, 0.5))]
    return pd.concat(parts)


@pytest.fixture
def figures(accuracies, scores, curves):
    return [
        plots.lines_with_intervals(accuracies, "n", log_x=True),
        plots.bars_with_intervals(accuracies, by="n"),
        plots.score_histograms(scores),
        plots.scatter(accuracies, "low", "high", by="attack"),
    ]


def labels(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def luminance(colour):
    red, green, blue = to_rgb(colour)
    return 0.299 * red + 0.587 * green + 0.114 * blue


def test_figures_are_full_width_opaque_and_labelled(figures):
    for figure in figures:
        assert isinstance(figure, Figure)
        assert 5 <= figure.get_size_inches()[0] <= 7
        assert to_rgb(figure.get_facecolor()) == (1, 1, 1)
        assert all(axis.get_xlabel() or axis.get_xticklabels() for axis in figure.axes)
        assert figure.axes[0].get_ylabel()


def test_no_text_is_smaller_than_nine_points(figures):
    for figure in figures:
        plots.save_bytes(figure, "png")
        texts = figure.findobj(mpl.text.Text)
        assert min(text.get_fontsize() for text in texts if text.get_text()) >= 9


@pytest.mark.parametrize(
    "hostile",
    [
        {"text.usetex": True},
        {"figure.figsize": (1, 1), "savefig.bbox": "tight", "savefig.dpi": 20},
        {"axes.prop_cycle": mpl.cycler(color=["red"]), "axes.labelcolor": "red", "font.size": 30},
        {"svg.fonttype": "path", "path.sketch": (3, 100, 2), "axes.unicode_minus": False},
    ],
    ids=lambda hostile: next(iter(hostile)),
)
def test_a_reader_s_own_settings_change_no_byte(accuracies, hostile):
    def drawn():
        with plots.style():
            return plots.save_bytes(plots.lines_with_intervals(accuracies, "n"), "svg")

    wanted = drawn()
    with mpl.rc_context(hostile):
        assert drawn() == wanted


def test_the_global_style_is_untouched(accuracies):
    before = dict(mpl.rcParams)
    figure = plots.lines_with_intervals(accuracies, "n")
    plots.save_bytes(figure, "svg")
    assert dict(mpl.rcParams) == before
    assert "matplotlib.pyplot" not in sys.modules or not mpl.pyplot.get_fignums()


@pytest.mark.slow
@pytest.mark.parametrize("fmt", ["svg", "pdf"])
def test_bytes_do_not_depend_on_the_clock(accuracies, fmt):
    def draw():
        return plots.save_bytes(plots.lines_with_intervals(accuracies, "n"), fmt)

    first = draw()
    time.sleep(1.1)
    assert draw() == first


@pytest.mark.slow
def test_bytes_do_not_depend_on_the_process():
    code = (
        "import hashlib, numpy as np, pandas as pd; from membership import plots;"
        "x = np.linspace(0, 1, 50);"
        "figure = plots.scatter(pd.DataFrame({'x': x, 'y': x**2}), 'x', 'y');"
        "print([hashlib.sha256(plots.save_bytes(figure, f)).hexdigest() for f in ('svg', 'pdf')])"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(printed) == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a$b$", "$\\frac{1", "x_1 $", "$$", "\\alpha & <b>"])
def test_a_name_is_drawn_as_it_is(accuracies, name):
    """A dollar begins no formula, wherever a name may stand."""
    named = accuracies.assign(attack=name, n=10.0 ** np.arange(len(accuracies)))
    figure = plots.lines_with_intervals(named, "n")
    axis = figure.axes[0]
    axis.set(title=name, xscale="log")
    for fmt in ("svg", "pdf"):
        assert look.save_bytes(figure, fmt)
    drawn = [text for text in figure.findobj(Text) if text.get_text() == name]
    assert len(drawn) >= 2
    assert not any(text.get_parse_math() for text in drawn)


def test_an_unknown_format_is_refused():
    with pytest.raises(InputError, match=r"fmt = 'gif': the formats are svg, pdf, png"):
        plots.save_bytes(Figure(), "gif")


def test_series_are_told_apart_without_colour():
    looks = look.series([*"abcdefg"])
    shapes = {(str(each["linestyle"]), each["marker"]) for each in looks.values()}
    assert len(shapes) == 7
    # On white, every line keeps a contrast that print and projectors need.
    assert max(luminance(each["color"]) for each in looks.values()) < 0.7
    with pytest.raises(InputError, match="8 series"):
        look.series([*"abcdefgh"])


def test_lines_stand_where_the_table_says(accuracies):
    shuffled = accuracies.sample(frac=1, random_state=0)
    axis = plots.lines_with_intervals(shuffled, "n", log_x=True).axes[0]
    drawn = {c.get_label(): c for c in axis.containers}
    assert set(drawn) == {"0-1", "MALT", "MATT"}
    line, _, (bars,) = drawn["MALT"]
    rows = accuracies[accuracies["attack"] == "MALT"]
    np.testing.assert_array_equal(line.get_xdata(), [400, 1000, 6000])
    np.testing.assert_allclose(line.get_ydata().astype(float), rows["value"])
    ends = np.array([segment[:, 1] for segment in bars.get_segments()])
    np.testing.assert_allclose(ends, rows[["low", "high"]])
    assert [text.get_text() for text in axis.get_xticklabels()] == ["400", "1000", "6000"]


def test_panels_whose_numbers_are_compared_have_one_scale(accuracies):
    both = [accuracies.assign(metric="a"), accuracies.assign(metric="b")]
    both[1][["value", "low", "high"]] += 20
    own = plots.lines_with_intervals(pd.concat(both), "n", panel="metric").axes
    same = plots.lines_with_intervals(pd.concat(both), "n", panel="metric", same_scale=True).axes
    limits = [axis.get_ylim() for axis in own]
    assert [axis.get_ylim() for axis in same] == [(limits[0][0], limits[1][1])] * 2


def drawn(axis):
    """The lines of a panel by series, and how many of their points have an error bar."""
    found = {c.get_label(): c for c in axis.containers}
    return {
        name: (line, sum(len(segment) > 0 for b in bars for segment in b.get_segments()))
        for name, (line, _, bars) in ((n, c.lines) for n, c in found.items())
    }


def test_published_points_elsewhere_are_drawn_and_have_their_ticks(accuracies):
    printed = accuracies.assign(n=accuracies["n"] * 10, value=55.0)
    figure = plots.lines_with_intervals(accuracies, "n", published=printed, log_x=True)
    axis = figure.axes[0]
    plots.save_bytes(figure, "svg")
    low, high = axis.get_xlim()
    assert low < 400
    assert high > 60000
    hollow = [line for line in axis.lines if line.get_markerfacecolor() == "none"]
    assert {x for line in hollow for x in line.get_xdata()} == {4000, 10000, 60000}
    assert list(axis.get_xticks()) == [400, 1000, 4000, 6000, 10000, 60000]


def test_published_numbers_without_the_axis_are_refused(accuracies):
    printed = accuracies.drop(columns="n")
    with pytest.raises(InputError, match=r"lacks the columns \['n'\]"):
        plots.lines_with_intervals(accuracies, "n", published=printed)
    none = plots.lines_with_intervals(accuracies, "n", published=printed.iloc[:0].assign(n=[]))
    assert [text.get_text() for text in none.axes[0].texts] == ["0-1", "MALT", "MATT"]


def test_exact_numbers_have_no_error_bars(accuracies):
    exact = accuracies["attack"] == "MALT"
    accuracies.loc[exact, "low"] = accuracies.loc[exact, "high"] = accuracies.loc[exact, "value"]
    accuracies.loc[accuracies.index[0], ["low", "high"]] = np.nan
    found = drawn(plots.lines_with_intervals(accuracies, "n").axes[0])
    assert {name: bars for name, (_, bars) in found.items()} == {"0-1": 2, "MALT": 0, "MATT": 3}


def test_bars_rise_to_their_values(accuracies):
    table = accuracies[accuracies["n"] == 400]
    figure = plots.bars_with_intervals(table)
    (bars,) = [c for c in figure.axes[0].containers if hasattr(c, "patches")]
    np.testing.assert_allclose([bar.get_height() for bar in bars], table["value"])
    assert labels(figure) == ["this run"]


def test_grouped_bars_do_not_overlap(accuracies):
    figure = plots.bars_with_intervals(accuracies, by="n")
    bars = sorted(figure.axes[0].patches, key=lambda bar: bar.get_x())
    assert len(bars) == 9
    ends = [bar.get_x() + bar.get_width() for bar in bars]
    assert all(end <= bar.get_x() for end, bar in zip(ends, bars[1:], strict=False))


def test_an_interval_that_misses_its_value_is_drawn_without_a_negative_arm(accuracies):
    table = accuracies.assign(low=accuracies["value"] + 0.1)
    assert look.arms(table, "value")[0] == pytest.approx(np.zeros(len(table)))
    assert plots.lines_with_intervals(table, "n").axes


@pytest.mark.slow
def test_histograms_are_densities_on_common_bins(scores):
    figure = plots.score_histograms(scores)
    assert [axis.get_title() for axis in figure.axes] == ["MALT", "MAST"]
    for axis in figure.axes:
        outside, inside = (patch.get_data() for patch in axis.patches)
        np.testing.assert_array_equal(outside.edges, inside.edges)
        for data in (outside, inside):
            assert np.sum(data.values * np.diff(data.edges)) == pytest.approx(1)
        assert len(axis.lines) == 2
    assert sorted(labels(figure)) == sorted(
        ["members", "non-members", "members, exact", "non-members, exact"]
    )


def test_histograms_refuse_rows_of_another_kind(scores):
    with pytest.raises(InputError, match="'record' or 'exact'"):
        plots.score_histograms(scores.assign(series="guess"))


def test_scatter_stays_small_for_many_points():
    x = np.random.default_rng(0).normal(size=20_000)
    figure = plots.scatter(pd.DataFrame({"x": x, "y": x}), "x", "y")
    assert len(plots.save_bytes(figure, "svg")) < 500_000
    assert labels(figure) == ["both equal"]


@pytest.mark.parametrize(
    "draw",
    [
        lambda table: plots.lines_with_intervals(table, "n"),
        plots.bars_with_intervals,
        plots.score_histograms,
        lambda table: plots.scatter(table, "x", "y"),
    ],
)
def test_a_table_that_cannot_be_drawn_is_refused(draw):
    with pytest.raises(InputError, match="lacks the columns"):
        draw(pd.DataFrame({"other": [1]}))
    columns = ["n", "attack", "value", "member", "series", "score", "density", "fpr", "tpr", "x"]
    with pytest.raises(InputError, match="empty"):
        draw(pd.DataFrame(columns=[*columns, "y"]))
