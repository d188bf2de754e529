"""The chapter's exhibits, in the order of its page."""

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pandas as pd

from membership.exhibits import Exhibit, Source
from membership.studies.lood import (
    activations,
    gather,
    leakage,
    mistakes,
    queries,
    reconstruction,
    sentences,
    speed,
    theory,
    toys,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RECORDS, PAIRS, GELU, INFLUENCE = (
    "process-records",
    "pairs-relu",
    "pairs-gelu",
    "process-influence",
)
NETWORKS = (RECORDS, PAIRS, INFLUENCE)
ACTIVATIONS = ("process-activations", PAIRS, GELU)


def _of(
    function: Callable[..., pd.DataFrame], *names: str, settings: bool = False
) -> Callable[[Source], pd.DataFrame]:
    """The table of a function of evidence, and of the settings where it asks for them."""

    def compute(source: Source) -> pd.DataFrame:
        last = (source.settings,) if settings else ()
        return function(*(source.evidence(name) for name in names), *last)

    return compute


def _of_searches(function: Callable[..., pd.DataFrame]) -> Callable[[Source], pd.DataFrame]:
    return lambda source: function(
        [source.evidence(name) for name in gather.searched(source.settings)]
    )


def _drawn(name: str, **options: Any) -> "Callable[[pd.DataFrame], Figure]":
    def draw(table: pd.DataFrame) -> "Figure":
        from membership import plots

        return getattr(plots, name)(table, **options)

    return draw


def _kernel(number: int) -> Exhibit:
    """Figures 14 to 19: what was found under one kernel."""
    figure = f"lood-fig-{number}"

    def draw(table: pd.DataFrame) -> "Figure":
        from membership.plots import image_grid

        return image_grid(table, title=f"Figure {number}: {table['kernel'].iloc[-1]}")

    return Exhibit(
        figure,
        f"Figure {number}",
        "more reconstructions",
        "What does a search under this kernel find?",
        compute=_of(functools.partial(reconstruction.of_one_kernel, figure), gather.OWN),
        needs=(gather.OWN,),
        draw=draw,
        says=sentences.found,
        caption="Records above what was found of them by one kernel, which the title names.",
        alt=sentences.grid,
    )


_TOYS = {"labels": toys.LABELS, "marks": toys.MARKS}

EXHIBITS = (
    Exhibit(
        "lood-ctl-1",
        "",
        "all records from one inverse against one by one, from scratch",
        "Does one inverse give every record's leakage?",
        compute=_of(theory.one_by_one, "measured-identity"),
        needs=("measured-identity",),
        says=sentences.identity,
    ),
    Exhibit(
        "lood-ctl-2",
        "",
        "seconds: closed form for all, one by one, retraining",
        "How much time does it save?",
        compute=_of(speed.table, "measured-times"),
        needs=("measured-times",),
        judge=speed.comparison,
    ),
    Exhibit(
        "lood-fig-1",
        "Figure 1",
        "LOOD against MIA; GP against networks; memorisation",
        "Does it say what networks leak?",
        compute=_of(leakage.figure_1, *NETWORKS),
        needs=NETWORKS,
        draw=_drawn("scatter_panels", labels=leakage.LABELS),
        caption="LOOD against the AUC of the best attack on the Gaussian process (Figure 1a); AUC "
        "of the process against that of retrained networks, with one standard deviation over "
        "random halves (1b); estimates of a record's influence on itself against the difference "
        "that retraining shows (1c).",
        alt="Three panels of points. AUC rises with KL along a narrow curve. AUC of networks "
        "against that of the process. Prediction difference against estimates of self-influence.",
    ),
    Exhibit(
        "lood-fig-6",
        "Figure 6",
        "mean distance and KL against MIA AUC",
        "Which measure goes with the attack?",
        compute=_of(leakage.figure_6, RECORDS),
        needs=(RECORDS,),
        draw=_drawn("scatter_panels", labels=leakage.LABELS, log_x=True),
        caption="Mean distance and KL against the AUC of the best attack on the process (Figure "
        "6): records of the data under two kernels, and uniform noise with random labels.",
        alt="Two panels with logarithmic horizontal axes. Against the mean distance the AUC "
        "scatters. Against KL the records lie close to one rising curve, and the noise pictures "
        "beside it.",
    ),
    Exhibit(
        "lood-ctl-3",
        "",
        "how well each estimate of leakage and influence follows what it stands for",
        "How well does each estimate follow what it stands for?",
        compute=_of(leakage.correlations, *NETWORKS),
        needs=NETWORKS,
        says=sentences.correlations,
    ),
    Exhibit(
        "lood-ctl-4",
        "",
        "leakage map: the most and the least exposed records of each class",
        "Who is exposed?",
        compute=_of(leakage.leakage_map, RECORDS),
        needs=(RECORDS,),
        draw=_drawn("image_grid"),
        caption="The ten most and the ten least exposed records of each class, by KL (below each "
        "picture).",
        alt="Four rows of ten pictures: the most and the least exposed records of each class, with "
        "their KL.",
    ),
    Exhibit(
        "lood-fig-4",
        "Figure 4",
        "the differing record is the most leaking query",
        "Which query leaks most?",
        compute=_of(queries.figure_4, "process-lines", PAIRS, settings=True),
        needs=("process-lines", PAIRS),
        draw=_drawn("line_panels", labels=queries.LABELS),
        caption="Leakage of queries around the differing record (Figure 4): in one dimension, on "
        "pictures under the process along lines of uniform noise, relative to the record, and for "
        "networks as a mean over records with its 95% interval.",
        alt="Three panels. KL in one dimension peaks at the differing record. On pictures the "
        "relative KL is 1 at the record and falls on both sides. The mean AUC of networks has a "
        "wide interval.",
    ),
    Exhibit(
        "lood-ctl-5",
        "",
        "the record is the best query: random and optimised queries, single and several, three "
        "kernels",
        "Does any query tell more than the record?",
        compute=_of(queries.optimality, "process-attempts", gather.OWN),
        needs=("process-attempts", gather.OWN),
        says=sentences.attempts,
    ),
    Exhibit(
        "lood-fig-10",
        "Figure 10",
        "data-dependent normalisation",
        "Does normalisation by the data make another query better?",
        compute=_of(queries.figure_10, "process-normalised"),
        needs=("process-normalised",),
        draw=_drawn("image_grid"),
        caption="Where each training set normalises by its own statistics another query may leak "
        "more than the record (Figure 10): the record with its KL, the best query found from it "
        "with the factor gained, and their difference stretched to the full range.",
        alt="Rows of pictures, records above the queries found from them and their differences.",
    ),
    Exhibit(
        "lood-ctl-6",
        "",
        "homogeneous kernels, where the best query is not unique, and normalisation by the data, "
        "where it is not the record",
        "When is the record not the only best query?",
        compute=_of(queries.escapes, "process-normalised"),
        needs=("process-normalised",),
        says=sentences.escapes,
    ),
    Exhibit(
        "lood-fig-2",
        "Figure 2",
        "single-query reconstruction",
        "Does climbing the KL find the record?",
        compute=_of_searches(reconstruction.figure_2),
        needs=gather.searched,
        draw=_drawn("image_grid"),
        says=sentences.found,
        caption="Records and what maximising the KL from noise found of them (Figure 2), with the "
        "correlation r and the KL of the query in percent of that of the record. The kernel is the "
        "README's, ReLU, of depth 5 except in tests.",
        alt=sentences.grid,
    ),
    Exhibit(
        "lood-fig-9",
        "Figure 9",
        "one optimisation in detail",
        "How does one search go?",
        compute=_of(reconstruction.figure_9, gather.OWN),
        needs=(gather.OWN,),
        draw=_drawn("optimisation"),
        caption="One search in detail (Figure 9): the record, the best query after some steps, and "
        "the KL of every start, which ends at that of the record or below.",
        alt="A row of pictures from noise to the best query, above curves of KL against the step "
        "of Adam on a logarithmic axis.",
    ),
    Exhibit(
        "lood-fig-8",
        "Figure 8",
        "reconstructions by architecture",
        "Does the search depend on the kernel?",
        compute=_of(reconstruction.figure_8, gather.OWN),
        needs=(gather.OWN,),
        draw=_drawn("image_grid"),
        says=sentences.found,
        caption="The same records under different kernels (Figure 8).",
        alt="One row of records and one row of found queries for each of several kernels.",
    ),
    *(_kernel(number) for number in range(14, 20)),
    Exhibit(
        "lood-ctl-7",
        "",
        "how often a reconstruction succeeds",
        "How often does a search find its record?",
        compute=_of_searches(reconstruction.success),
        needs=gather.searched,
        says=sentences.success,
    ),
    Exhibit(
        "lood-fig-3",
        "Figure 3",
        "leave-one-group-out reconstruction",
        "Does it find a whole group?",
        compute=_of(reconstruction.figure_3, "process-groups"),
        needs=("process-groups",),
        draw=_drawn("image_grid"),
        says=sentences.groups,
        caption="Groups of three records left out together (Figure 3): the members, each with the "
        "KL of querying it alone; the queries that single searches found, with the member they are "
        "nearest to; three queries optimised jointly.",
        alt="Rows of pictures, the members of a group above the queries found by single and by "
        "joint optimisation.",
    ),
    Exhibit(
        "lood-fig-7",
        "Figure 7",
        "one-dimensional toy: mean, variance, KL",
        "Where does each measure peak?",
        compute=lambda source: toys.figure_7(source.settings),
        draw=_drawn("line_panels", **_TOYS),
        caption="Mean distance, ratio of variances and both divergences along all queries; the "
        "mark is the differing record.",
        alt=sentences.peaks,
    ),
    Exhibit(
        "lood-fig-11",
        "Figure 11",
        "non-stationarity of mean distance in one dimension",
        "Where is a record least stationary?",
        compute=_of(toys.figure_11, "measured-worst", settings=True),
        needs=("measured-worst",),
        draw=_drawn("line_panels", **_TOYS),
        caption="The size of the gradient of the mean distance at the record by its place, with "
        "the worst place as Algorithm 1 finds it, and the mean distance there.",
        alt="Two panels of curves: the gradient by the place of the record, and the mean distance "
        "along the queries for the worst place.",
    ),
    Exhibit(
        "lood-fig-12",
        "Figure 12",
        "optimal query for three differing records",
        "When is the record its own most influenced query?",
        compute=lambda source: toys.figure_12(source.settings),
        draw=_drawn("line_panels", **_TOYS),
        caption="The mean distance along all queries for a record close to the data, one between "
        "and one far away; the marks are the records.",
        alt=sentences.peaks,
    ),
    Exhibit(
        "lood-fig-13",
        "Figure 13",
        "mean-distance queries on images",
        "Which picture does a record influence most?",
        compute=_of(queries.figure_13, "process-influenced"),
        needs=("process-influenced",),
        draw=_drawn("image_grid"),
        caption="The query that a record influences most by mean distance, found from the record "
        "(Figure 13), with the factor gained and the AUC of the best attack at the record and at "
        "the query.",
        alt="Records above the queries that they influence most, with the factors gained and the "
        "AUC at both.",
    ),
    Exhibit(
        "lood-ctl-8",
        "",
        "where mean distance and where KL is largest",
        "Is the most influenced query the most leaking one?",
        compute=_of(queries.mean_against_kl, "process-influenced", settings=True),
        needs=("process-influenced",),
        says=sentences.places,
    ),
    Exhibit(
        "lood-fig-5",
        "Figure 5",
        "ReLU against GeLU",
        "Does GeLU leak more than ReLU?",
        compute=_of(activations.figure_5, *ACTIVATIONS),
        needs=ACTIVATIONS,
        draw=_drawn(
            "scatter_panels",
            identity=True,
            labels={name: ("AUC under ReLU", "AUC under GeLU") for name in ("process", "networks")},
        ),
        says=sentences.activations,
        caption="AUC of the best attack under GeLU against that under ReLU, a point a record "
        "(Figure 5): on the process at three depths with the released settings, and for retrained "
        "networks with one standard deviation over random halves. Above the line GeLU leaks more.",
        alt=lambda table: "Two panels with the line of equality. " + sentences.activations(table),
    ),
    Exhibit(
        "lood-ctl-9",
        "",
        "ReLU against GeLU: share of records for which GeLU leaks more, by scale, input and depth",
        "What does the order of the activations depend on?",
        compute=_of(activations.shares, *ACTIVATIONS),
        needs=ACTIVATIONS,
        says=sentences.shares,
    ),
    Exhibit(
        "lood-ctl-10",
        "",
        "Theorem 4.1, Propositions 5.1, 6.1 and G.1 and Appendix C.2 against numbers",
        "Do the paper's statements hold?",
        compute=_of(
            theory.statements, "measured-slopes", RECORDS, "process-constant", settings=True
        ),
        needs=("measured-slopes", RECORDS, "process-constant"),
    ),
    Exhibit(
        "lood-ctl-11",
        "",
        "the released code's wrong label, and the record that stays in D",
        "What do two slips of the released code change?",
        compute=_of(mistakes.released_code, "process-slips"),
        needs=("process-slips",),
        says=sentences.slips,
    ),
)
