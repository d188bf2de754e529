"""The tests of the paper's claims, over a run's exhibits and evidence."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.stats import iqr, spearmanr

from membership.errors import InputError
from membership.published import Contrast, Outcome, claim_rules
from membership.published.outcomes import NOT_TESTED, every, overall, untested
from membership.studies.bayes_optimal import (
    claim_data,
    finite_games,
    gaussian,
    logistic,
    posterior,
)
from membership.studies.bayes_optimal.claim_data import Cell, by_size, contrast
from membership.studies.bayes_optimal.exhibits import game
from membership.studies.bayes_optimal.names import (
    ACCURACY,
    AUC,
    MODELS,
    OTHER,
    PEAK,
    RATIO,
    SHADOW,
    SLOPE,
)

GAUSSIAN, STATEMENTS = "bayes-optimal-ctl-1", "bayes-optimal-ctl-8"
TEST, TRAIN = "mAP_test(%)", "mAP_train(%)"
# AUC and accuracy in points.
MARGIN = 1.0
LEAST_SHADOWS = 20
SMALL_GAMES = "small random games"


def theorem_2(source: Any) -> Outcome:
    """c01."""
    table = source.table(STATEMENTS).query("statement == 'Theorem 2'").set_index("case")
    error, prior = (
        table.loc[case, "value"] for case in (finite_games.POSTERIOR, finite_games.PRIOR)
    )
    found = claim_rules.identity(
        np.array([error]), 1e-6, "error given theta and z", refuted=1e-3, exact=True
    )
    reason = f"largest of all games and records; {prior:.2g} by the prior of the others, not judged"
    return Outcome(found.word, (SMALL_GAMES,), found.numbers, reason)


def score_falls_with_temperature(source: Any) -> Outcome:
    """c03, as printed."""
    rises = []
    table = posterior.temperature().query("metric == 'score'")
    for _, curve in table.groupby(["law", "z"]):
        score = curve.sort_values("temperature")["value"].to_numpy()
        clear = (np.abs(score[1:]) > 0.1) & (np.abs(score[:-1]) > 0.1)
        rises.append(np.diff(score)[clear].max(initial=0.0))
    worst = Contrast("fall of s where it falls least, a rise being negative", -max(rises))
    return claim_rules.much_better(worst, -1e-6).on("one-dimensional quadratic game")


def property_1(source: Any) -> Outcome:
    """c04."""
    table = source.table(STATEMENTS).query("statement == 'Property 1'")
    excesses = [
        Contrast(f"probability over the bound, {row.case}", float(row.value))
        for row in table.itertuples()
    ]
    vacuous = table["case"].str.contains("above 1").sum()
    found = claim_rules.bound(excesses, 1e-9)
    reason = f"{found.reason}, {vacuous} of them with a bound above 1"
    return Outcome(found.word, (SMALL_GAMES,), found.numbers, reason)


def property_2(source: Any) -> Outcome:
    """c05."""
    table = source.table(STATEMENTS).query("statement == 'Property 2'").set_index("case")["value"]
    judged, prior = (float(table[case]) for case in (finite_games.POSTERIOR, finite_games.PRIOR))
    found = claim_rules.bound(
        [Contrast("probability over the bound, delta given theta and z", judged)], 1e-9
    )
    reason = f"largest excess; {prior:.2g} with delta by the prior of the others, not judged"
    return Outcome(found.word, (SMALL_GAMES,), found.numbers, reason)


def each_its_threshold(source: Any) -> Outcome:
    """c06."""
    table = source.table(GAUSSIAN)
    (row,) = table[(table["attack"] == gaussian.LEAD) & (table["metric"] == ACCURACY)].itertuples()
    lead = claim_rules.better(
        Contrast.of(row, "accuracy of MAST less MALT, points"), MARGIN, parts=2
    )
    n = source.settings.gaussian_n // 2
    slope = claim_rules.about(_slope_error(n, source.settings.seed), 0.01, parts=2)
    return every([lead, slope]).on(f"Gaussian game, {row.n_repeats} games")


def _slope_error(n: int, seed: int) -> Contrast:
    """Equation 34's slope in |v|^2 by a million draws, over the formula, less 1."""
    t = np.random.default_rng(seed).standard_normal(1_000_000) / np.sqrt(n)
    near, far = np.exp(-(t**2) / 2), np.exp(-((1 - t) ** 2) / 2)
    formula = n / (2 * (n + 1))
    value = (np.log(near.mean()) - np.log(far.mean())) / formula - 1
    error = np.std(near / near.mean() - far / far.mean()) / np.sqrt(t.size) / formula
    return Contrast("slope of tau by simulation over the formula's, less 1", value, float(error))


def second_term_negligible(source: Any) -> Outcome:
    """c07."""
    slopes = source.table(claim_data.POWERS)
    slopes = slopes[slopes["quantity"] == f"{RATIO}, {SLOPE}"]
    if not len(slopes):
        return Outcome(NOT_TESTED, reason="one size alone has no slope")
    # The last kind of features has the most accurate models; it is Table 1's where that is trained.
    last = slopes.iloc[-1]
    label = f"fall of the terms' ratio with n at one penalty, exponent ({last['features']})"
    fall = claim_data.row(last, "").scaled(-1.0, label)

    def judge(sizes: list[int]) -> Outcome:
        parts = len(sizes) + 1
        pair = ((logistic.SECOND_ORDER, AUC), (logistic.MATT, AUC))
        label = "AUC of Equation 39 less Equation 40, points"
        found = [
            claim_rules.about(contrast(source, n, *pair, label), MARGIN, parts=parts) for n in sizes
        ]
        return every([*found, claim_rules.much_better(fall, 0.25, parts=parts)])

    return claim_data.on_ships(source, judge)


def matt_beats_malt(source: Any) -> Outcome:
    """c08."""
    pair = (("MATT", AUC), ("MALT", AUC))
    return by_size(
        source, lambda n, parts: _better(source, n, pair, "AUC, MATT less MALT, points", parts)
    )


def matt_beats_malt_by_accuracy(source: Any) -> Outcome:
    """c08, in accuracy."""
    pair = (("MATT", MODELS), ("MALT", MODELS))
    label = "accuracy, MATT less MALT (thresholds of other models), points"
    return by_size(source, lambda n, parts: _better(source, n, pair, label, parts))


def malt_beats_0_1(source: Any) -> Outcome:
    """c09."""
    pair = (("MALT", OTHER), ("0-1", ACCURACY))
    label = "accuracy, MALT (threshold of others) less 0-1, points"
    return by_size(source, lambda n, parts: _better(source, n, pair, label, parts))


def malt_beats_0_1_by_models(source: Any) -> Outcome:
    """c09, with the threshold of simulated sets."""
    pair = (("MALT", MODELS), ("0-1", ACCURACY))
    label = "accuracy, MALT (threshold of other models) less 0-1, points"
    return by_size(source, lambda n, parts: _better(source, n, pair, label, parts))


def gains_by_side(source: Any) -> Outcome:
    """c10."""

    def part(n: int, parts: int) -> Outcome:
        test, train = (
            contrast(
                source,
                n,
                ("MATT", metric),
                ("MALT", metric),
                f"{metric[:-3]}, MATT less MALT, points",
            )
            for metric in (TEST, TRAIN)
        )
        return every(
            [
                claim_rules.about(test, MARGIN, parts=2 * parts),
                claim_rules.better(train, MARGIN, parts=2 * parts),
            ]
        )

    return by_size(source, part)


def gains_differ(source: Any) -> Outcome:
    """c10, the difference of the two gains."""

    def part(n: int, parts: int) -> Outcome:
        pairs = [(("MATT", metric), ("MALT", metric)) for metric in (TRAIN, TEST)]
        found = claim_data.of_pairs(
            source, n, pairs, "gain in mAP_train less gain in mAP_test, points"
        )
        return claim_rules.better(found, MARGIN, parts=parts)

    return by_size(source, part)


def non_members_are_easier(source: Any) -> Outcome:
    """c11."""
    pair = (("MALT", TEST), ("MALT", TRAIN))
    label = "MALT, mAP_test less mAP_train, points"
    return by_size(source, lambda n, parts: _better(source, n, pair, label, parts))


def threshold_is_free(source: Any) -> Outcome:
    """c12."""
    return _free(source, OTHER, OTHER, "others")


def threshold_is_free_in_table_1(source: Any) -> Outcome:
    """c12, without Table 2."""
    return claim_data.on_ships(source, lambda sizes: _peaks(source, sizes, OTHER, "others", 0))


def threshold_of_models_is_free(source: Any) -> Outcome:
    """c12, with the thresholds of simulated sets."""
    return _free(source, MODELS, ACCURACY, "other models")


def _free(source: Any, ours: str, networks: str, whose: str) -> Outcome:
    """Best threshold against another: MALT and MATT at Table 1's sizes, MALT at Table 2's."""

    def judge(sizes: list[int]) -> Outcome:
        return _peaks(source, sizes, ours, whose, 1)

    small = judge(claim_data.sizes(source))
    lead = claim_data.of_networks(
        source, ("MALT", PEAK), ("MALT", networks), f"{_gain('MALT', whose)}, Table 2"
    )
    large = claim_rules.about(lead, 0.5, parts=len(small.numbers) + 1)
    found = {}
    for one, (word, told) in (
        (small, claim_data.ships(source, small)),
        (large, claim_data.images(source)),
    ):
        found[word] = one.on(told)
    paper = [claim_data.SHIPS, claim_data.IMAGES]
    outcome = overall(found, paper, always=set(found) == set(paper))
    return replace(outcome, reason=outcome.reason + claim_data.beside(source, judge))


def _peaks(source: Any, sizes: list[int], metric: str, whose: str, more: int) -> Outcome:
    """At Table 1's sizes, among so many more parts."""
    found = [
        contrast(source, n, (attack, ACCURACY), (attack, metric), _gain(attack, whose))
        for n in sizes
        for attack in ("MALT", logistic.MATT)
    ]
    return every([claim_rules.about(one, 0.5, parts=len(found) + more) for one in found])


def _gain(attack: str, whose: str) -> str:
    return f"accuracy of {attack}, best threshold less that of {whose}, points"


def _better(source: Any, n: int, pair: tuple, label: str, parts: int) -> Outcome:
    return claim_rules.better(contrast(source, n, *pair, label), MARGIN, parts=parts)


def beats_shadow_models(source: Any) -> Outcome:
    """c13."""
    return _beats(source, ACCURACY, level=True)


def beats_shadow_models_as_fixed(source: Any) -> Outcome:
    """c13, where a difference around 0 contradicts nothing."""
    return _beats(source, ACCURACY, level=False)


def beats_shadow_models_by_folds(source: Any) -> Outcome:
    """c13, each attack's threshold that of the other half of the target's records."""
    return _beats(source, OTHER, level=True)


def _beats(source: Any, metric: str, *, level: bool) -> Outcome:
    if game(source).shadow is None:
        return untested("the evidence has no shadow attack")
    leads = [
        claim_data.of_networks(
            source, ("MALT", metric), (other, metric), f"accuracy, MALT less {other}, points"
        )
        for other in (SHADOW, "0-1")
    ]
    found = [
        claim_rules.better(one, MARGIN, parts=2)
        if level
        else claim_rules.much_better(one, 0.0, parts=2)
        for one in leads
    ]
    return claim_data.on_images(source, every(found), references=LEAST_SHADOWS, attack=SHADOW)


def mast_slightly_better(source: Any) -> Outcome:
    """c14."""
    return _slightly_better(source, ("MAST", ACCURACY), ("MALT", ACCURACY))


def mast_slightly_better_by_folds(source: Any) -> Outcome:
    """c14, each attack's threshold that of the other half of the target's records."""
    return _slightly_better(source, ("MAST", OTHER), ("MALT", OTHER))


def _slightly_better(source: Any, first: Cell, second: Cell) -> Outcome:
    lead = claim_data.of_networks(source, first, second, "accuracy, MAST less MALT, points")
    found = claim_rules.about(lead.minus(1.0, f"{lead.label}, less 1 point"), 1.0)
    return claim_data.on_images(source, found, references=30)


def thresholds_hardly_vary(source: Any) -> Outcome:
    """c15."""
    spread, rank = [], []
    for target in game(source).targets():
        mast = target.mast("best-separating")
        spread.append(iqr(mast + target.loss) / iqr(target.loss))
        rank.append(spearmanr(mast, -target.loss)[0])
    if not np.isfinite(spread).all():
        raise InputError("the losses of a target do not spread: it takes longer training")
    parts = [
        Contrast.of_units(0.5 - np.array(spread), "1/2 less the thresholds' relative spread"),
        Contrast.of_units(np.array(rank) - 0.9, "rank correlation of MAST and MALT, less 9/10"),
    ]
    found = every([claim_rules.much_better(one, 0.0, parts=2) for one in parts])
    return claim_data.on_images(source, found, references=30)
