"""The set-up agrees with itself: direct pins, their closure, the imports, and the Makefile."""

import ast
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

import membership
from membership.book import home
from membership.book.site import substitutions
from workflow import test_wheel as wheel

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
# What `make` builds: the library with its extras but JupyterLab, which comes with `make lab`.
DIRECT = [Requirement(one) for one in PROJECT["dependencies"]]
DIRECT += [Requirement(one) for name in EXTRAS if name != "lab" for one in EXTRAS[name]]
NAMED = {canonicalize_name(one.name) for one in DIRECT}
TORCH = "2.13.0"
LOCK = [
    line for line in (ROOT / "requirements.lock").read_text().splitlines() if line[:1] not in "#"
]
# torch comes first and with its own closure; the others are named by packages that do without.
LEFT_OUT = {"torch", "torchvision", "tensorflow", "tf2jax", "dm-tree", "setuptools"}
SET_UP = ("pyproject.toml", "requirements.lock")
MAKE_VARIABLES = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "PYTHON", "PROFILE")


def pins(lines: list[str]) -> dict[str, str]:
    """Map each package to its exact version."""
    split = (line.split("==") for line in lines)
    return {canonicalize_name(name): version for name, version in split}


def required(package: str) -> set[str]:
    """What an installed package's metadata asks for on this machine, extras left out."""
    asked = map(Requirement, importlib.metadata.requires(package) or [])
    return {
        canonicalize_name(one.name)
        for one in asked
        if one.marker is None or one.marker.evaluate({"extra": ""})
    }


def test_the_lock_is_within_the_ranges_that_the_project_allows():
    locked = {**pins(LOCK), "torch": TORCH}
    outside = [one for one in DIRECT if locked[canonicalize_name(one.name)] not in one.specifier]
    assert outside == []


def test_a_library_s_own_requirements_are_ranges():
    pinned = [one for one in PROJECT["dependencies"] if "==" in one]
    assert pinned == []


def test_conda_users_get_the_locked_versions_of_every_direct_dependency():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    *listed, own = environment["dependencies"][-1]["pip"]
    assert environment["name"] == "membership"
    assert environment["dependencies"][0] == "python=3.11"
    assert own == "-e ."
    locked = {**pins(LOCK), "torch": TORCH}
    assert pins(listed) == {name: locked[name] for name in NAMED}


def test_the_lock_holds_exact_versions_and_no_address():
    assert len(LOCK) > 100
    assert [line for line in LOCK if not re.fullmatch(r"[\w.-]+==[\w.]+", line)] == []
    assert len(pins(LOCK)) == len(LOCK)


LAB = [
    line
    for line in (ROOT / "requirements-lab.lock").read_text().splitlines()
    if line[:1] not in "#"
]


def test_jupyterlab_s_lock_holds_what_its_extra_pins_and_nothing_that_the_other_has():
    assert pins(EXTRAS["lab"]).items() <= pins(LAB).items()
    assert [line for line in LAB if not re.fullmatch(r"[\w.-]+==[\w.]+", line)] == []
    assert pins(LAB).keys() & pins(LOCK).keys() == set()


def test_the_lock_is_what_is_installed():
    wanted = pins(LOCK)
    assert {name: importlib.metadata.version(name) for name in wanted} == wanted


def test_what_is_locked_can_be_installed_on_the_first_python_that_is_new_enough():
    """Debian 12 has Python 3.11.2, where a version that asks for 3.11.5 is not found."""
    assert PROJECT["requires-python"].startswith(">=3.11")
    asked = {name: importlib.metadata.metadata(name)["Requires-Python"] for name in pins(LOCK)}
    assert {
        name: need for name, need in asked.items() if "3.11.0" not in SpecifierSet(need or "")
    } == {}


def test_the_lock_is_closed_and_holds_nothing_that_nothing_asks_for():
    locked = set(pins(LOCK))
    asked = NAMED.union(*map(required, locked))
    assert asked - locked <= LEFT_OUT
    assert locked & LEFT_OUT == set()
    assert locked - asked <= required("torch")


@pytest.mark.slow
def test_whatever_is_imported_is_a_direct_dependency():
    imported = set()
    for source in [*(ROOT / "src").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]:
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                imported.add(node.module.split(".")[0])
    providers = importlib.metadata.packages_distributions()
    third_party = imported & set(providers) - set(sys.stdlib_module_names) - {"membership"}
    assert {"numpy", "torch", "click", "pytest"} <= third_party
    provided = {name: {canonicalize_name(p) for p in providers[name]} for name in third_party}
    assert {name for name, by in provided.items() if not by & NAMED} == set()


def test_no_set_up_file_names_a_registry_or_another_lock():
    hosts = re.compile("py" r"pi\.org|python" r"hosted\.org|anaconda" r"\.org|index-url|--index")
    files = [
        "requirements.lock",
        "requirements-lab.lock",
        "requirements-cluster.lock",
        "environment.yml",
        "pyproject.toml",
        "Makefile",
        ".ci/run",
    ]
    files += [str(p.relative_to(ROOT)) for p in (ROOT / ".github").rglob("*.yml")]
    assert [f for f in files if hosts.search((ROOT / f).read_text())] == []
    others = ("uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock", "package-lock.json")
    assert [name for name in others if (ROOT / name).exists()] == []


CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text())


def test_the_citation_has_the_package_s_version_and_what_its_format_asks_for():
    assert CITATION["version"] == membership.__version__
    assert CITATION.keys() >= {"cff-version", "message", "title", "authors", "abstract", "license"}


def test_the_project_s_address_is_one_line_in_one_place(monkeypatch):
    config = yaml.safe_load((ROOT / "_config.yml").read_text())
    assert config["repository"] == {"url": ""}
    assert not {"repository-code", "url", "doi"} & CITATION.keys()
    monkeypatch.setattr(home, "REPOSITORY", "")
    assert (home.site(), home.cited(), home.buttons()) == ("", {}, {})
    monkeypatch.setattr(home, "REPOSITORY", "https://github.com/Owner/membership")
    site = "https://owner.github.io/membership/"
    assert home.cited() == {"repository-code": home.REPOSITORY, "url": site}
    options = SimpleNamespace(html_theme_options={"path_to_docs": ""}, myst_substitutions={})
    substitutions._offer(None, options)
    assert options.html_theme_options == {
        "path_to_docs": "",
        "repository_url": home.REPOSITORY,
        "use_repository_button": True,
        "use_issues_button": True,
    }


def test_the_newest_version_of_the_changelog_is_the_citation_s():
    heads = re.findall(r"^## \[(.+?)\](?: - (.+))?$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert heads[0] == ("Unreleased", "")
    assert heads[1] == (membership.__version__, CITATION["date-released"])


def test_the_container_copies_what_is_there_and_runs_the_two_commands(makefile):
    text = re.sub(r"\\\n\s*", "", (ROOT / "Dockerfile").read_text())
    steps = [line.split(maxsplit=1) for line in text.splitlines() if line[:1] not in ("", "#")]
    words = {"FROM", "RUN", "ARG", "USER", "WORKDIR", "COPY", "ENTRYPOINT", "CMD"}
    assert {word for word, _ in steps} == words
    assert tuple(steps[0]) == ("FROM", "python:3.11-slim-bookworm")
    copied = [rest.split()[1:-1] for word, rest in steps if word == "COPY"]
    assert [one for names in copied for one in names if not (ROOT / one).exists()] == []
    assert copied[-1] == ["."]
    assert steps[-2:] == [["ENTRYPOINT", '["make"]'], ["CMD", '["book"]']]
    targets = {line.split()[0] for line in makefile().stdout.splitlines()}
    assert {"setup", "book", "test"} <= targets
    # The environment's layer holds what `make setup` reads, and no more.
    assert set(copied[0]) == {"Makefile", *SET_UP}
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    assert {".venv", "_build", ".cache"} <= set(ignored)


def test_the_container_runs_and_writes_as_a_user():
    text = re.sub(r"\\\n\s*", "", (ROOT / "Dockerfile").read_text())
    steps = [line.split(maxsplit=1) for line in text.splitlines() if line[:1] not in ("", "#")]
    (user,) = (rest for word, rest in steps if word == "USER")
    assert user not in ("root", "0")
    before, after = steps[: steps.index(["USER", user])], steps[steps.index(["USER", user]) :]
    # What root does: packages, and the user with folders of their own.
    (made,) = (rest for word, rest in before if word == "RUN" and "useradd" in rest)
    assert made.split("&&")[0].split()[-1] == user
    folder = next(rest for word, rest in after if word == "WORKDIR")
    assert f"--owner {user} {folder} {folder}/_build" in made
    copies = [rest for word, rest in steps if word == "COPY"]
    assert [one for one in copies if not one.startswith(f"--chown={user} ")] == []
    assert all(["COPY", one] in after for one in copies)


@pytest.fixture
def makefile(tmp_path):
    for name in ("Makefile", *SET_UP):
        shutil.copy(ROOT / name, tmp_path)

    # The tests may themselves run under make, whose own settings must not reach this one.
    environment = {k: v for k, v in os.environ.items() if k not in MAKE_VARIABLES}

    def make(*arguments):
        return subprocess.run(
            ["make", *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    return make


def test_make_alone_lists_the_targets(makefile):
    shown = makefile()
    targets = [line.split()[0] for line in shown.stdout.splitlines()]
    wanted = "help setup book archive dist notebooks lab bench test test-fast browser lint clean"
    assert targets[0] == "help"
    assert set(wanted.split()) <= set(targets)


@pytest.mark.parametrize("python", ["false", "", "/nowhere/python3"])
def test_make_says_in_one_line_that_it_needs_a_newer_python(makefile, tmp_path, python):
    done = makefile("setup", f"PYTHON={python}")
    assert done.returncode != 0
    told, *_ = done.stderr.splitlines()
    assert told == "This needs Python 3.11, 3.12 or 3.13; name one: make PYTHON=/path/to/python3.11"
    assert not (tmp_path / ".venv").exists()


@pytest.mark.parametrize("version", ["3.10.13", "3.14.0"])
def test_make_refuses_a_python_that_the_lock_has_no_packages_for(makefile, tmp_path, version):
    python = tmp_path / "python"
    major, minor, micro = version.split(".")
    told = f"sys.version_info = ({major}, {minor}, {micro}); exec(sys.argv[-1])"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -c "import sys; {told}" "$2"\n')
    python.chmod(0o755)
    done = makefile("setup", f"PYTHON={python}")
    assert done.returncode != 0
    assert done.stderr.startswith("This needs Python 3.11, 3.12 or 3.13; name one:")
    assert not (tmp_path / ".venv").exists()


def test_make_installs_torch_before_what_builds_on_it(makefile):
    commands = makefile("--dry-run", "setup").stdout
    install = "pip install --quiet --disable-pip-version-check --no-compile"
    assert f"{install} torch=={TORCH}" in commands
    assert commands.index(f"torch=={TORCH}") < commands.index("requirements.lock")


def test_the_ci_script_is_sound_bash():
    checked = subprocess.run(["bash", "-n", str(ROOT / ".ci" / "run")], check=False)
    assert checked.returncode == 0


def test_ci_tries_the_wheel_in_every_environment_by_the_command_that_people_have():
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())["jobs"]
    tried = jobs["wheel"]["strategy"]["matrix"]["include"]
    assert {one["environment"]: one["python"] for one in tried} == {
        name: made.python for name, made in wheel.ENVIRONMENTS.items()
    }
    command = jobs["wheel"]["steps"][-1]["run"]
    assert command == "make test-wheel ENVIRONMENTS=${{ matrix.environment }}"
    assert all((ROOT / "tests" / room).exists() for room in wheel.ROOMS)


def test_every_direct_dependency_has_a_floor_and_it_is_within_its_range():
    lowest = pins(wheel.floors(wheel.ENGINES))
    ranges = {canonicalize_name(one.name): one.specifier for one in DIRECT}
    asked = PROJECT["dependencies"] + [one for name in wheel.ENGINES for one in EXTRAS[name]]
    assert lowest.keys() == {canonicalize_name(Requirement(one).name) for one in asked}
    assert [name for name, version in lowest.items() if version not in ranges[name]] == []
