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
PROGRAM = """
import json, sys
for step in json.loads(sys.argv[1]):
    exec(step)
    print(json.dumps(sorted(sys.modules)))
"""


@pytest.mark.slow
def test_nothing_that_takes_long_is_imported_before_the_work():
    command = [sys.executable, "-c", PROGRAM, json.dumps([step for step, _ in STEPS])]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    loaded = [set(json.loads(line)) for line in done.stdout.splitlines()]
    for (step, heavy), found in zip(STEPS, loaded, strict=True):
        assert not heavy & found, step
    # Three hundred today, half of them the standard library's.
    assert len(loaded[0]) < 400
