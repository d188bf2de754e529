import pytest

from membership.book.published import metric_words
from membership.metrics.rate_names import tpr_column, tpr_label


@pytest.mark.parametrize(("fpr", "percent"), [(0.001, "0.1"), (0.01, "1"), (0.3, "30")])
@pytest.mark.parametrize("unit", ["(%)", " (%)"])
def test_a_column_in_words_is_the_label(fpr, percent, unit):
    assert tpr_column(fpr, unit) == f"TPR@{percent}%FPR{unit}"
    assert metric_words(tpr_column(fpr, unit)) == tpr_label(fpr) == f"TPR at {percent}% FPR (%)"
