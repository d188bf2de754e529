"""The chapter's declarations: order, needs, pictures and sentences."""

import numpy as np
import pandas as pd
import pytest

from membership import exhibits
from membership.studies.iha import gather, sentences
from membership.studies.iha.settings import Settings

DECLARED = {one.id: one for one in exhibits.declared("iha")}


@pytest.fixture(scope="module")
def chapter(settings, own_cache):
    return exhibits.open_chapter(settings)


def test_the_chapter_has_every_table_and_figure_and_its_controls():
    labels = [one.label for one in DECLARED.values()]
    assert {f"Table {i}" for i in range(1, 10)} | {"Figure 1"} <= set(labels)
    controls = {label for label in labels if label.startswith("Control")}
    assert controls == {f"Control {i}" for i in range(1, 22)}


@pytest.mark.parametrize("profile", ["tiny", "quick", "paper"])
def test_everything_that_is_needed_is_gathered(profile):
    settings = Settings.from_values({"profile": profile})
    needed = {name for one in DECLARED.values() for name in one.evidence(settings)}
    assert needed == set(gather.sources(settings))


def _two(a, b):
    rows = [("X", "A", "AUC", *a), ("X", "B", "AUC", *b)]
    return pd.DataFrame(rows, columns=["dataset", "attack", "metric", "low", "high"])


def test_a_sentence_follows_the_intervals():
    low, high = (0.5, 0.6), (0.7, 0.8)
    assert sentences.compared(_two(high, low), "A", "B") == "By AUC, A is above B on X."
    assert sentences.compared(_two(low, high), "A", "B") == "By AUC, A is below B on X."
    wide = (0.55, 0.75)
    assert "intervals of the two overlap" in sentences.compared(_two(wide, high), "A", "B")


def test_a_sentence_takes_differences_from_the_paired_rows():
    ends = {"IHA less LOSS, pooled": (0.1, 0.3), "LiRA-L, online less IHA, pooled": (-0.1, 0.3)}
    rows = [("X", name, "AUC, paired difference", *both) for name, both in ends.items()]
    columns = ["dataset", "attack", "metric", "low", "high"]
    table = pd.DataFrame([*rows, ("X", "IHA", "AUC", 0.0, 0.9)], columns=columns)
    told = sentences.of_control_5(table)
    assert told.startswith("Paired in AUC, IHA less LOSS, pooled: above 0 on X;")
    assert told.endswith("LiRA-L, online less IHA, pooled: undecided on X.")


def test_the_first_curve_at_one_percent_is_named():
    grid = np.array([0.001, 0.01, 0.1])
    parts = [
        pd.DataFrame({"panel": "X", "series": name, "fpr": grid, "tpr": tpr})
        for name, tpr in (("A", [0.5, 0.1, 0.2]), ("B", [0.1, 0.2, 0.3]))
    ]
    assert sentences.of_figure_1(pd.concat(parts)).endswith("B's on X.")


def test_sizes_are_those_of_the_run(chapter):
    table = chapter.source.table("iha-tab-2")
    assert table.attrs["sizes"]["Digits-Odd"].startswith("6 models, 3 of them attacked, ")
    assert "120 of" in table.attrs["sizes"]["Digits-Odd"]
