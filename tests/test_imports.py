"""What is imported by what: help, refusals and lists wait for no library that takes seconds."""

import json
import subprocess
import sys

import pytest

from membership.book import running

TORCH = {"torch", "jax", "matplotlib"}
# In one process, in this order: each step also without what the steps before it must not import.
STEPS = [
    ("import membership.book.cli", TORCH | {"numpy", "pandas", "scipy", "sklearn", "xarray"}
     | {"joblib", "nbclient", "nbformat", "papermill", "rich", "safetensors", "tqdm"}),
    ("from membership.book.exhibits import files, listing\n"
     "listing.bibtex('iha-tab-2', files.recorded('iha-tab-2', 'paper')[0])",
     TORCH | {"numpy", "pandas", "scipy"}),
    ("import membership.book.cli.calculator", {"scipy"}),
    ("from membership import data; import membership.data.pictures",
     TORCH | {"sklearn", "scipy", "pandas", "pooch", "PIL"}),
    ("from membership.book import running", TORCH | {"scipy", "papermill"}),
    *((f"running.check({name!r}, {{'profile': {profile!r}}})",
       TORCH | {"scipy", "pandas", "sklearn", "papermill", "jupytext"})
      for name in running.chapters() for profile in ("tiny", "quick")),
    ("import membership.book.published, membership.book.exhibits", TORCH | {"papermill"}),
]  # fmt: skip
SLOW = {"sklearn", "joblib", "rich", "matplotlib", "seaborn", "pooch"}
TABLES = {"pandas", "xarray", "jinja2", "scipy.stats"}
# The rooms of the library, what later ones load last.
ROOMS = [
    ("import membership.metrics", {*SLOW, *TABLES, "torch", "pydantic", "scipy.optimize"}),
    ("import membership.data", {*SLOW, *TABLES, "torch", "scipy.optimize"}),
    ("import membership.privacy, membership.nngp, membership.lood", {*SLOW, *TABLES, "torch"}),
    ("import membership.models, membership.training, membership.signals", {*SLOW, *TABLES}),
    ("import membership.curvature, membership.attacks", {*SLOW, *TABLES}),
    ("import membership.evidence", SLOW),
    ("import membership.audit", SLOW),
]
PROGRAM = """
import json, sys
for step in json.loads(sys.argv[1]):
    exec(step)
    print(json.dumps(sorted(sys.modules)))
"""


def loaded_by(steps):
    """Each step with what it must not load and what is loaded after it."""
    command = [sys.executable, "-c", PROGRAM, json.dumps([step for step, _ in steps])]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    loaded = [set(json.loads(line)) for line in done.stdout.splitlines()]
    return [(*step, found) for step, found in zip(steps, loaded, strict=True)]


@pytest.mark.slow
def test_nothing_that_takes_long_is_imported_before_the_work():
    found = loaded_by(STEPS)
    assert [(step, heavy & loaded) for step, heavy, loaded in found if heavy & loaded] == []
    # Three hundred today, half of them the standard library's.
    assert len(found[0][2]) < 400


def test_a_room_of_the_library_loads_what_its_names_need_and_no_more():
    found = loaded_by(ROOMS)
    assert [(step, heavy & loaded) for step, heavy, loaded in found if heavy & loaded] == []
