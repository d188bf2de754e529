"""Install the wheel beside versions that others have, and run the tests of the rooms they import.

`make test-wheel ENVIRONMENTS="floors newest"` makes these, and without names each in turn, in a
temporary folder. Where torch's CUDA build is the one that pip finds, each takes 6 GB; tell pip of
an index with CPU builds (PIP_EXTRA_INDEX_URL), and it takes one.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
# What the tests of these rooms import besides.
TOOLS = ("hypothesis", "jsonschema", "packaging", "pytest=")
ROOMS = ("attacks", "audit", "curvature", "data", "evidence", "lood", "metrics", "models")
ROOMS += ("nngp", "plots", "privacy", "training", "test_signals.py")
# The imports of every room and an audit by the command, by which they are found to need no extra.
WHOLE = ("test_extras.py", "test_installation.py")
# What a wheel is made from.
SOURCE = ("src", "notebooks", "data")
FILES = ("pyproject.toml", "setup.py", "README.md", "LICENSE", "MANIFEST.in")


@dataclass(frozen=True)
class Environment:
    """A Python and what is installed there; what nothing pins is the newest that pip finds."""

    python: str = "3.11"
    extras: tuple[str, ...] = ()
    floors: bool = False


# Of the extras the engines that tests of these rooms ask; neural-tangents names TensorFlow.
ENGINES = ("accounting", "kernels", "laplace", "parquet")
ENVIRONMENTS = {
    "floors": Environment(extras=ENGINES, floors=True),
    "newest": Environment(extras=ENGINES),
    "no-extras": Environment(),
    "python-3.12": Environment("3.12"),
    "python-3.13": Environment("3.13"),
}


def floors(extras: tuple[str, ...]) -> list[str]:
    """The lowest version of every direct dependency, as pins; a pin stays as it is."""
    asked = PROJECT["dependencies"] + [one for name in extras for one in EXTRAS[name]]
    found = (re.match(r"([\w.-]+)[>=]=([\w.]+)", one) for one in asked)
    return sorted({f"{match[1]}=={match[2]}" for match in found if match})


def python(version: str) -> str:
    """A Python of this version: by its name, or where pyenv keeps what it has no name for."""
    name = f"python{version}"
    kept = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    for one in (name, *map(str, kept.glob(f"{version}.*/bin/{name}"))):
        if (
            shutil.which(one)
            and not subprocess.run([one, "-c", ""], capture_output=True).returncode
        ):
            return one
    sys.exit(f"there is no {name} here")


def copied(folder: Path) -> Path:
    """The sources in a folder of their own: a build leaves files beside them."""
    source = folder / "source"
    for name in SOURCE:
        wanted = shutil.ignore_patterns("*.egg-info", "*.ipynb", "*.npz", "__pycache__")
        shutil.copytree(ROOT / name, source / name, ignore=wanted)
    for name in FILES:
        shutil.copy(ROOT / name, source)
    return source


def commands(environment: Environment, folder: Path) -> Iterator[list[str]]:
    """What makes it in a folder that is there, and what tries it."""
    inside = [str(folder / "venv" / "bin" / "python"), "-P", "-m"]
    tools = [one for one in EXTRAS["test"] if one.startswith(TOOLS)]
    pins = folder / "pins.txt"
    pins.write_text("\n".join(floors(environment.extras) if environment.floors else []))
    yield [python(environment.python), "-m", "venv", str(folder / "venv")]
    yield [
        *inside,
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        f"--wheel-dir={folder}",
        str(copied(folder)),
    ]
    (wheel,) = folder.glob("*.whl")
    named = f"{wheel}[{','.join(environment.extras)}]" if environment.extras else str(wheel)
    install = [*inside, "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]
    yield [*install, f"--constraint={pins}", named, *tools]
    yield [*inside, "pip", "list"]
    tests = [*inside, "pytest", "-p", "no:cacheprovider", "--quiet", "-ra"]
    if environment.floors:
        # What old releases warn of beside new ones of others is no fault of this library.
        tests += ["-W", "default"]
    yield [*tests, "-m", "not slow", *(f"tests/{room}" for room in ROOMS)]
    yield [*tests, *(f"tests/{file}" for file in WHOLE)]


def tried(name: str) -> bool:
    """Whether everything in this environment ended well."""
    settings = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    settings.setdefault("OMP_NUM_THREADS", "1")
    with tempfile.TemporaryDirectory(prefix=f"wheel-{name}-") as folder:
        for command in commands(ENVIRONMENTS[name], Path(folder)):
            print(f"== {name}: {' '.join(command)}", flush=True)
            if subprocess.run(command, cwd=ROOT, env=settings).returncode:
                return False
    return True


def main(names: list[str]) -> None:
    """Try environments, and say of each what became of it."""
    if unknown := sorted(set(names) - set(ENVIRONMENTS)):
        sys.exit(f"environment {unknown[0]!r}: expected one of {', '.join(ENVIRONMENTS)}")
    outcome = {name: tried(name) for name in names or ENVIRONMENTS}
    for name, well in outcome.items():
        print(f"{name}: {'passed' if well else 'failed'}")
    sys.exit(not all(outcome.values()))


if __name__ == "__main__":
    main(sys.argv[1:])
