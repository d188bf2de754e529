"""A chapter's settings and tables, made up, and results that go to a temporary folder."""

from dataclasses import dataclass

import pandas as pd
import pytest

from membership import paths, published

KEYS = ["n", "attack", "metric"]


@dataclass(frozen=True)
class Settings:
    chapter: str = "bayes_optimal"
    profile: str = "quick"
    results_dir: str = ""
    data_root: str = ""
    seed: int = 3

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
        "comparable": comparable,
        "device": "cpu",
        **attrs,
    }
    return table


def make_comparison(table, tolerance=0.0):
    reference = published.table("bayes_optimal_table1")
    reference["n"] = reference["dataset"].str.extract(r"n=(\d+)", expand=False).astype(int)
    return published.compare(table, reference, KEYS, tolerance=tolerance)


@pytest.fixture
def table():
    return make_table()


@pytest.fixture(name="make_table")
def _make_table():
    return make_table


@pytest.fixture(name="make_comparison")
def _make_comparison():
    return make_comparison
