"""What code a function's result depends on: edits that matter change the digest, others do not."""

import ast
import functools
import shutil
import time
from pathlib import Path

import numpy as np
import pytest

import membership
from membership import closure as room
from membership import metrics, training
from membership.closure import closure, closure_in, parts
from membership.curvature import eigen
from membership.sources import Sources
from membership.studies.iha import gather
from membership.studies.iha.settings import Settings
from membership.training import loop

PACKAGE = Path(membership.__file__).parent

HOUSE = {
    "__init__.py": "",
    "low.py": '''
"""The ground floor."""
import math
LIMIT = 3
UNUSED = 4
TABLE = {}
TABLE["entry"] = 1

def helper(x):
    """Add."""
    # A comment.
    return x + LIMIT

def other(x):
    return math.sqrt(x)

def named(x):
    return x
''',
    "middle/__init__.py": "from membership.middle.parts import Base, Thing, mark\n",
    "middle/parts.py": """
from membership import low

class Base:
    def shared(self):
        return low.helper(1)

class Thing(Base):
    def method(self):
        return 2

def mark(function):
    return function

def apart():
    return 0
""",
    "top.py": """
from membership import low, middle
from membership.middle import mark
import membership.middle.parts as pieces

DEFAULT = 5
CHOICES = {"a": low.named}

@mark
def root(x, n=DEFAULT, thing: "Thing" = None):
    helper = low.other
    return middle.Thing().method() + helper(x)

def inside():
    from membership.low import helper
    return helper(2)

def handed_on():
    return vars(pieces)

def by_choice(name):
    return CHOICES[name]

def entry():
    return low.TABLE
""",
}


@pytest.fixture
def house(tmp_path):
    for name, text in HOUSE.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def function(name: str):
    """Something that says where it is defined, which is all that is looked at."""

    def stand_in():
        raise AssertionError("the closure runs nothing")

    stand_in.__module__, _, stand_in.__qualname__ = f"membership.{name}".rpartition(".")
    return stand_in


def digest_in(folder: Path, name: str) -> str:
    return closure_in(Sources(folder), (function(name),))


@pytest.mark.parametrize(
    ("root", "file", "before", "after"),
    [
        ("top.root", "top.py", "helper(x)", "helper(x + 1)"),
        ("top.root", "top.py", "DEFAULT = 5", "DEFAULT = 6"),
        ("top.root", "top.py", "@mark\n", ""),
        ("top.root", "low.py", "math.sqrt(x)", "math.sqrt(-x)"),
        ("top.root", "low.py", "import math", "import cmath as math"),
        ("top.root", "middle/parts.py", "return 2", "return 3"),
        ("top.root", "middle/parts.py", "class Thing(Base)", "class Thing"),
        ("top.root", "middle/parts.py", "return function", "return function()"),
        ("top.root", "middle/parts.py", "low.helper(1)", "low.helper(0)"),
        ("top.root", "low.py", "LIMIT = 3", "LIMIT = 4"),
        ("top.inside", "low.py", "x + LIMIT", "x - LIMIT"),
        ("top.handed_on", "middle/parts.py", "return 0", "return 1"),
        ("top.by_choice", "low.py", "def named(x):\n    return x", "def named(x):\n    return 0"),
        ("top.entry", "low.py", '"entry"] = 1', '"entry"] = 2'),
    ],
)
def test_an_edit_that_may_matter_changes_the_digest(house, root, file, before, after):
    first = digest_in(house, root)
    text = (house / file).read_text()
    assert before in text
    (house / file).write_text(text.replace(before, after))
    assert digest_in(house, root) != first


@pytest.mark.parametrize(
    ("root", "file", "before", "after"),
    [
        ("top.root", "low.py", '"""Add."""', '"""Add three."""'),
        ("top.root", "low.py", '    """Add."""\n', ""),
        ("top.root", "low.py", "# A comment.", "# Another one."),
        ("top.root", "low.py", "ground floor", "cellar"),
        ("top.root", "low.py", "UNUSED = 4", "UNUSED = 5"),
        ("top.root", "low.py", "return x + LIMIT", "return (x\n            + LIMIT)"),
        ("top.root", "middle/parts.py", "return 0", "return 1"),
        ("top.inside", "middle/parts.py", "return 2", "return 3"),
    ],
)
def test_an_edit_that_cannot_matter_changes_nothing(house, root, file, before, after):
    first = digest_in(house, root)
    text = (house / file).read_text()
    assert before in text
    (house / file).write_text(text.replace(before, after))
    assert digest_in(house, root) == first


def test_a_move_to_another_module_changes_nothing(house):
    first = digest_in(house, "top.inside")
    low = (house / "low.py").read_text()
    start, end = low.index("def helper"), low.index("def other")
    (house / "low.py").write_text(low[:start] + low[end:])
    runs = 'TABLE = {}\nTABLE["entry"] = 1\n'
    (house / "lower.py").write_text(f"LIMIT = 3\n{runs}\n{low[start:end]}")
    top = (house / "top.py").read_text()
    (house / "top.py").write_text(top.replace("membership.low import", "membership.lower import"))
    assert digest_in(house, "top.inside") == first


def chapter_in(folder: Path, *cells: str) -> str:
    return room.closure_of_chapter(Sources(folder), "mine", list(cells))


def test_a_chapter_is_what_its_notebook_reaches_and_its_own_folder(house):
    cells = ["from membership import top\n", "top.inside()", "%magic"]
    first = chapter_in(house, *cells)
    assert chapter_in(house, *cells[:2], "%other magic") != first
    low = (house / "low.py").read_text()
    (house / "low.py").write_text(low.replace("LIMIT = 3", "LIMIT = 4"))
    second = chapter_in(house, *cells)
    assert second != first
    (house / "low.py").write_text(low.replace("LIMIT = 3", "LIMIT = 4").replace("sqrt", "exp"))
    assert chapter_in(house, *cells) == second
    (house / "studies" / "mine").mkdir(parents=True)
    (house / "studies" / "mine" / "exhibits.py").write_text("from membership.low import other\n")
    assert chapter_in(house, *cells) != second


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    folder = tmp_path_factory.mktemp("copy") / "membership"
    shutil.copytree(PACKAGE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def with_edit(copy: Path, file: str, before: str, after: str, *functions) -> tuple[str, str]:
    """The digest by a copy of this package, before and after an edit there."""
    path = copy / file
    text = path.read_text()
    assert before in text
    first = closure_in(Sources(copy), functions)
    path.write_text(text.replace(before, after))
    second = closure_in(Sources(copy), functions)
    path.write_text(text)
    return first, second


@pytest.mark.parametrize(
    ("file", "before", "after"),
    [
        ("training/loop.py", "optimiser.step()", "optimiser.step(None)"),
        ("training/config.py", "momentum=self.momentum", "momentum=0.0"),
        ("training/ensemble.py", "generator.manual_seed(seed)", "generator.manual_seed(seed + 1)"),
    ],
)
def test_training_depends_on_its_loop_its_recipe_and_its_start(copy, file, before, after):
    first, second = with_edit(copy, file, before, after, loop._run)
    assert first == closure(loop._run)
    assert second != first


@pytest.mark.parametrize("name", ["white-box-digits-odd", "white-box-left-out-digits"])
def test_evidence_depends_on_what_asks_a_model(copy, name):
    gather_it = gather.sources(Settings.from_values({"profile": "tiny"}))[name]
    edit = ("attacks/forms.py", "square, cube = inverse**2,", "square, cube = inverse**3,")
    first, second = with_edit(copy, *edit, gather_it)
    assert first == closure(gather_it)
    assert second != first
    edit = ("studies/iha/left_out.py", "raised, raised, 0.0", "raised, raised, 1.0")
    first, second = with_edit(copy, *edit, gather_it)
    assert (second != first) == ("left-out" in name)


def test_evidence_does_not_depend_on_what_reads_it(copy):
    gathering = gather.sources(Settings.from_values({"profile": "tiny"})).values()
    read = {n.split(".")[3] for n in parts(*gathering) if n.startswith("membership.studies.iha.")}
    assert {"gather", "white_box", "loo", "tasks", "measured"} <= read
    assert read & {"audit", "scores", "tables", "controls", "game", "solvers", "rows"} == set()


def test_an_attack_does_not_depend_on_exhibits_or_on_how_results_are_kept(copy):
    reached = parts(eigen.spectrum, training.train)
    assert "membership.curvature.hessians.hessian_matrix" in reached
    rooms = {name.split(".")[1] for name in reached}
    assert rooms & {"exhibits", "plots", "pipeline", "cli", "paths", "errors"} == set()
    assert not [name for name in reached if name.startswith("membership.training.cache")]


def test_a_callers_own_function_counts_with_what_it_names():
    def own(x):
        return metrics.auc(x, x > 0)

    def changed(x):
        return metrics.auc(x, x > 1)

    assert "membership.metrics.ranking.auc" in parts(own)
    assert closure(own) != closure(changed)
    assert closure(own) == closure(own)


def test_partials_methods_and_captured_functions_count():
    for one in (
        functools.partial(map, metrics.auc),
        functools.partial(metrics.auc, np.zeros(1)),
        eigen.Spectrum(np.zeros(1), None).rotate,
    ):
        assert [n for n in parts(one) if n.endswith((".auc", ".Spectrum"))]
    captured = metrics.auc

    def own(x):
        return captured(x)

    assert "membership.metrics.ranking.auc" in parts(own)


def test_a_library_counts_by_name():
    assert closure(np.mean) != closure(np.median)
    assert parts(np.mean).keys() == {"numpy.mean"}


def test_a_chapter_takes_no_longer_than_reading_the_package_twice():
    every = gather.sources(Settings.from_values({"profile": "tiny"})).values()
    folder = Path(membership.__file__).parent
    followed, read = [], []
    for _ in range(3):  # the fastest of each: the machine may be busy with other runs
        start = time.process_time()
        room.closure_in(Sources(folder), tuple(every))
        followed.append(time.process_time() - start)
        start = time.process_time()
        for path in folder.rglob("*.py"):
            ast.parse(path.read_bytes())
        read.append(time.process_time() - start)
    assert min(followed) < 2 * min(read), (followed, read)
