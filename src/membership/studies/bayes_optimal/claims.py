"""What the paper says, and what this chapter found, each with the test that decides it."""

from membership.published import Claim
from membership.studies.bayes_optimal import claim_tests as tests
from membership.studies.bayes_optimal import own_tests as own

_PAIRED = (
    "Paired by split where the run's evidence is there; the committed tables give unpaired means."
)

CLAIMS = (
    Claim(
        "bayes-optimal-c01",
        "the optimal membership inference is given by",
        "3.3, Theorem 2",
        "Equation 13 equals the probability of membership found by enumeration, to 1e-6, in 100 "
        "random games, the other records being averaged over given the parameters and the record.",
        ("bayes-optimal-ctl-8",),
        tests.theorem_2,
        published="formula",
    ),
    Claim(
        "bayes-optimal-c02",
        "optimal attacks only depend on the loss function, and thus black-box attacks are as good "
        "as white-box attacks",
        "Abstract",
        "Where the parameters are drawn from Equation 2, the AUC of the best attack on them lies "
        "within .01 of that of the best attack on a record and its loss.",
        ("bayes-optimal-ctl-9",),
        tests.parameters_add_nothing,
    ),
    Claim(
        "bayes-optimal-c03",
        "a higher temperature T decreases s, and thus decreases P(m1 = 1)",
        "3.3",
        "As printed: s falls with T wherever |s| > .1.",
        ("bayes-optimal-ctl-6",),
        tests.score_falls_with_temperature,
        published="formula",
        changed="In the one-dimensional quadratic game of this page, on a grid of temperatures.",
    ),
    Claim(
        "bayes-optimal-c03-intuition",
        "a higher temperature T decreases s, and thus decreases P(m1 = 1)",
        "3.3",
        "Its intuition: the best attack's AUC at T = 1/4 exceeds that at T = 4 by more than .01.",
        ("bayes-optimal-ctl-9",),
        tests.colder_leaks_more,
    ),
    Claim(
        "bayes-optimal-c04",
        "this bound indicates for instance that ε = 0.01 would be sufficient for membership "
        "privacy",
        "3.4, Property 1",
        "Under the exponential mechanism with known ε no probability of membership exceeds "
        "λ + ε/4.",
        ("bayes-optimal-ctl-8",),
        tests.property_1,
        published="formula",
    ),
    Claim(
        "bayes-optimal-c05",
        "If the training is (ε,δ)-membership private, then",
        "3.4, Property 2",
        "No probability of membership exceeds λ + ε/4T + δ, δ being taken given the parameters.",
        ("bayes-optimal-ctl-8",),
        tests.property_2,
        published="formula",
    ),
    Claim(
        "bayes-optimal-c06",
        "better separates the two distributions, leading to an increased membership inference "
        "accuracy",
        "4.2, Figure 1",
        "In the Gaussian game MAST's accuracy exceeds MALT's, and Equation 34's slope is that of "
        "a simulation within 1%.",
        ("bayes-optimal-fig-1", "bayes-optimal-ctl-1"),
        tests.each_its_threshold,
        published="figure only",
        changed="Thresholds are those that theory calls best, in the place of other games'.",
    ),
    Claim(
        "bayes-optimal-c07",
        "negligible compared to the other [...] In addition to the asymptotic reasoning, we "
        "verified this approximation experimentally",
        "4, MATT",
        "The AUC of Equation 39 is within .01 of that of Equation 40 at each n; and at one penalty "
        "the terms' ratio falls with n at least as its root of a root.",
        ("bayes-optimal-ctl-4",),
        tests.second_term_negligible,
        changed=_PAIRED,
    ),
    Claim(
        "bayes-optimal-c08",
        "outperforms the MALT method, for any number of training instances",
        "6.2, Table 1",
        "MATT's AUC exceeds MALT's at every n.",
        ("bayes-optimal-tab-1",),
        tests.matt_beats_malt,
        published="peak accuracies 57.0/54.4, 54.5/52.6, 53.0/51.7, 52.1/51.4, 51.8/51.0",
        changed=_PAIRED,
    ),
    Claim(
        "bayes-optimal-c09",
        "which itself obtains much better results than the naive 0-1 attack",
        "6.2, Table 1",
        "MALT's accuracy at a threshold of other records exceeds that of 0-1 at every n; 'much' is "
        "not judged.",
        ("bayes-optimal-tab-1", "bayes-optimal-ctl-2"),
        tests.malt_beats_0_1,
        published="gaps 2.3, 1.2, .9, .4, .3 points, with the best threshold",
        changed=_PAIRED,
    ),
    Claim(
        "bayes-optimal-c10",
        "both perform similarly in terms of mAP_test, but MATT slightly outperforms MALT in "
        "mAP_train",
        "6.2, Table 1",
        "MATT less MALT lies within 1 point of mAP_test and above 0 in mAP_train, at every n.",
        ("bayes-optimal-tab-1",),
        tests.gains_by_side,
        published="test 4.3 to 1.6, train 5.2 to 2.0",
        changed=_PAIRED,
    ),
    Claim(
        "bayes-optimal-c10-difference",
        "both perform similarly in terms of mAP_test, but MATT slightly outperforms MALT in "
        "mAP_train",
        "6.2, Table 1",
        "The gain in mAP_train exceeds that in mAP_test at every n.",
        ("bayes-optimal-tab-1",),
        tests.gains_differ,
        changed=_PAIRED,
    ),
    Claim(
        "bayes-optimal-c11",
        "it is relatively easy to predict that elements come from the test set",
        "6.2, Table 1",
        "MALT's mAP_test exceeds its mAP_train at every n.",
        ("bayes-optimal-tab-1",),
        tests.non_members_are_easier,
        published="3.9, 2.7, 1.4, 1.8, 1.2 points",
        changed=_PAIRED,
    ),
    Claim(
        "bayes-optimal-c12",
        "there is almost no difference between choosing the threshold on the set to be tested and "
        "cross-validating it",
        "5.2",
        "Accuracy with the best threshold is within half a point of that with the threshold of "
        "other records, for MALT and MATT at every n.",
        ("bayes-optimal-ctl-2",),
        tests.threshold_is_free,
        changed=f"At Table 1's sizes alone. {_PAIRED}",
    ),
    Claim(
        "bayes-optimal-c13",
        "this simple strategy yields better results than shadow models",
        "4.2, Table 2",
        "MALT's accuracy, its threshold from other models, exceeds that of a shadow attack on the "
        "same targets, and that of 0-1.",
        ("bayes-optimal-tab-2",),
        tests.beats_shadow_models,
        published="77.1, 73.9, 69.4; the last two copied from other papers",
    ),
    Claim(
        "bayes-optimal-c14",
        "MAST performs only slightly better than MALT",
        "6.3, Table 2",
        "MAST's accuracy exceeds MALT's by 0 to 2 points, with 30 references.",
        ("bayes-optimal-tab-2",),
        tests.mast_slightly_better,
        published="77.6 and 77.1",
        changed="Paired by target where the run's evidence is there.",
    ),
    Claim(
        "bayes-optimal-c15",
        "they are very concentrated around a central value τ, so their impact when added to the "
        "scores is limited",
        "6.3",
        "The thresholds' interquartile range is below half of the losses', and MAST ranks like "
        "MALT with a correlation above .9, with 30 references.",
        ("bayes-optimal-tab-2",),
        tests.thresholds_hardly_vary,
    ),
    Claim(
        "bayes-optimal-c16",
        "about 90% with our approach, against 77% for existing approaches",
        "6.4, Table 3",
        "MALT's accuracy exceeds that of 0-1 for both networks and every augmentation, and by more "
        "than 10 points without one on ImageNet.",
        ("bayes-optimal-tab-3",),
        tests.imagenet,
        published="MALT less 0-1: 14.1, 7.9, 2.6 (ResNet); 13.4, 8.2, .5 (VGG)",
    ),
    Claim(
        "bayes-optimal-c17",
        "Stronger data augmentation reduces the accuracy of the attacks, that still remain above "
        "64%",
        "6.4, Table 3",
        "MALT's accuracy falls from no augmentation to weak and from weak to strong, for both "
        "networks, and stays above 64% on ImageNet.",
        ("bayes-optimal-tab-3",),
        tests.imagenet,
        published="MALT: 90.4, 77.4, 68.0; 90.8, 79.5, 64.3",
    ),
    Claim(
        "bayes-optimal-o01",
        "Scores without information reach more than half of what Table 1 prints for MALT above "
        "50%.",
        "Table 1",
        "The best threshold's accuracy for random scores, less half of MALT's printed gain.",
        ("bayes-optimal-ctl-2",),
        own.random_scores_reach_half,
        origin="ours",
    ),
    Claim(
        "bayes-optimal-o02",
        "MATT is almost the same number as a difference of two losses.",
        "Control 3",
        "The two rank records with a correlation above 0.95, and their AUCs are within a point.",
        ("bayes-optimal-ctl-3",),
        own.matt_is_its_twin,
        origin="ours",
    ),
    Claim(
        "bayes-optimal-o03",
        "The second-order term is not negligible at Table 1's sizes.",
        "Control 4",
        "Its spread is more than a quarter of the first-order term's at every n.",
        ("bayes-optimal-ctl-4",),
        own.second_term_is_large,
        origin="ours",
    ),
    Claim(
        "bayes-optimal-o04",
        "With the leverage of the record the second-order term does no harm.",
        "Control 4",
        "The AUC with the corrected term is not a point below that without it, at any n.",
        ("bayes-optimal-ctl-4",),
        own.leverage_mends,
        origin="ours",
    ),
    Claim(
        "bayes-optimal-o05",
        "Theorem 1's expectation is over the other records given the parameters.",
        "Control 7",
        "Read so it is within .01 of the exact probability everywhere; read as the prior it is "
        "more than .05 off somewhere.",
        ("bayes-optimal-ctl-7",),
        own.posterior_reading,
        origin="ours",
    ),
    Claim(
        "bayes-optimal-o06",
        "The record's own loss does not fix the probability that it is a member.",
        "Control 7",
        "At the same record and loss, two models give probabilities more than .05 apart.",
        ("bayes-optimal-ctl-7",),
        own.one_loss_two_answers,
        origin="ours",
    ),
    Claim(
        "bayes-optimal-o07",
        "At low false-positive rates the threshold for each record is what finds members.",
        "Table 2",
        "MAST's TPR at 1% false positives exceeds MALT's.",
        ("bayes-optimal-tab-2",),
        own.mast_at_low_rates,
        origin="ours",
    ),
)
