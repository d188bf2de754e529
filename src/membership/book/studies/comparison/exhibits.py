"""The chapter's exhibits, in the order of its page; their words are in ``exhibits.toml``."""

from collections.abc import Callable, Sequence

from membership.book.exhibits.declaration import Reading, exhibits_of, later
from membership.book.studies.comparison import names
from membership.book.studies.comparison.settings import Settings

agreement, bounds, convolutional, costs = later(
    __package__, "agreement", "bounds", "convolutional", "costs"
)
leaderboard, outside, risk, thresholds, tuning = later(
    __package__, "leaderboard", "outside", "risk", "thresholds", "tuning"
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
        "tab-1",
        leaderboard.references,
        TIMED,
        draw=leaderboard.board_drawn,
        says=leaderboard.references_said,
    ),
    exhibit(
        "fig-1",
        leaderboard.by_cell,
        FILES,
        draw=leaderboard.by_cell_drawn,
        says=leaderboard.by_cell_said,
    ),
    exhibit(
        "tab-2",
        leaderboard.all_others,
        TIMED,
        draw=leaderboard.board_drawn,
        says=leaderboard.all_others_said,
    ),
    exhibit("ctl-1", leaderboard.canaries, FILES),
    exhibit(
        "fig-2",
        costs.against_references,
        TIMED,
        draw=costs.against_references_drawn,
        says=costs.against_references_said,
    ),
    exhibit(
        "fig-3",
        costs.against_seconds,
        TIMED,
        draw=costs.against_seconds_drawn,
        says=costs.against_seconds_said,
    ),
    exhibit("ctl-2", costs.gains, FILES, draw=costs.gains_drawn),
    exhibit(
        "ctl-3",
        thresholds.by_record,
        FILES,
        draw=thresholds.by_record_drawn,
        says=thresholds.by_record_said,
    ),
    exhibit(
        "tab-3",
        thresholds.honest,
        FILES,
        draw=thresholds.honest_drawn,
        says=thresholds.honest_said,
    ),
    exhibit(
        "tab-4",
        agreement.agreement,
        FILES,
        draw=agreement.agreement_drawn,
        says=agreement.agreement_said,
    ),
    exhibit(
        "tab-5",
        bounds.lower_bounds,
        FILES,
        draw=bounds.lower_bounds_drawn,
        says=bounds.lower_bounds_said,
    ),
    exhibit("tab-6", thresholds.false_discoveries, FILES),
    exhibit("fig-4", risk.risk_map, PROCESSES, draw=risk.risk_map_drawn, says=risk.risk_map_said),
    exhibit(
        "fig-5",
        agreement.found_by,
        PICTURES,
        draw=agreement.found_by_drawn,
        says=agreement.found_by_said,
    ),
    exhibit("ctl-4", bounds.null_rows, WITH_UNTRAINED, says=bounds.null_rows_said),
    exhibit("ctl-5", risk.another_game, PROCESSES),
    exhibit("ctl-6", tuning.tuned, FILES, says=tuning.tuned_said),
    exhibit(
        "ctl-7",
        convolutional.cell,
        NOTHING,
        draw=convolutional.cell_drawn,
        says=convolutional.cell_said,
    ),
    exhibit("ctl-8", outside.outside, OUTSIDE, says=outside.outside_said),
)
