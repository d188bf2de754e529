"""Rows of a table as numbers of a claim."""

import pytest

from membership.book.published import rows


@pytest.mark.parametrize(
    ("text", "size"), [("1,000 (paper: 5,000)", 1000), ("64", 64), (3, 3), ("1,970", 1970)]
)
def test_a_size_is_read_without_the_papers(text, size):
    assert rows.stated_size({"sizes": {"Records": text}}, "Records") == size
    assert rows.stated_size({"sizes": {}}, "Records") == rows.stated_size({}, "Records") == 0
