"""What was run stands beside what the paper says."""

from membership.studies.gmip import setups


def test_every_table_in_words(audits, trained, settings):
    assert list(setups.in_words("tab-1").columns) == ["aspect", "f-DP", "f-MIP"]
    assert setups.in_words("tab-2")["Gradient LRT"].iloc[-1] == "no"
    for table in (setups.table_3(audits), setups.table_4(trained)):
        assert table["source"].value_counts().to_dict() == {"paper": 3, "this run": 1}
