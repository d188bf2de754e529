"""The chapter's exhibits, in the order of its page."""

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pandas as pd

from membership.exhibits import Exhibit, Source
from membership.exhibits.declaration import drawn, later, of_settings
from membership.studies.iha import inconsistencies, names, sentences

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from membership.studies.iha.loo_attacks import Protocol

audit, controls, experiment, game, loo_attacks = later(
    __package__, "audit", "controls", "experiment", "game", "loo_attacks"
)
requirements, retrained, solvers, tables, theory = later(
    __package__, "requirements", "retrained", "solvers", "tables", "theory"
)


def _needs(kinds: tuple[str, ...]) -> Callable[[Any], tuple[str, ...]]:
    """The evidence of these kinds of every data set of a run."""
    return lambda settings: names.files(kinds, names.subjects(settings))


_main = _needs(names.MAIN)


def _costs(settings: Any) -> tuple[str, ...]:
    return names.files(("costs",), names.subjects(settings)[-1:])


def _variants(settings: Any) -> tuple[str, ...]:
    more = names.variants(settings)
    deep = [one for one in more if one.deep]
    return (*_main(settings), *names.files(names.MAIN, more), *names.files(("sweep",), deep))


def _left_out(settings: Any) -> tuple[str, ...]:
    return names.files(names.LEFT_OUT, names.left_out(settings))


def _of(
    read: Callable[[Source], Any], function: Callable[[Any, Any], pd.DataFrame]
) -> Callable[[Source], pd.DataFrame]:
    """Evidence read in one way, made a table of."""
    return lambda source: function(read(source), source.settings)


_of_main = functools.partial(_of, audit.audits)
_of_swept = functools.partial(_of, audit.swept_audits)
_of_known = functools.partial(_of, audit.known_audits)
_of_left_out = functools.partial(_of, experiment.experiments)


def _table_3(source: Source) -> pd.DataFrame:
    solved = map(source.evidence, names.files(("solvers",), names.subjects(source.settings)))
    return solvers.table_3(audit.audits(source), list(solved), source.settings)


def _table_6(source: Source) -> pd.DataFrame:
    (name,) = _costs(source.settings)
    return solvers.table_6(source.evidence(name), source.settings)


def _table_7(source: Source) -> pd.DataFrame:
    return tables.table_7(audit.variant_audits(source), audit.deep_sweep(source), source.settings)


def _protocols(source: Source) -> "list[Protocol]":
    some = experiment.experiments(source)
    return [loo_attacks.protocol(one, source.settings) for one in some]


def _dampings(table: pd.DataFrame) -> "Figure":
    from membership import plots

    printed = controls.published_dampings(table)
    return plots.lines_with_intervals(
        table, x="damping", by="series", panel="panel", published=printed, log_x=True
    )


EXHIBITS = (
    Exhibit(
        "iha-tab-1",
        "Table 1",
        "attacks by access, reference models, leave-one-out knowledge",
        "What does each attack ask an adversary to have?",
        compute=of_settings(requirements.table_1),
        says=sentences.of_table_1,
    ),
    Exhibit(
        "iha-fig-1",
        "Figure 1",
        "ROC curves in the low-FPR region",
        "Which attack is ahead where an accusation would be believed?",
        compute=_of_main(tables.figure_1),
        needs=_main,
        draw=drawn("roc_panels", floor=1e-3),
        says=sentences.of_figure_1,
        caption="ROC curves on logarithmic axes, means over the targets. LiRA's reference models "
        "are all models but the target and its complement.",
        alt=sentences.of_curves,
    ),
    Exhibit(
        "iha-tab-2",
        "Table 2",
        "AUC and TPR at low FPR: LOSS, SIF, LiRA, IHA on three data sets",
        "Does the attack on parameters rival the one with reference models?",
        compute=_of_main(tables.table_2),
        needs=_main,
        judge=tables.table_2_judged,
        says=sentences.of_table_2,
    ),
    Exhibit(
        "iha-ctl-1",
        "",
        "what knowing all other records is worth, and what curvature is",
        "Is it the parameters, or the knowledge of all other records?",
        compute=_of_main(controls.control_1),
        needs=_main,
        says=sentences.of_control_1,
    ),
    Exhibit(
        "iha-ctl-2",
        "",
        "the damping, for the attack as published and as corrected",
        "How much does the damping decide?",
        compute=_of_swept(controls.control_2),
        needs=_needs(names.SWEPT),
        draw=_dampings,
        says=sentences.of_control_2,
        caption="AUC against the damping for IHA as published and as corrected, with intervals "
        "over targets. Open markers are the published values of Table 8, where the data set is "
        "the paper's.",
        alt=sentences.of_dampings,
    ),
    Exhibit(
        "iha-tab-8",
        "Table 8",
        "damping against low rank",
        "Which treatment of small eigenvalues is best?",
        compute=_of_swept(tables.table_8),
        needs=_needs(names.SWEPT),
        judge=tables.table_8_judged,
        says=sentences.of_table_8,
    ),
    Exhibit(
        "iha-ctl-3",
        "",
        "LiRA with and without the target among its own references",
        "What does LiRA gain from the target among its own references?",
        compute=_of_main(controls.control_3),
        needs=_main,
        judge=controls.control_3_judged,
        says=sentences.of_control_3,
    ),
    Exhibit(
        "iha-ctl-4",
        "",
        "the corrected attack IHA* beside IHA, and the residuals that tell them apart",
        "What does the weight decay add?",
        compute=_of_main(controls.control_4),
        needs=_main,
        says=sentences.of_control_4,
    ),
    Exhibit(
        "iha-ctl-5",
        "",
        "the clean game: fixed other records, a coin, many retrainings",
        "Are parameters worth more than outputs, at equal knowledge?",
        compute=_of_left_out(game.play),
        needs=_left_out,
        says=sentences.of_control_5,
    ),
    Exhibit(
        "iha-ctl-8",
        "",
        "leave-one-out reference models (Section 4.4)",
        "Is IHA ahead of an attack on outputs with the same knowledge, as in the paper?",
        compute=_of(_protocols, loo_attacks.control_8),
        needs=_left_out,
        judge=loo_attacks.control_8_judged,
        says=sentences.of_control_8,
    ),
    Exhibit(
        "iha-tab-5",
        "Table 5",
        "agreement between attacks at two false positive rates (a, b)",
        "Do the attacks find the same members?",
        compute=_of(_protocols, loo_attacks.table_5),
        needs=_left_out,
        judge=loo_attacks.table_5_judged,
        says=sentences.of_table_5,
    ),
    Exhibit(
        "iha-tab-4",
        "Table 4",
        "ablation of the terms",
        "Which terms of the score carry it?",
        compute=_of_main(tables.table_4),
        needs=_main,
        judge=tables.table_4_judged,
        says=sentences.of_table_4,
    ),
    Exhibit(
        "iha-tab-9",
        "Table 9",
        "fraction of the training data known",
        "How much of the other records must be known?",
        compute=_of_known(tables.table_9),
        needs=_needs(names.KNOWN),
        judge=tables.table_9_judged,
        says=sentences.of_table_9,
    ),
    Exhibit(
        "iha-tab-3",
        "Table 3",
        "exact against conjugate gradients",
        "Does the attack need the Hessian itself?",
        compute=_table_3,
        needs=_needs(names.SOLVED),
        judge=solvers.table_3_judged,
        says=sentences.of_table_3,
    ),
    Exhibit(
        "iha-tab-6",
        "Table 6",
        "runtime and memory",
        "What does each attack cost?",
        compute=_table_6,
        needs=_costs,
        judge=solvers.table_6_judged,
        says=sentences.of_table_6,
    ),
    Exhibit(
        "iha-tab-7",
        "Table 7",
        "Purchase-100 against Purchase-100(S), MLP-2 and MLP-4",
        "What do more records and a deeper network change?",
        compute=_table_7,
        needs=_variants,
        judge=tables.table_7_judged,
        says=sentences.of_table_7,
    ),
    Exhibit(
        "iha-ctl-6",
        "",
        "the theorems on covariance and score where they can be exact",
        "Are the formulas right?",
        compute=of_settings(theory.control_6),
        says=sentences.of_control_6,
    ),
    Exhibit(
        "iha-ctl-9",
        "",
        "linear regression retrained by SGD: the optimal score and the law of the weights",
        "Do parameters tell more than the loss where SGD really ran?",
        compute=of_settings(retrained.control_9),
        says=sentences.of_control_9,
    ),
    Exhibit(
        "iha-ctl-7",
        "",
        "numbers that the paper prints twice",
        "Do numbers that are printed twice agree?",
        compute=of_settings(inconsistencies.control_7),
        says=sentences.of_control_7,
    ),
)
