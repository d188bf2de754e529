"""What someone who watches a run is told."""

import re
import tempfile
from pathlib import Path

import papermill
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from membership import processes
from membership.book.running.chapter_files import section_titles
from membership.book.running.engine import NAME, Progress, kernel_of
from membership.paths import lives

NOTEBOOK = new_notebook(
    cells=[
        new_code_cell("0"),
        new_markdown_cell("# One"),
        new_code_cell("1"),
        new_markdown_cell("prose only"),
        new_code_cell("2"),
        new_markdown_cell("## Two\n\n### Three"),
        new_code_cell("3"),
    ]
)


def test_each_cell_belongs_to_the_heading_above_it():
    titles = section_titles(NOTEBOOK)
    assert titles == ["the first cells", "One", "One", "One", "One", "Three", "Three"]


def test_progress_prints_one_line_as_each_section_begins(capsys):
    progress = Progress("demo", quiet=False)
    for index in range(len(NOTEBOOK.cells)):
        progress(index, NOTEBOOK)
    lines = [re.sub(r" +", " ", line) for line in capsys.readouterr().err.splitlines()]
    assert lines == [
        "demo cell 1 of 4 0:00 the first cells",
        "demo cell 2 of 4 0:00 One",
        "demo cell 4 of 4 0:00 Three",
    ]
    assert progress.section == "Three"


def test_quiet_progress_remembers_the_section_and_prints_nothing(capsys):
    progress = Progress("demo", quiet=True)
    assert progress.section == "the start of the kernel"
    progress(2, NOTEBOOK)
    assert progress.section == "One"
    assert capsys.readouterr().err == ""


def executed(run, kernel, *cells):
    spec = {"name": "python3", "display_name": "", "language": "python"}
    return papermill.execute_notebook(
        new_notebook(cells=[new_code_cell(c) for c in cells], metadata={"kernelspec": spec}),
        None,
        engine_name=NAME,
        kernel=kernel,
        on_cell=lambda index, nb: None,
        kernel_log=run.folder / "log",
        progress_bar=False,
    )


@pytest.mark.parametrize(("deeper", "transport"), [("", "ipc"), ("x" * 90, "tcp")])
def test_a_kernel_needs_no_port_where_the_folder_of_the_run_can_hold_sockets(deeper, transport):
    asked = "from ipykernel import get_connection_info\nget_connection_info(unpack=True)"
    with tempfile.TemporaryDirectory(prefix="m") as folder:
        run = processes.Run(Path(folder) / deeper)
        run.folder.mkdir(exist_ok=True)
        with kernel_of(run) as shared:
            found = executed(run, shared, asked)
        left = [path.name for path in run.folder.iterdir() if path.name.startswith("kernel")]
    assert f"'transport': '{transport}'" in found.cells[0].outputs[0].data["text/plain"]
    assert left == []


def test_pages_of_a_run_share_a_process_and_nothing_that_a_page_defines(tmp_path):
    process, leak = "import os\nos.getpid()", "here = 1"
    run = processes.Run(tmp_path)
    with kernel_of(run) as kernel:
        first = executed(run, kernel, process, leak)
        second = executed(run, kernel, process, "'here' in globals()")
        pid = int(first.cells[0].outputs[0].data["text/plain"])
        assert lives(pid)
    assert not lives(pid)
    assert second.cells[0].outputs[0].data["text/plain"] == str(pid)
    assert second.cells[1].outputs[0].data["text/plain"] == "False"
    assert [cell.execution_count for cell in second.cells] == [1, 2]
