"""The table of faults is of the code as it is, and what noticed each stands beside it."""

from collections import Counter
from pathlib import Path

import pytest

from membership.book import running
from membership.book.exhibits.listing import find
from workflow import mutants

ROOT = Path(__file__).parents[1]
LISTED = mutants.listed()
CHAPTERS = [f"book/studies/{chapter}" for chapter in running.chapters()]


def test_a_fault_is_listed_once_and_stands_where_it_says():
    assert max(Counter(one.key for one in LISTED).values()) == 1
    places = {one: (ROOT / one.place).read_text(encoding="utf-8") for one in LISTED}
    assert [one.key for one, text in places.items() if text.count(one.old) != 1] == []
    assert [one.key for one in LISTED if one.old == one.new] == []


def test_each_chapter_has_ten_and_names_exhibits_of_its_own_or_none():
    count = Counter(one.room for one in LISTED)
    assert {room: n for room, n in count.items() if n < (10 if room in CHAPTERS else 5)} == {}
    assert sum(room in CHAPTERS for room in count) >= 7
    named = {(one.room, find(exhibit)["chapter"]) for one in LISTED for exhibit in one.exhibits}
    assert {
        each for each in named if each[0] in CHAPTERS and each[0] != f"book/studies/{each[1]}"
    } == set()


@pytest.mark.parametrize("room", sorted({one.room for one in LISTED}))
def test_nine_of_ten_of_those_that_were_tried_were_noticed(room):
    of_room = [row for row in mutants.found() if row.room == room]
    unseen = [row for row in of_room if row.noticed_by == mutants.NOTHING]
    assert len(unseen) <= max(1, len(of_room) // 10), unseen


def test_the_table_of_what_is_noticed_stands_where_one_looks_for_it():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert "\n".join(mutants.table_of_rooms()) in text, "python -m workflow.mutants prints it"


def test_what_noticed_a_fault_is_there():
    for row in mutants.found():
        file, _, test = row.noticed_by.partition("::")
        if test:
            name = test.rpartition("::")[2].partition("[")[0]
            assert f"def {name}(" in (ROOT / file).read_text(encoding="utf-8"), row
        elif file not in (mutants.NOTHING, mutants.TOO_LONG, mutants.DIED):
            assert (ROOT / file).exists() or find(file)["id"] == file


def test_what_is_remembered_follows_the_table_and_drops_what_it_lacks(tmp_path):
    first, second, gone = (mutants.Mutant("metrics", "roc.py", old, "x") for old in "abc")
    table = tmp_path / "found.csv"
    assert mutants.found(table) == []
    for one, by in ((second, "t"), (gone, "t"), (first, mutants.NOTHING), (second, "u")):
        mutants.remember(mutants.Row(*one.key, by), [first, second, gone], table)
    mutants.remember(mutants.Row(*first.key, "v"), [first, second], table)
    assert mutants.found(table) == [mutants.Row(*first.key, "v"), mutants.Row(*second.key, "u")]


def test_a_fault_is_put_into_the_file_and_taken_out_again(tmp_path):
    one = mutants.Mutant("metrics", "roc.py", "a - b", "b - a")
    file = tmp_path / one.place
    file.parent.mkdir(parents=True)
    file.write_text("x = a - b\n")
    before = file.stat().st_mtime_ns
    with mutants.faulty(one, tmp_path):
        assert file.read_text() == "x = b - a\n"
        during = file.stat().st_mtime_ns
    assert file.read_text() == "x = a - b\n"
    # Three moments, so that no compiled file is taken for another's.
    assert len({before, during, file.stat().st_mtime_ns}) == 3
    file.write_text("x = a - b - (a - b)\n")
    with pytest.raises(SystemExit, match="stands there 2 times"), mutants.faulty(one, tmp_path):
        pass


def test_tests_that_name_the_code_of_a_fault_are_tried_first(tmp_path):
    one = mutants.Mutant("metrics", "roc.py", "a - b", "b - a")
    texts = {
        one.place: "def other():\n    return 0\n\n\ndef auc():\n    return a - b\n",
        "tests/metrics/test_roc.py": "",
        "tests/metrics/test_lines.py": "metrics.auc(1)\n",
        "tests/metrics/test_others.py": "other(), auction()\n",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert mutants.tried(one, tmp_path) == [
        (["tests/metrics/test_roc.py"], ""),
        (["tests/metrics/test_lines.py"], "not slow"),
        (["tests/metrics"], "not slow"),
        (["tests/metrics"], "slow"),
    ]
