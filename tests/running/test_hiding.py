"""No folder of this machine on a page, whatever wrote it there and however it was quoted."""

import html
import json
import sys
from pathlib import Path

import pytest

from membership import paths
from membership.running.hiding import hidden, own_data

HOME = "/home/mia-müller"
OWN = f"{HOME}/private study/mes-données.csv"


@pytest.fixture(autouse=True)
def machine(monkeypatch):
    monkeypatch.setenv("HOME", HOME)
    monkeypatch.setattr(sys, "prefix", f"{HOME}/clone/.venv")
    monkeypatch.setattr(paths, "project_root", lambda: Path(HOME) / "clone")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"{HOME}/clone/.venv/lib/tqdm/auto.py:21: TqdmWarning", ".venv/lib/tqdm/auto.py:21: "),
        (f"{HOME}/clone/src/membership/x.py:1: RuntimeWarning", "src/membership/x.py:1: "),
        (f"<module 'numpy' from '{HOME}/lib/numpy.py'>", "<module 'numpy' from '~/lib/numpy.py'>"),
        (f"cd {HOME}/clone", "cd ."),
        (f"file://{HOME}/a", "file://~/a"),
        (f"{OWN}:t", "mes-données.csv:t"),
        (f"dataset = {OWN!r}", "dataset = 'mes-données.csv'"),
        (f'dataset = "{OWN.encode("unicode_escape").decode()}:t"', 'dataset = "mes-données.csv:t"'),
        (json.dumps([OWN]), '["mes-données.csv"]'),
        (html.escape(f"<td>{OWN}"), html.escape("<td>mes-données.csv")),
        (f"cnn@{OWN}:t", "cnn@mes-données.csv:t"),
    ],
)
def test_every_way_of_writing_a_place_is_hidden(text, shown):
    parameters = {"dataset": f"{OWN}:t", "data_root": f"{HOME}/data", "also_models": ["cnn@digits"]}
    found = hidden({"cells": [{text: text}], "n": 3}, parameters)
    (told,) = found["cells"][0].values()
    assert told.startswith(shown)
    assert "mia" not in json.dumps(found, ensure_ascii=False)
    assert found["n"] == 3


@pytest.mark.parametrize(
    "text",
    ["a/b", "/homework/x", f"{HOME}-of-another/x", f"iVBOR+{HOME}", "1/2 of all", "https://a.b/c"],
)
def test_what_names_no_place_of_this_machine_stays(text):
    assert hidden(text, {"dataset": OWN}) == text


@pytest.mark.parametrize("home", ["/", ""])
def test_a_home_that_is_the_root_hides_nothing(monkeypatch, home):
    monkeypatch.setenv("HOME", home)
    monkeypatch.setattr(Path, "home", lambda: Path(home or "/"))
    assert hidden("a/b and /etc", {}) == "a/b and /etc"


@pytest.mark.parametrize(
    ("parameters", "names"),
    [
        ({"dataset": "mnist"}, []),
        ({"dataset": ""}, []),
        ({"dataset": f"{OWN}:t-standardised"}, ["mes-données.csv"]),
        ({"dataset": "/x/cats", "also_datasets": ["digits", "/y/dogs.npz"]}, ["cats", "dogs.npz"]),
        ({"also_models": ["cnn@/x/cats", "cnn@digits"]}, ["cats"]),
    ],
)
def test_own_data_go_by_their_names(parameters, names):
    assert own_data(parameters) == names
