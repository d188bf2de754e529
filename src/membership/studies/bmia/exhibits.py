"""The chapter's exhibits, in the order of its page."""

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from membership.exhibits import Exhibit
from membership.exhibits.declaration import drawn, later, of_settings
from membership.studies.bmia import misprints, names, propositions, sentences

if TYPE_CHECKING:
    pass

calibration, hard_record, mismatch, predictive = later(
    __package__, "calibration", "hard_record", "mismatch", "predictive"
)
retraining, tables, times, toy = later(__package__, "retraining", "tables", "times", "toy")


def _needs(*kinds: str) -> Callable[[Any], tuple[str, ...]]:
    return functools.partial(names.files, kinds)


MAIN = _needs(*names.MAIN)
VARIANTS = _needs(*names.MAIN, "variants")
MEASURED = _needs(*names.MAIN, "measured")


_BY_SAMPLES = drawn(
    "lines_with_intervals", x="n_samples", by="series", log_x=True, panel="panel", x_label="samples"
)
_ROC = drawn("roc_panels", floor=1e-3)


EXHIBITS = (
    Exhibit(
        "bmia-fig-1",
        "Figure 1",
        "toy regression: quantile regression against a Bayesian network",
        "Which model knows that it has no data in the middle?",
        compute=of_settings(toy.figure_1),
        draw=drawn("prediction_bands"),
        says=sentences.of_figure_1,
        caption="A regression with few records in the middle: medians and 90% bands of a quantile "
        "regression, of a Laplace posterior over all weights, and of one over the last layer's "
        "weights only. The paper shows a quantile regression and a Bayesian network, without "
        "saying of which weights.",
        alt=lambda table: (
            "Three panels with the same points on a sine curve and a model's band each. "
            + sentences.of_figure_1(table)
        ),
    ),
    Exhibit(
        "bmia-tab-1",
        "Table 1",
        "TPR at 0.1% and 1% FPR and time, five data sets",
        "Does one Bayesian reference do better than several plain ones?",
        compute=tables.table_1,
        needs=MAIN,
        judge=tables.table_1_comparison,
        says=sentences.of_table_1,
    ),
    Exhibit(
        "bmia-ctl-1",
        "",
        "what the posterior adds to the plain difference to the same reference",
        "What does the posterior add to the one reference?",
        compute=tables.control_1,
        needs=MAIN,
        says=sentences.of_control_1,
    ),
    Exhibit(
        "bmia-fig-2",
        "Figure 2",
        "conditional score distribution of one hard non-member",
        "Is a record that scores high easy for any model, or only for this one?",
        compute=hard_record.figure_2,
        needs=MAIN,
        draw=drawn("densities_with_thresholds"),
        caption="What four attacks expect of one non-member's hinge, with their thresholds at 5% "
        "(thin lines) and the target's score (thick). The record is the median of those above the "
        "95% quantile of non-members.",
        alt=sentences.laws,
    ),
    Exhibit(
        "bmia-ctl-2",
        "",
        "the p-value as a false-positive rate, published and corrected",
        "Is the p-value a false-positive rate?",
        compute=calibration.control_2,
        needs=MEASURED,
        draw=_BY_SAMPLES,
        says=sentences.of_control_2,
        caption="Share of non-members with a p-value below 1%, as published and with the corrected "
        "statistic, against the number of samples. First panel: target and samples from one normal "
        "law.",
        alt=lambda table: (
            "Panels of false-positive rate against the number of samples. "
            + sentences.of_control_2(table)
        ),
    ),
    Exhibit(
        "bmia-ctl-3",
        "",
        "ranking by p, by its survival function or logarithm, and by z",
        "Can records be ranked by the p-value?",
        compute=calibration.control_3,
        needs=MAIN,
        says=sentences.of_control_3,
    ),
    Exhibit(
        "bmia-ctl-4",
        "",
        "Laplace standard deviation against that over retraining, record by record",
        "Is the posterior's standard deviation the one over retraining?",
        compute=retraining.control_4,
        needs=MAIN,
        draw=drawn(
            "scatter",
            x="laplace",
            y="retraining",
            by="dataset",
            x_label="Laplace sd",
            y_label="sd over retraining",
        ),
        says=sentences.of_control_4,
        caption="Standard deviation of the hinge under the last-layer Laplace posterior against "
        "that over retrained references, one point a query (at most 1,000 a data set).",
        alt=lambda table: "A cloud of points a data set. " + sentences.of_control_4(table),
    ),
    Exhibit(
        "bmia-ctl-5",
        "",
        "how the two standard deviations are related",
        "Does the posterior know which records vary more?",
        compute=retraining.control_5,
        needs=MAIN,
        says=sentences.of_control_5,
    ),
    Exhibit(
        "bmia-ctl-6",
        "",
        "LiRA with a variance a record, one for all, and two-sided",
        "Which LiRA is it that one Bayesian reference beats?",
        compute=tables.control_6,
        needs=MAIN,
        says=sentences.of_control_6,
    ),
    Exhibit(
        "bmia-ctl-7",
        "",
        "how far the hinge score is from normal under Gaussian logits",
        "Is the hinge normal where the logits are?",
        compute=retraining.control_7,
        needs=MEASURED,
        says=sentences.of_control_7,
    ),
    Exhibit(
        "bmia-fig-3",
        "Figure 3",
        "number of samples: TPR and inference time",
        "How many samples does the attack need?",
        compute=predictive.figure_3,
        needs=VARIANTS,
        draw=_BY_SAMPLES,
        caption="True-positive rates against the number of samples, for two structures of the "
        "posterior; the closed form needs none. The same draws, cut off, serve for all numbers. "
        "Bars are 95% intervals over targets.",
        alt=sentences.by_samples,
    ),
    Exhibit(
        "bmia-fig-5",
        "Figure 5",
        "Hessian structures",
        "Does the structure of the posterior matter?",
        compute=predictive.figure_5,
        needs=VARIANTS,
        draw=_ROC,
        caption="ROC curves of BMIA with the full, the Kronecker-factored and the diagonal "
        "posterior, beside the plain difference to the same reference. Bands are 95% intervals "
        "over targets.",
        alt=sentences.curves,
    ),
    Exhibit(
        "bmia-fig-6",
        "Figure 6",
        "prior tuning by marginal likelihood or validation",
        "Does it matter how the prior is chosen?",
        compute=predictive.figure_6,
        needs=VARIANTS,
        draw=_ROC,
        caption="ROC curves of BMIA with the prior precision of the largest marginal likelihood, "
        "and with the one under which validation labels are most likely. Bands are 95% intervals "
        "over targets.",
        alt=sentences.curves,
    ),
    Exhibit(
        "bmia-fig-7",
        "Figure 7",
        "Monte Carlo against linearised predictive",
        "Does it matter what is drawn?",
        compute=predictive.figure_7,
        needs=VARIANTS,
        draw=_ROC,
        caption="ROC curves of BMIA with draws of the last layer's weights that all queries share, "
        "with each query's own draws of logits, and in closed form. Bands are 95% intervals over "
        "targets.",
        alt=sentences.curves,
    ),
    Exhibit(
        "bmia-fig-4",
        "Figure 4",
        "mismatched reference architectures",
        "What if the attacker guesses the architecture wrong?",
        compute=mismatch.figure_4,
        needs=names.of_architectures,
        draw=drawn(
            "bars_with_intervals",
            category="target",
            by="reference",
            y_label="TPR at 1% FPR (%)",
        ),
        says=sentences.of_figure_4,
        caption="BMIA's true-positive rate at 1% false positives for every pair of target (groups) "
        "and reference (bars), with 95% intervals over targets.",
        alt=lambda table: (
            "Groups of bars of true-positive rate, a group a target architecture, a bar a "
            "reference architecture. " + sentences.of_figure_4(table)
        ),
    ),
    Exhibit(
        "bmia-tab-2",
        "Table 2",
        "out-of-distribution non-members",
        "Does the attack tell members from strangers?",
        compute=tables.table_2,
        needs=names.of_strangers,
        judge=tables.table_2_comparison,
        says=sentences.of_table_2,
    ),
    Exhibit(
        "bmia-ctl-8",
        "",
        "where the published Table 1 contradicts itself or the text",
        "Does the printed Table 1 agree with itself?",
        compute=of_settings(misprints.control_8),
    ),
    Exhibit(
        "bmia-ctl-9",
        "",
        "Propositions 4.1 and 4.2 as stated, as proved and as simulated",
        "Do conditional attacks always win?",
        compute=of_settings(propositions.control_9),
        says=sentences.of_control_9,
    ),
    Exhibit(
        "bmia-ctl-10",
        "",
        "wall times of training and inference",
        "What does the posterior cost beside a training?",
        compute=times.control_10,
        needs=_needs("times"),
        judge=times.control_10_comparison,
        says=sentences.of_control_10,
    ),
)
