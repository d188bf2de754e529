"""The chapter's evidence: which function gathers each file, a data set at a time."""

from collections.abc import Callable
from functools import partial

import xarray as xr

from membership.book.studies.gmip import (
    audit,
    experiment,
    forensics,
    loss_attack,
    noise,
    rivals,
    several_steps,
    spectrum,
    training_promise,
    utility,
)
from membership.book.studies.gmip.settings import Settings


def sources(settings: Settings) -> dict[str, Callable[[], xr.Dataset]]:
    """The evidence of a run, by name, each with the function that gathers it."""
    of_each = {
        "steps-{}": experiment.steps,
        "outputs-{}-few": partial(loss_attack.outputs, length="few"),
        "outputs-{}-many": partial(loss_attack.outputs, length="many"),
        "starts-{}": loss_attack.starts,
        "measured-{}": utility.measured,
        "clipped-{}": utility.clipped,
    }
    of_first = {
        "joint-{}": several_steps.joint,
        "noised-{}": noise.noised,
        "times-{}": loss_attack.timed_attacks,
        "plain-{}": utility.plain,
        "sets-{}": loss_attack.sets,
        "released-{}": forensics.released,
        "spectral-{}": spectrum.spectral,
        "rivals-{}-one": partial(rivals.few_steps, steps=1),
        "rivals-{}-few": partial(rivals.few_steps, steps=settings.audit_steps),
    }
    kinds = (
        (settings.words, of_each),
        (settings.small_words, {"composed-{}": training_promise.composed}),
        (settings.first_word, of_first),
        (settings.first_small_word, {"rivals-{}-all": rivals.all_epochs}),
    )
    gatherers = {
        kind.format(word): partial(function, name, settings)
        for words, functions in kinds
        for name, word in words.items()
        for kind, function in functions.items()
    }
    return {"simulated-panels": partial(audit.simulated_panels, settings), **gatherers}
