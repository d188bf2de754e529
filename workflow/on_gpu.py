"""What a GPU is wanted for, in pieces, where one is at hand for minutes: ``make on-gpu``.

    python -m workflow.on_gpu [PIECE ...] [--minutes 10] [--list]

Each run goes on where the last one ended: training from its checkpoint, and what each model
answered is kept in the cache (``MEMBERSHIP_CACHE``). Where a machine is lent and its disk is not,
take along the cache's small files; trained models and checkpoints are the large ones. What took
longer than is left is not started, and training stops when the minutes are over. The table says
what is done and what is left, by this machine's device; expected minutes are those of an H200.
``--toy`` does all of it at the size of the tests, on a CPU too.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import torch

from membership import installation, paths
from membership.book import running
from membership.book.cli.command_line import show
from membership.book.running.gathering_plan import (
    DEVICE_COLUMNS,
    TOLERANCE,
    Step,
    cells,
    compared,
    source,
)
from membership.book.settings import INCIDENTAL
from membership.book.studies.bmia import by_model, convolutional
from membership.book.studies.bmia.convolutional import GATHERERS, SETUPS, Setup
from membership.book.studies.bmia.evidence import CONVOLUTIONAL
from membership.book.studies.lood.evidence import halves
from membership.errors import InputError
from membership.evidence import gathering
from membership.evidence.gathering import Arrays, Parts
from membership.training.deadline import Stopped, until

NO_GPU = "No GPU that torch finds is here, so nothing was started; --list says what is left."
ONE_DEVICE = "verdict: needs a GPU beside the CPU; nothing is compared with itself."
COLUMNS = ["piece", "done", "left", "minutes", "of the next part"]
VERDICT, TRAINING, ASKING = "verdict", "training", "asking"


@dataclass(frozen=True)
class Piece:
    """Parts to be trained, which can be stopped and taken up, and asked, which cannot.

    `gather` makes evidence of what all of them have left, all files of it or none.
    """

    name: str
    minutes: float
    parts: Parts
    train: Callable[[Any], Any] | None = None
    gather: dict[str, Callable[[], Any]] = field(default_factory=dict)
    inputs: dict[str, Any] = field(default_factory=dict)
    folder: Path = Path()

    def due(self) -> list[int]:
        """The places of the parts that are left."""
        return [place for place, there in enumerate(self.parts.are_there()) if not there]

    def made(self) -> dict[Path, Path]:
        """Where in the cache the evidence lies, or will lie, by where it goes."""
        return {
            self.folder / f"{name}.evidence": gathering.address(name, function, self.inputs)
            for name, function in self.gather.items()
        }

    def is_written(self) -> bool:
        """Whether the evidence is where it goes."""
        return all(
            kept.is_file() and file.is_file() and file.read_bytes() == kept.read_bytes()
            for file, kept in self.made().items()
        )

    def write(self) -> None:
        """Gather the evidence and put it where it goes."""
        for name, function in self.gather.items():
            gathering.in_cache(name, function, self.inputs)
        self.folder.mkdir(parents=True, exist_ok=True)
        paths.atomic_write_all({to: kept.read_bytes() for to, kept in self.made().items()})
        print(f"{self.name}: {', '.join(self.gather)} in {paths.shown(self.folder)}")


class Times:
    """Seconds that parts took on this cache's machines, for training and for asking."""

    def __init__(self) -> None:
        self.file = paths.cache_dir() / "on-gpu.json"
        self.seconds = json.loads(self.file.read_text()) if self.file.is_file() else {}

    def of(self, piece: Piece, place: int, what: str, work: Callable[[], Any]) -> None:
        """Do it, and note its seconds: those of training add up, of asking the most count."""
        began = time.monotonic()
        took = self.seconds.setdefault(piece.name, {}).setdefault(str(place), {})
        try:
            work()
        finally:
            seconds, before = time.monotonic() - began, took.get(what, 0.0)
            took[what] = before + seconds if what == TRAINING else max(before, seconds)
            paths.made_cache_dir()
            paths.atomic_write(self.file, json.dumps(self.seconds, indent=1))

    def measured(self, piece: Piece, place: int, what: str) -> float | None:
        """The most that this part took, or, where models are trained, another that was asked."""
        own = self.seconds.get(piece.name, {})
        alike = own.values() if piece.train and place >= 0 else [own.get(str(place), {})]
        return max((took[what] for took in alike if {ASKING, what} <= took.keys()), default=None)

    def left(self, piece: Piece, place: int, done: float = 0.0) -> float:
        """Seconds of a part, measured or else expected, of whose training a share is done."""
        known = [self.measured(piece, place, what) for what in (TRAINING, ASKING)]
        if known[1] is None:
            return 60 * piece.minutes * (1 - done)
        return (known[0] or 0.0) * (1 - done) + known[1]


def verdicts() -> Piece:
    """Every gathering step of every chapter at the smallest size, on the CPU and on the GPU."""
    steps = [
        [chapter, name]
        for chapter in running.chapters()
        for name in source(_settings(chapter, "tiny")).gatherers()
    ]
    return Piece(VERDICT, 0.1, Parts(_compare, steps, [installation.code_digest()]))


def _compare(item: list[str]) -> Arrays:
    """Both devices gather in a cache of this code's own, and what they said is kept in this one."""
    own = paths.cache_dir() / VERDICT / installation.code_digest()[:16]
    with mock.patch.dict(os.environ, MEMBERSHIP_CACHE=str(own)):
        step = compared(*item, "tiny")
    error = np.frombuffer(step.error.encode(), np.uint8).copy()
    return {"seconds": np.array(step.seconds), "apart": np.array(step.apart), "error": error}


def judged(piece: Piece) -> list[Step]:
    """The steps that have a verdict."""
    due = piece.due()
    there = [place for place in range(len(piece.parts.items)) if place not in due]
    found = zip(there, piece.parts.found(*there) if there else [], strict=True)
    return [
        Step(
            *piece.parts.items[at],
            tuple(one["seconds"]),
            float(one["apart"]),
            bytes(one["error"]).decode(),
        )
        for at, one in found
    ]


def _settings(chapter: str, profile: str) -> Any:
    return running.settings_class(chapter).from_values({"profile": profile})


def _inputs(settings: Any) -> dict[str, Any]:
    given = {k: v for k, v in settings.parameters().items() if k not in INCIDENTAL}
    return {"chapter": settings.chapter, **given}


def bmia(name: str, setup: Setup, minutes: float, profile: str) -> Piece:
    """Control 18 of BMIA under a set-up, model by model.

    The one that the page shows goes where it is read, and `membership recompute bmia-ctl-18` takes
    it from there; the others lie apart, for no exhibit reads them yet.
    """
    settings = _settings("bmia", profile)
    shown = name == "bmia-c01" and profile == "paper"
    world = convolutional.convolutional(settings, setup)
    return Piece(
        name,
        minutes,
        by_model.parts(world),
        lambda item: world.alone(*item[:2]).train(),
        {
            file: partial(function, settings, setup)
            for file, function in zip(CONVOLUTIONAL, GATHERERS, strict=True)
        },
        _inputs(settings) | {"setup": list(setup)},
        paths.results_dir() / ("paper/bmia" if shown else f"on-gpu/{profile}/{name}"),
    )


def lood(activation: str, profile: str) -> Piece:
    """LOOD's networks of one activation at the paper's size, some at a time."""
    settings, name = _settings("lood", profile), f"lood-{activation}"
    return Piece(
        name,
        0.7,
        halves.parts(activation, settings),
        partial(halves.train, activation, settings),
        {f"pairs-{activation}": partial(halves.pairs, activation, settings)},
        _inputs(settings),
        paths.results_dir() / "on-gpu" / profile / name,
    )


def pieces(profile: str) -> dict[str, Callable[[], Piece]]:
    """All of them, in the order of their use."""
    own = SETUPS[profile]
    more, long, deep = (9, 8), own._replace(epochs=300), "resnet50"
    if profile == "tiny":
        more, long, deep = (4, 3), own._replace(epochs=3), own.network
    plain = long._replace(augmentation="none")
    runs = {
        "bmia-c01": (own._replace(models=more), 0.8),
        "bmia-resnet18": (plain, 3.2),
        "bmia-resnet18-augmented": (long, 3.2),
        "bmia-resnet50": (plain._replace(network=deep, models=(1, 1)), 8.5),
    }
    return {
        VERDICT: verdicts,
        **{name: partial(bmia, name, *run, profile) for name, run in runs.items()},
        **{f"lood-{one}": partial(lood, one, profile) for one in ("relu", "gelu")},
    }


def go_on(piece: Piece, times: Times, deadline: float) -> None:
    """Do what is left of a piece, in order; of trained models none is passed over."""

    def fits(place: int) -> bool:
        left, took = deadline - time.monotonic(), times.measured(piece, place, ASKING) or 0.0
        if took > left > 0:
            print(f"{piece.name}: what took {took / 60:.1f} minutes is left for another time")
        return left > 0 and took <= left

    for place in piece.due():
        if piece.train is not None:
            with until(deadline):
                times.of(piece, place, TRAINING, partial(piece.train, piece.parts.items[place]))
        if fits(place):
            print(f"{piece.name} {piece.parts.items[place]}", file=sys.stderr)
            times.of(piece, place, ASKING, partial(piece.parts.found, place))
        elif piece.train is not None:
            return
    if not piece.is_written() and fits(-1):
        times.of(piece, -1, ASKING, piece.write)


def row(piece: Piece, times: Times) -> list[str]:
    """A piece in the table; what lacks its evidence alone has one part left."""
    due, whole, epochs, done = piece.due(), len(piece.parts.items) + bool(piece.gather), "", 0.0
    if due and piece.train is not None:
        try:
            with until(0.0):
                piece.train(piece.parts.items[due[0]])
            epochs, done = "trained", 1.0
        except Stopped as stopped:
            epochs, done = f"{stopped.done:,} of {stopped.total:,} epochs", stopped.share
    places = [*due, *([] if piece.is_written() else [-1])]
    seconds = [times.left(piece, place, done if place in due[:1] else 0.0) for place in places]
    left = [f"{whole - len(places)}", f"{len(places)}", f"{sum(seconds) / 60:.1f}"]
    return [piece.name, *left, epochs]


def main(words: Sequence[str]) -> int:
    """Go on, and say what is left; 1 where a step differs between the devices."""
    parser = argparse.ArgumentParser(prog="on_gpu", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("piece", nargs="*", help="All of them unless named.")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--list", action="store_true", help="Start nothing.")
    parser.add_argument("--toy", action="store_true", help="At the size of the tests.")
    asked = parser.parse_args(words)
    deadline, has_gpu = time.monotonic() + 60 * asked.minutes, torch.cuda.is_available()
    every, rows, steps = pieces("tiny" if asked.toy else "paper"), [], []
    if unknown := [name for name in asked.piece if name not in every]:
        raise InputError(f"unknown piece {unknown[0]!r}: give {', '.join(every)}")
    if not (has_gpu or asked.toy or asked.list):
        print(NO_GPU)
        return 0
    times = Times()
    for name in asked.piece or every:
        try:
            piece = every[name]()
        except InputError as error:
            rows.append([name, "-", "-", "-", f"not prepared: {error}"])
            continue
        if name == VERDICT and not has_gpu and not asked.list:
            print(ONE_DEVICE)
        elif not asked.list:
            try:
                go_on(piece, times, deadline)
            except Stopped as stopped:
                print(f"{name}: {stopped}")
        steps += judged(piece) if name == VERDICT else []
        rows.append(row(piece, times))
    if steps:
        show("CPU and GPU", DEVICE_COLUMNS, [*map(cells, steps)])
    bad = [step for step in steps if not step.is_good]
    for step in bad:
        print(f"{step.chapter} {step.evidence}: {step.error or f'beyond {TOLERANCE:g}'}")
    show("What is left", COLUMNS, rows)
    return 1 if bad else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except InputError as error:
        sys.exit(f"on_gpu: {error}")
