"""Texts have one digest in one order."""

from hypothesis import given
from hypothesis import strategies as st

from membership.sources import digest

# A NUL byte ends a text, and no source file holds one.
TEXTS = st.lists(st.text(st.characters(exclude_characters="\0"), max_size=8), max_size=4)


@given(TEXTS, TEXTS)
def test_other_texts_have_another_digest(first, second):
    assert (digest(*first) == digest(*second)) == (first == second)
