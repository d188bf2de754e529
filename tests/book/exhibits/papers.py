"""The papers' numbered tables and figures, listed by hand: none of them may be forgotten."""

from pathlib import Path

import pandas as pd


def of_the_papers(chapter=None):
    listed = pd.read_csv(Path(__file__).with_name("of_the_papers.csv"))
    return listed if chapter is None else listed[listed["chapter"] == chapter]
