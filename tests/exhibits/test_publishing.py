import sys

import IPython.display
import pytest
from matplotlib.figure import Figure

from membership import exhibits
from membership.errors import InputError
from membership.exhibits import publishing

ID = "bayes-optimal-tab-1"


def draw(table):
    figure = Figure()
    axis = figure.subplots()
    axis.plot(table["n"], table["value"], "o")
    axis.set_title("Accuracy")
    return figure


@pytest.fixture
def shown(monkeypatch):
    """Pretend to be in a notebook; what it would show is collected here."""
    bundles = []
    monkeypatch.setattr(publishing, "_in_notebook", lambda: True)
    monkeypatch.setattr(
        IPython.display, "display", lambda bundle, raw: raw and bundles.append(bundle)
    )
    return bundles


def contents(folder):
    return {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_outside_a_notebook_it_saves_and_shows_nothing(results, settings, table, capsys):
    exhibits.publish(ID, table, settings, draw=draw)
    exhibits.show_card(ID, settings)
    folder = results / "quick" / "bayes_optimal"
    assert sorted(p.suffix for p in folder.iterdir()) == [".csv", ".json", ".pdf", ".svg"]
    assert capsys.readouterr().out == ""


def test_the_same_run_is_the_same_bytes(
    results, tmp_path, make_settings, make_table, make_comparison
):
    table = make_table()
    for name in ("one", "two"):
        settings = make_settings(results_dir=str(tmp_path / name))
        exhibits.publish(ID, table, settings, draw=draw, comparison=make_comparison(table))
    first, second = contents(tmp_path / "one"), contents(tmp_path / "two")
    assert len(first) == 4
    assert first == second
    exhibits.publish(ID, table, settings, draw=draw, comparison=make_comparison(table))
    assert contents(tmp_path / "two") == second


def test_a_drawing_that_fails_leaves_nothing(results, settings, table):
    def fails(table):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        exhibits.publish(ID, table, settings, draw=fails)
    assert not results.exists()


def test_an_empty_table_is_refused(results, settings, table):
    with pytest.raises(InputError, match="empty"):
        exhibits.publish(ID, table.iloc[:0], settings)
    assert not results.exists()


def test_a_place_that_cannot_be_written_to(tmp_path, make_settings, table):
    (tmp_path / "taken").write_text("")
    with pytest.raises(InputError, match="cannot write"):
        exhibits.publish(ID, table, make_settings(results_dir=str(tmp_path / "taken")))
    assert [p.name for p in tmp_path.iterdir()] == ["taken"]


def test_a_table_shows_its_card_at_once(results, shown, settings, make_table, make_comparison):
    table = make_table()
    exhibits.publish(ID, table, settings, comparison=make_comparison(table))
    (bundle,) = shown
    assert set(bundle) == {"text/html", "text/plain"}
    assert "../../results/quick/bayes_optimal/bayes-optimal-tab-1.csv" in bundle["text/html"]
    assert ".svg" not in bundle["text/html"]


def test_a_figure_is_shown_alone_and_its_card_after_it(results, shown, settings, table):
    exhibits.publish(ID, table, settings, draw=draw)
    assert [set(bundle) for bundle in shown] == [{"image/svg+xml", "text/plain"}]
    saved = results / "quick" / "bayes_optimal" / f"{ID}.svg"
    assert shown[0]["image/svg+xml"].encode() == saved.read_bytes()
    exhibits.show_card(ID, settings)
    assert f"../../results/quick/bayes_optimal/{ID}.svg" in shown[1]["text/html"]


def test_the_committed_paper_size_run_stands_beside_the_readers_own(
    results, shown, settings, make_settings, make_table, make_comparison
):
    paper, own = make_table(), make_table(False, ["digits"])
    paper_settings = make_settings(profile="paper")
    exhibits.publish(ID, paper, paper_settings, comparison=make_comparison(paper))
    exhibits.publish(ID, own, settings, comparison=make_comparison(own))
    alone, both = (bundle["text/html"] for bundle in shown)
    assert "paper-size run (committed)" not in alone
    assert "paper-size run (committed)" in both
    assert f"../../results/paper/bayes_optimal/{ID}.csv" in both


def test_the_committed_figure_stands_in_the_readers_card(
    results, shown, settings, make_settings, table
):
    for each in (make_settings(profile="paper"), settings):
        exhibits.publish(ID, table, each, draw=draw)
    exhibits.show_card(ID, settings)
    source = f'<img src="../../results/paper/bayes_optimal/{ID}.svg"'
    assert source in shown[-1]["text/html"]


def test_a_paper_run_elsewhere_is_compared_with_the_committed_one(
    results, shown, tmp_path, make_settings, table
):
    exhibits.publish(ID, table, make_settings(profile="paper"))
    elsewhere = make_settings(profile="paper", results_dir=str(tmp_path / "mine"))
    exhibits.publish(ID, table, elsewhere)
    html = shown[1]["text/html"]
    assert "paper-size run (committed)" in html
    assert f'href="../../results/paper/bayes_optimal/{ID}.csv"' in html
    assert f"<code>{tmp_path}/mine/paper/bayes_optimal/{ID}.csv</code>" in html


def test_a_card_needs_results(results, shown, settings):
    with pytest.raises(InputError, match="publish it first"):
        exhibits.show_card(ID, settings)


def test_a_terminal_is_no_notebook(monkeypatch):
    assert not publishing._in_notebook()
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    assert not publishing._in_notebook()
