"""Every gathering step on the CPU and on the GPU, in a cache of its own: ``make check-gpu``."""

import os
import sys
import tempfile
from collections.abc import Sequence
from unittest import mock

import torch

from membership.book import running
from membership.book.cli.command_line import show
from membership.book.running.pieces import DEVICE_COLUMNS, TOLERANCE, cells, steps


def main(chosen: Sequence[str], profile: str = "tiny") -> int:
    """Compare the chapters that are named, or all, in a cache of their own; 1 where they differ."""
    if not torch.cuda.is_available():
        print("No GPU that torch finds is here, so nothing was compared.")
        return 0
    found = []
    with (
        tempfile.TemporaryDirectory() as cache,
        mock.patch.dict(os.environ, MEMBERSHIP_CACHE=cache),
    ):
        for chapter in chosen or running.chapters():
            for step in steps(chapter, profile):
                print(f"{step.chapter} {step.evidence}", file=sys.stderr)
                found.append(step)
    show(f"{torch.cuda.get_device_name()}, profile {profile}", DEVICE_COLUMNS, [*map(cells, found)])
    bad = [step for step in found if not step.is_good]
    for step in bad:
        print(f"{step.chapter} {step.evidence}: {step.error or 'beyond the tolerance'}")
    print(f"{len(found) - len(bad)} of {len(found)} steps are within {TOLERANCE:g} of the CPU's.")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
