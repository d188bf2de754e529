"""Sentences from named rows."""

import pandas as pd
import pytest

from membership.book.exhibits import sentences
from membership.errors import InputError

TABLE = pd.DataFrame(
    {
        "n": [400, 400, 6000, 6000, 1000],
        "attack": ["MALT", "MATT", "MALT", "MATT", "MALT"],
        "value": [54.25, 57.0, 51.0, 51.5, 52.0],
        "low": [53.0, 56.0, 50.0, 50.5, 51.0],
    }
)
MALT, MATT = {"attack": "MALT"}, {"attack": "MATT"}


def test_a_text_for_each_value_from_rows_by_name():
    said = sentences.each(
        TABLE,
        "n",
        "n = {n:,}: {malt:.1f}% [{malt.low:g}], {gain:+.2f}",
        "By size: {}.",
        malt=MALT,
        matt=MATT,
        gain="matt - malt",
    )
    # That of n = 1000 is left out: the table has no MATT there.
    assert said == "By size: n = 400: 54.2% [53], +2.75; n = 6,000: 51.0% [50], +0.50."


def test_a_run_that_lacks_a_row_says_nothing():
    assert sentences.each(TABLE, "n", "{row}", "Of all: {}.", row={"attack": "MAST"}) == ""


def test_one_text_of_the_whole_table():
    assert sentences.each(TABLE, (), "{row:g}", row={"n": 400, **MATT}) == "57"


@pytest.mark.parametrize("mistake", ["{row:g}", "{row.width:g}"])
def test_a_name_is_of_one_row_and_of_its_columns(mistake):
    where = {"n": 400} if mistake == "{row:g}" else {"n": 400, **MATT}
    with pytest.raises((InputError, AttributeError), match=r"singles out 2 rows|no column 'width'"):
        sentences.each(TABLE, (), mistake, row=where)


def test_a_row_of_a_curve_is_its_rate():
    assert sentences.NamedRow(pd.Series({"tpr": 0.5, "fpr": 0.01})) == 0.5


def test_the_ends_of_several_rows_stand_by_one_name():
    said = {"spans": {"malt": MALT, "matt": {**MATT, "n": 400}}}
    said["text"] = "{malt:.1f}, at most {malt.most:.0f}; {matt:.0f}"
    assert sentences.sentence(said, TABLE) == "51.0 to 54.2, at most 54; 57"
    assert sentences.sentence({**said, "where": {"attack": "MALT"}}, TABLE) == ""


def test_declared_sentences_take_some_rows_and_stand_one_after_the_other():
    declared = [
        {"text": "None: {row}.", "rows": {"row": {"attack": "MAST"}}},
        {
            "where": {"attack": "MATT"},
            "at": "least",
            "over": "n",
            "text": "{row:.1f}%",
            "whole": "n = {n:,}: {}.",
            "rows": {"row": {}},
        },
        {"at": "ends", "over": ["n", "attack"], "text": "{row:g}", "rows": {"row": {}}},
    ]
    assert sentences.sentence(declared, TABLE) == "n = 400: 57.0%. 54.25; 57; 51; 51.5"


def test_the_ends_of_a_column():
    assert sentences.ends(TABLE, "n")["n"].tolist() == [400, 400, 6000, 6000]
    alone = TABLE[TABLE["n"] == 1000]
    assert sentences.ends(alone, "n")["n"].tolist() == [1000]


def test_names_in_a_sentence():
    assert sentences.joined(["a"]) == "a"
    assert sentences.joined(["a", "b", "c"]) == "a, b and c"


def test_a_sentence_that_a_list_declares():
    said = {
        "where": {"attack": "MALT"},
        "order": "value",
        "over": "n",
        "text": "{n:,} {row:g}",
        "whole": "MALT: {}.",
        "rows": {"row": {}},
    }
    assert sentences.sentence(said, TABLE) == "MALT: 6,000 51; 1,000 52; 400 54.25."
    assert sentences.sentence(said | {"where": {"attack": "MAST"}}, TABLE) == ""
    whole = {"text": "{row:g} at n = 400", "rows": {"row": {"n": 400, **MATT}}}
    assert sentences.sentence(whole, TABLE) == "57 at n = 400"


def test_several_rows_are_told_from_the_least_to_the_largest():
    declared = {"text": "{all:.0f}% at n = {all.n:,}", "spans": {"all": {"attack": "MATT"}}}
    rows = TABLE[TABLE["attack"] == "MATT"]
    (low, high), (few, many) = ((rows[name].min(), rows[name].max()) for name in ("value", "n"))
    expected = f"{low:.0f} to {high:.0f}% at n = {few:,} to {many:,}"
    assert sentences.sentence(declared, TABLE) == expected
    assert sentences.sentence(declared | {"spans": {"all": {"attack": "none"}}}, TABLE) == ""
    least = sentences.sentence(declared | {"at": "most"}, TABLE)
    assert least.endswith(f"at n = {many:,}")


def test_one_number_is_its_own_span():
    values = TABLE["value"]
    assert sentences.span(values[:1]) == sentences.span(values.iloc[0]) == "54%"


def test_the_last_of_several_texts_may_have_a_word_of_its_own():
    by_number = {"text": "{n}", "over": "n", "between": ", ", "last": " and "}
    assert sentences.sentence(by_number, TABLE) == "400, 6000 and 1000"
    assert sentences.sentence(by_number, TABLE[TABLE["n"] == 400]) == "400"


def test_several_rows_have_the_columns_of_their_table():
    absent = {"text": "{matt.width}", "spans": {"matt": MATT}}
    with pytest.raises(AttributeError, match="no column 'width'"):
        sentences.sentence(absent, TABLE)
