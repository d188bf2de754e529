import pandas as pd


def test_a_run_knows_its_numbers_and_verdicts(make_table, make_run):
    run = make_run(make_table())
    assert run.title == "This run, quick"
    assert [entry.keys["attack"] for entry in run.entries] == ["MALT", "0-1", "MATT"]
    assert run.verdicts == ["agrees", "differs", "agrees"]
    elsewhere = make_table().assign(n=123)
    elsewhere.attrs = make_table().attrs
    assert make_run(elsewhere).verdicts == []
    assert make_run(make_table(), judged=False).verdicts == []


def test_only_long_or_untidy_data_are_left_to_the_figure(long_table, make_table, make_run):
    untidy = pd.concat([make_table()] * 2)
    untidy.attrs = make_table().attrs
    drawn = {"judged": False, "drawn": True}
    assert make_run(untidy, **drawn).is_drawn
    assert make_run(long_table, **drawn).is_drawn
    assert not make_run(make_table(), **drawn).is_drawn
    assert not make_run(long_table, drawn=True).is_drawn
    assert not make_run(long_table, judged=False).is_drawn
    assert make_run(untidy, judged=False).entries == []
