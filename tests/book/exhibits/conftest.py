"""A chapter's settings and tables, made up, and results that go to a temporary folder."""

import importlib.util
from dataclasses import dataclass, replace
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest

from membership import paths
from membership.book import published
from membership.book.exhibits import files
from membership.book.exhibits.declaration import declared

ID = "bayes-optimal-tab-1"
EXHIBIT = next(one for one in declared("bayes_optimal") if one.id == ID)
VOID = {"br", "col", "hr", "img", "input", "meta", "link", "source"}
KEYS = ["n", "attack", "metric"]


@dataclass(frozen=True)
class Settings:
    chapter: str = "bayes_optimal"
    profile: str = "quick"
    results_dir: str = ""
    data_root: str = ""
    seed: int = 3

    def changed(self):
        """The parameters that are not the profile's."""
        return {}

    def parameters(self):
        return {
            "profile": self.profile,
            "dataset": "digits",
            "data_root": self.data_root,
            "seed": self.seed,
            "n_jobs": 2,
            "results_dir": self.results_dir,
            "sizes": [400, 1000],
        }


@pytest.fixture(scope="session")
def toy():
    """The made-up chapter of ``toy.py``."""
    spec = importlib.util.spec_from_file_location("toy", Path(__file__).with_name("toy.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def results(tmp_path, monkeypatch):
    """The project's results folder, moved to a temporary place."""
    monkeypatch.setattr(paths, "results_dir", lambda: tmp_path / "results")
    return tmp_path / "results"


@pytest.fixture
def settings():
    return Settings()


@pytest.fixture
def make_settings():
    return Settings


def make_table(comparable=True, deviations=(), **attrs):
    table = pd.DataFrame(
        {
            "n": [400, 400, 1000],
            "attack": ["MALT", "0-1", "MATT"],
            "metric": "attack_accuracy(%)",
            "value": [54.1, 52.9, 1 / 3 + 54],
            "low": [53.5, 52.4, 54.0],
            "high": [54.7, 53.4, 55.0],
            "n_repeats": 5,
        }
    )
    table.attrs = {
        "data": {"digits": "ab" * 32},
        "deviations": list(deviations),
        "setup": {str(n): _setup(n, comparable) for n in (400, 1000, 2000, 4000, 6000)},
        "device": "cpu",
        **attrs,
    }
    return table


def _setup(n, comparable):
    stated = published.setup("bayes_optimal")[f"Table 1, n={n}"]
    facts = ("data", "members", "queried_members", "queried_non_members", "architecture", "recipe")
    own = {} if comparable else {"data": "digits"}
    return {**{name: stated[name] for name in facts}, "reference_models": 1, **own}


@pytest.fixture
def save():
    """Saves a table as this run's Table 1 of the Bayes-optimal chapter."""

    def save(table, settings):
        files.save(replace(EXHIBIT, draw=None), table, settings, {})

    return save


@pytest.fixture
def table():
    return make_table()


@pytest.fixture(name="make_table")
def _make_table():
    return make_table


class Reader(HTMLParser):
    """Reads HTML and stops at a tag that is closed out of turn.

    ``tables`` holds for each table its rows, each a list of texts of its cells.
    """

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.words, self.tables = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("th", "td"):
            self.tables[-1][-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)
        if {"th", "td"} & set(self.open):
            # A block starts a line.
            start = "\n" if self.open[-1] == "div" else ""
            self.tables[-1][-1][-1] += start + data

    def having(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]

    @property
    def text(self):
        return "".join(self.words)


@pytest.fixture
def read():
    def read(html):
        reader = Reader()
        reader.feed(html)
        reader.close()
        assert reader.open == []
        return reader

    return read


@pytest.fixture
def long_table():
    """All of the paper's Table 1, each regenerated number 0.1 above the published one."""
    reference = published.table("bayes_optimal_table1")
    n = reference["dataset"].str.extract(r"n=(\d+)", expand=False).astype(int)
    table = reference[["attack", "metric", "value"]].assign(value=lambda t: t["value"] + 0.1)
    table.insert(0, "n", n)
    half = table["n"].map(lambda size: 0.2 if size == 400 else 0.05)
    table = table.assign(low=table["value"] - half, high=table["value"] + half, n_repeats=5)
    table.attrs = make_table().attrs
    return table.sort_values("n", kind="stable", ignore_index=True)
