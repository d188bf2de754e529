"""The chapter's exhibits, in the order of its page; their words are in ``exhibits.toml``."""

from collections.abc import Callable, Sequence

from membership.exhibits.declaration import Reading, exhibits_of, later
from membership.studies.comparison import names, sentences
from membership.studies.comparison.settings import Settings

agreement, bounds, convolutional, drawings = later(
    __package__, "agreement", "bounds", "convolutional", "drawings"
)
leaderboard, outside, risk, thresholds = later(
    __package__, "leaderboard", "outside", "risk", "thresholds"
)


def _and(kind: str, cells: Callable[[Settings], Sequence[names.Cell]]) -> Reading:
    """What the leaderboards read, and one more file of some cells."""
    return Reading(
        lambda settings: (
            *names.files(settings),
            *(f"{kind}-{cell.word}" for cell in cells(settings)),
        )
    )


FILES = Reading(names.files)
TIMED, PROCESSES = _and("times", names.cells), _and("lood", names.typical)
PICTURES, OUTSIDE = _and("pictures", names.pictured), _and("outside", names.outside)
WITH_UNTRAINED = Reading(lambda settings: (*names.files(settings), names.UNTRAINED))
# What reads another chapter's evidence.
NOTHING = Reading(lambda settings: ())

exhibit = exhibits_of(__package__)


EXHIBITS = (
    exhibit(
        "tab-1", leaderboard.references, TIMED, draw=drawings.leaders, says=sentences.of_references
    ),
    exhibit("fig-1", leaderboard.by_cell, FILES, draw=drawings.cells, says=sentences.of_cells),
    exhibit(
        "tab-2", leaderboard.all_others, TIMED, draw=drawings.leaders, says=sentences.of_others
    ),
    exhibit("ctl-1", leaderboard.canaries, FILES),
    exhibit("fig-2", leaderboard.against_references, TIMED, says=sentences.of_power),
    exhibit(
        "fig-3",
        leaderboard.against_seconds,
        TIMED,
        draw=drawings.seconds,
        says=sentences.of_seconds,
    ),
    exhibit("ctl-2", leaderboard.gains, FILES, draw=drawings.gains),
    exhibit(
        "ctl-3", thresholds.by_record, FILES, draw=drawings.repeated, says=sentences.of_records
    ),
    exhibit(
        "tab-3",
        thresholds.honest,
        FILES,
        draw=drawings.worth_of_a_flag,
        says=sentences.of_thresholds,
    ),
    exhibit(
        "tab-4", agreement.agreement, FILES, draw=drawings.overlaps, says=sentences.of_agreement
    ),
    exhibit("tab-5", bounds.lower_bounds, FILES, draw=drawings.levels, says=sentences.of_bounds),
    exhibit("tab-6", thresholds.false_discoveries, FILES),
    exhibit("fig-4", risk.risk_map, PROCESSES, draw=drawings.risk, says=sentences.of_risk),
    exhibit("fig-5", agreement.found_by, PICTURES, draw=drawings.found, says=sentences.of_found),
    exhibit("ctl-4", bounds.null_rows, WITH_UNTRAINED, says=sentences.of_nulls),
    exhibit("ctl-5", risk.another_game, PROCESSES),
    exhibit("ctl-6", thresholds.tuned, FILES, says=sentences.of_tuned),
    exhibit("ctl-7", convolutional.cell, NOTHING, draw=drawings.network, says=sentences.of_network),
    exhibit("ctl-8", outside.outside, OUTSIDE, says=sentences.of_outside),
)
