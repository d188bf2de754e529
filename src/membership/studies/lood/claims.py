"""What the paper says, each sentence with the test that decides it."""

from collections.abc import Callable
from typing import Any

from membership.published import Claim, Outcome
from membership.published.claim_rules import identity
from membership.published.outcomes import untested

NETWORKS = (
    "it takes networks of 9 hidden layers of 1024 units, 20 or more records and 50 or more "
    "networks a side; the runs here have smaller and fewer"
)
SETS = "it takes three training sets of CIFAR-10 at several depths; the run has one of each"
SEARCHES = "it takes the searches at the sizes of the test: more records, starts or groups"


def _without(reason: str) -> Callable[[Any], Outcome]:
    return lambda source: untested(reason)


def stationary(source: Any) -> Outcome:
    """Slopes of KL at the record under RBF, over the largest one away."""
    table = source.table("lood-ctl-10")
    rows = table[(table["statement"] == "Theorem 4.1") & (table["case"] == "RBF")]
    slopes = rows.loc[rows["quantity"].str.contains("KL"), "value"].to_numpy(float)
    found = identity(slopes, 1e-6, "slope of KL at the record")
    return found.on("three records")


CLAIMS = (
    Claim(
        "lood-c01",
        "we indeed observe a strong correlation between LOOD and MIA performance",
        "3, Figure 1(a)",
        "The rank correlation of KL and the exact AUC is at least .7 at each depth.",
        ("lood-fig-1", "lood-ctl-3"),
        _without(SETS),
    ),
    Claim(
        "lood-c02",
        "Mean distance LOOD is not well-correlated with MIA AUC score",
        "C.3, Figure 6",
        "KL's rank correlation with the AUC exceeds the mean distance's, uniform noise included.",
        ("lood-fig-6", "lood-ctl-3"),
        _without(SETS),
    ),
    Claim(
        "lood-c03",
        "we observe a strong correlation between the MIA performance on NNGP models and the MIA "
        "performance on neural network models",
        "3, Figure 1(b)",
        "The correlation of both AUCs, corrected for the networks' reliability, is at least .7.",
        ("lood-fig-1", "lood-ctl-3"),
        _without(NETWORKS),
    ),
    Claim(
        "lood-c04",
        "mean distance LOOD has the highest correlation to the actual prediction difference among "
        "all methods",
        "3, Figure 1(c)",
        "Its correlation exceeds that of influence functions and of TracIn, records paired.",
        ("lood-fig-1", "lood-ctl-3"),
        _without(NETWORKS),
    ),
    Claim(
        "lood-c05",
        "by more than two orders of magnitude",
        "1, footnote 6",
        "200 trainings take more than 100 times as long as LOOD for one record.",
        ("lood-ctl-2",),
        _without("it takes five timings of both at 10,000 records on one idle machine"),
        published="3.5 GPU hours, 2 GPU minutes",
    ),
    Claim(
        "lood-c06",
        "the differing data is a stationary point for LOOD as a function of query data",
        "4, Theorem 4.1",
        "The slope of KL at the record is at most 1e-6 of the largest nearby, under RBF.",
        ("lood-ctl-10",),
        stationary,
        changed="Slopes along random directions at three records, by central differences; the "
        "NNGP kernel on the sphere is not tried. Without higher precision nothing is contradicted.",
    ),
    Claim(
        "lood-c07",
        "LOOD under NNGP model is maximized when the query equals the differing datapoint",
        "1, Figure 4(a,b)",
        "No query found by lines, draws or ten ascents a record has more KL than the record.",
        ("lood-fig-4", "lood-ctl-5"),
        _without(f"{SEARCHES}. The chapter proves it"),
    ),
    Claim(
        "lood-c08",
        "MIA performance on NN models is generally the highest when queries are near the differing "
        "data",
        "4, Figure 4(c)",
        "More than half of the records have a higher AUC within 10 steps than at the lines' ends.",
        ("lood-fig-4",),
        _without(NETWORKS),
    ),
    Claim(
        "lood-c09",
        "in all evaluation trials, the LOOD values obtained from the optimized queries are lower "
        "than the LOOD value from the single differing data record",
        "E.1",
        "The largest ratio over 2, 4 and 8 queries, 20 trials a depth, does not exceed 1.",
        ("lood-ctl-5",),
        _without(f"{SEARCHES}. The chapter proves it"),
    ),
    Claim(
        "lood-c10",
        "generally recovers the differing data with high visual precision across random "
        "experiments",
        "4, Figures 2, 8, 14-19",
        "More than half of the searches have a correlation of .9 or more with their record and "
        "less with every other.",
        ("lood-fig-2", "lood-fig-8", "lood-ctl-7"),
        _without("it takes 20 records for each kernel; the run has two for all but the first"),
    ),
    Claim(
        "lood-c11",
        "the differing data point with the highest single-query LOOD was recovered",
        "E.2, Figure 3",
        "The most exposed member of a group is recovered more often than the least exposed one.",
        ("lood-fig-3",),
        _without("it takes 20 groups; the run has two"),
    ),
    Claim(
        "lood-c12",
        "In such a setting there exists optimized query with higher LOOD than the differing data "
        "itself",
        "4, D.4, Figure 10",
        "A query has 1.05 times the record's KL, confirmed by a second code path.",
        ("lood-fig-10", "lood-ctl-6"),
        _without("it takes a second code path and the variances of the queries found"),
    ),
    Claim(
        "lood-c13",
        "the differing data does not incur maximal influence on itself",
        "5, Proposition 5.1, Figures 7, 11-13",
        "The gradient's formula holds, and the mean distance peaks off the record at middle "
        "distances and at it far away.",
        ("lood-fig-7", "lood-fig-11", "lood-fig-12", "lood-ctl-8", "lood-ctl-10"),
        _without("it takes the sweep of an interval of records"),
    ),
    Claim(
        "lood-c14",
        "upper bounded by a term that is small if the kernel matrix is close to a low-rank "
        "all-constant matrix",
        "6, Proposition 6.1",
        "The largest KL falls with the distance from a constant, below the bound derived here.",
        ("lood-ctl-10",),
        _without("it takes distances down to 1e-4 on CIFAR-10 and digits"),
    ),
    Claim(
        "lood-c15",
        "for the same depth , one should expect that NNGP kernel matrix with ReLU activation is "
        "closer to a low rank constant matrix than with smooth activations",
        "G, Proposition G.1",
        "1 less the correlation decays as 1/L for smooth activations at stable fixed points, and "
        "as 1/L² for ReLU.",
        ("lood-ctl-10",),
        _without("it takes GeLU, ELU and tanh at seven fixed points"),
    ),
    Claim(
        "lood-c16",
        "we conclude that smooth activations induce higher leakage than non-smooth activations",
        "6, G.1 with 6.1",
        "At equal variance and stable points, GeLU has more KL for more than half of the records.",
        ("lood-ctl-9",),
        _without("it takes stable fixed points; the exhibit has one, and it is unstable"),
    ),
    Claim(
        "lood-c17",
        "GeLU gives rise to higher leakage in LOOD than ReLU activation, and their gap increases "
        "with depth",
        "6, Figure 5",
        "At the released settings GeLU has more KL for more than half, and more so when deep.",
        ("lood-fig-5", "lood-ctl-9"),
        _without(SETS),
    ),
    Claim(
        "lood-c18",
        "DNNs with GeLU activation incurs higher per-record leakage (MIA performance in AUC score) "
        "compared to DNNs with ReLU activation",
        "6, Figure 5",
        "The AUC of GeLU networks exceeds that of ReLU networks, records paired.",
        ("lood-fig-5", "lood-ctl-9"),
        _without(NETWORKS),
    ),
)
