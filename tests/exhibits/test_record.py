import hashlib
import json
import re

import pytest

from membership import exhibits
from membership.errors import InputError
from membership.exhibits import files, record

ID = "bayes-optimal-tab-1"


def test_a_record_says_all_that_determines_the_exhibit(settings, make_table, make_comparison):
    table = make_table(note="one game")
    comparison = make_comparison(table, tolerance=0.1)
    described = record.build(ID, table, b"csv", settings, comparison)
    plain = json.loads(files.json_bytes(described))
    assert plain["label"] == "Table 1"
    assert plain["seed"] == 3
    assert plain["data"] == {"digits": "ab" * 32}
    assert plain["device"] == "cpu"
    assert plain["note"] == "one game"
    assert plain["csv_sha256"] == hashlib.sha256(b"csv").hexdigest()
    assert re.fullmatch(r"[0-9a-f]{64}", plain["code_sha256"])
    assert re.fullmatch(r"([0-9a-f]{40}(-dirty)?)?", plain["commit"])
    assert plain["tolerance"] == 0.1
    assert plain["comparison"]["rows"][1] == {
        "n": 400,
        "attack": "0-1",
        "metric": "attack_accuracy(%)",
        "published": 52.1,
        "value": 52.9,
        "low": 52.4,
        "high": 53.4,
        "verdict": "differs",
        "reason": "published 0.3 below the interval",
    }


def test_where_and_how_fast_are_left_out(make_settings, table):
    here = record.build(ID, table, b"", make_settings(results_dir="/a", data_root="/b"), None)
    assert here["parameters"] == {
        "profile": "quick",
        "dataset": "digits",
        "seed": 3,
        "sizes": [400, 1000],
    }
    assert here == record.build(ID, table, b"", make_settings(), None)


def test_a_comparison_is_read_back(settings, make_table, make_comparison):
    table = make_table()
    table.loc[0, "n"] = 123  # not in the paper
    comparison = make_comparison(table)
    described = json.loads(files.json_bytes(record.build(ID, table, b"", settings, comparison)))
    read = record.comparison_of(described)
    assert list(read.columns) == list(comparison.columns)
    assert read["published"].isna().tolist() == [True, False, False]
    assert read["verdict"].tolist() == comparison["verdict"].tolist()


def test_another_chapters_exhibit_is_refused(settings, table):
    with pytest.raises(InputError, match=r"'iha-tab-2' belongs to chapter 'iha'"):
        record.build("iha-tab-2", table, b"", settings, None)


@pytest.mark.parametrize("key", ["data", "deviations", "comparable", "device"])
def test_a_table_must_state_its_making(results, settings, table, key):
    del table.attrs[key]
    with pytest.raises(InputError, match=key):
        exhibits.publish(ID, table, settings)
    assert not results.exists()
