"""What a sentence says where there is nothing to say it of."""

import pandas as pd

from membership.book.exhibits import declared


def test_without_mislabelled_records_asked_nothing_is_said_of_them():
    plain = pd.DataFrame({"attack": ["LiRA"], "records": ["as they are"], "value": [0.6]})
    (exhibit,) = (exhibit for exhibit in declared("comparison") if exhibit.id == "comparison-ctl-1")
    assert exhibit.says(plain) == ""
    both = pd.concat([plain, plain.assign(records="mislabelled", value=0.9)])
    assert exhibit.says(both).endswith("0.900 on mislabelled ones.")
