"""What the paper says, and what this chapter found, each with the test that decides it.

First what data the declared tests hold for, then the tests that no declaration of rows can say.
"""

import functools
import sys
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd

from membership import metrics
from membership.book import published
from membership.book.exhibits import Source
from membership.book.published import Contrast, Outcome, claim_rules, claims
from membership.book.published.declared_tests import Test
from membership.book.published.outcomes import NOT_TESTED, every, overall
from membership.book.published.rows import number, of_row, rows_at
from membership.book.studies.bayes_optimal import (
    finite_games,
    gaussian,
    logistic,
    names,
    posterior,
    splits,
)
from membership.book.studies.bayes_optimal.names import SHIPS
from membership.errors import InputError

TABLE_1, TABLE_2, PICTURES = "bayes-optimal-tab-1", "bayes-optimal-tab-2", "bayes-optimal-ctl-14"
SECOND, POWERS = "bayes-optimal-ctl-4", "bayes-optimal-ctl-11"
GAUSSIAN, STATEMENTS = "bayes-optimal-ctl-1", "bayes-optimal-ctl-8"
IMAGES, IMAGENET = "CIFAR-10", "ImageNet"
SMALL_GAMES = "small random games"
LEAST_SPLITS, LEAST_TARGETS, LEAST_SHADOWS = 30, 5, 20
PICTURE_TARGETS = 3
# AUC and accuracy in points.
MARGIN = 1.0


def on_ships(test: Test, source: Source) -> Outcome:
    """An outcome as one of the paper's data, where the run's are, or of a substitute."""
    return _on_ships(lambda sizes: test.at(n=sizes).outcome(source), source)


def _on_ships(judge: Callable[[list[int]], Outcome], source: Source) -> Outcome:
    """From a function of some sizes n; beside it what comes of those with the paper's models."""
    whole = judge(_sizes(source))
    word, on = _ships(source, whole)
    outcome = overall({word: whole.on(on)}, [SHIPS])
    return replace(outcome, reason=outcome.reason + _beside(judge, source))


def _beside(judge: Callable[[list[int]], Outcome], source: Source) -> str:
    """What a test makes of the sizes whose models agree with the paper's, in words."""
    sizes = _comparable_sizes(source)
    if not sizes or sizes == _sizes(source):
        return ""
    listed = ", ".join(map(str, sizes))
    return f"; of models that agree with the paper's (n = {listed}): {judge(sizes).word}"


def _sizes(source: Source) -> list[int]:
    """The sizes n of a run's Table 1."""
    return sorted(int(n) for n in source.table(TABLE_1)["n"].unique())


@functools.lru_cache(maxsize=4)
def _comparable_sizes(source: Source) -> list[int]:
    """The sizes at which the attacks are on models whose accuracies do not differ from print."""
    table = source.table(TABLE_1)
    if _names(table) != {SHIPS}:
        return []
    judged = logistic.judged(table)
    attacks = judged[(judged["attack"] != splits.MODEL) & judged["published"].notna()]
    comparable = attacks["verdict"] != "not comparable"
    return sorted(int(n) for n in attacks[comparable]["n"].unique())


def _names(table: pd.DataFrame) -> set[str]:
    return {setup["data"] for setup in table.attrs["setup"].values()}


def _ships(source: Source, outcome: Outcome) -> tuple[str, str]:
    """What Table 1's data are called beside the paper's, and what an outcome holds for."""
    table = source.table(TABLE_1)
    (name,) = _names(table)
    on = f"{name}, n = {', '.join(map(str, _sizes(source)))}, {_splits(outcome)} splits"
    if name != SHIPS:
        return on, on
    alike = int(table["n_repeats"].max()) >= LEAST_SPLITS and _models_alike(table)
    return SHIPS if alike else f"{on}, features of other models", on


def _splits(outcome: Outcome) -> str:
    """On how many random splits its numbers are, "20 to 50" where they differ in it."""
    counts = sorted({contrast.units for contrast in outcome.numbers if contrast.units})
    return " to ".join(str(count) for count in dict.fromkeys((counts[0], counts[-1])))


def _models_alike(table: pd.DataFrame) -> bool:
    """Whether all five sizes are there, with validation accuracies within 2 points of theirs."""
    printed, own = (
        rows[rows["metric"] == names.VALIDATION].set_index("n")["value"]
        for rows in (logistic.published_table_1(), table)
    )
    if set(printed.index) != set(own.index):
        return False
    return bool((own - printed).abs().max() <= 2)


def on_records(test: Test, source: Source) -> Outcome:
    """An outcome on whatever two classes the run has."""
    outcome = test.outcome(source)
    sets = ", ".join(sorted(_names(source.table(TABLE_1))))
    return outcome.on(f"{sets}, {_splits(outcome)} splits")


def on_networks(test: Test, source: Source) -> Outcome:
    """An outcome on whatever networks the run has."""
    return test.outcome(source).on(_networks(source)[0])


def with_shadows(test: Test, source: Source) -> Outcome:
    """One on networks with shadow models enough, and all of their outputs."""
    return _on_images(test, source, LEAST_SHADOWS, names.SHADOW)


def with_references(test: Test, source: Source) -> Outcome:
    """One on networks with the paper's number of references."""
    return _on_images(test, source, 30)


def _on_images(test: Test, source: Source, references: int, attack: str = "") -> Outcome:
    """An outcome on networks: as one of the paper's where it has its data, recipe, references."""
    name, on = _images(source, references, attack)
    return overall({name: test.outcome(source).on(on)}, [IMAGES])


def _images(source: Source, references: int = 0, attack: str = "") -> tuple[str, str]:
    """What Table 2's networks are called beside the paper's, and what an outcome holds for.

    Nor are they the paper's where the run says that an attack is another.
    """
    on, alike = _networks(source)
    setup = source.table(TABLE_2).attrs["setup"]["networks"]
    if setup["reference_models"] < references:
        alike, on = False, f"{on} of {references}"
    if attack in setup.get("attacks", {}):
        alike, on = False, f"{on}, {attack} from fewer outputs"
    return IMAGES if alike else on, on


def _networks(source: Source) -> tuple[str, bool]:
    """What a run's networks are, in words, and whether they are the paper's."""
    table = source.table(TABLE_2)
    setup = table.attrs["setup"]["networks"]
    targets = int(table["n_repeats"].max())
    on = (
        f"{setup['data']}, {setup['members']:,} members, {targets} targets, "
        f"{setup['reference_models']} references"
    )
    stated = published.setup("bayes_optimal")["Table 2"]
    same = all(
        setup.get(key) == stated[key] for key in ("data", "members", "architecture", "recipe")
    )
    printed = published.table("bayes_optimal_table2")
    printed = printed[printed["attack"].str.startswith("0-1")]["value"].item()
    own = number(table, attack="0-1", metric=names.ACCURACY).difference
    return on, bool(same and abs(own - printed) <= 3 and targets >= LEAST_TARGETS)


def on_pictures(test: Test, source: Source) -> Outcome:
    """An outcome on the networks that stand in for ImageNet's."""
    table = source.table(PICTURES)
    targets = int(table["n_repeats"].min())
    if targets < PICTURE_TARGETS:
        raise InputError(f"it takes {PICTURE_TARGETS} targets; there are {targets}")
    setups = [table.attrs["setup"][network] for network in dict.fromkeys(table["network"])]
    networks = [
        f"{s['architecture']} ({s['members']:,} members, {targets} targets)" for s in setups
    ]
    on = f"{', '.join(sorted({s['data'] for s in setups}))}: {', '.join(networks)}"
    return overall({on: test.outcome(source).on(on)}, [IMAGENET])


def threshold_is_free(test: Test, source: Source) -> Outcome:
    """A part at each of Table 1's sizes, and one at Table 2's."""
    part, large_part = test.parts
    _, lead, margin = large_part.of(source.table(TABLE_2), {})

    def judge(sizes: list[int]) -> Outcome:
        contrasts = test.model_copy(update={"parts": (part,)}).at(n=sizes).outcome(source).numbers
        return every(
            [
                claim_rules.about(contrast, margin, parts=len(contrasts) + 1)
                for contrast in contrasts
            ]
        )

    small = judge(_sizes(source))
    large = claim_rules.about(lead, margin, parts=len(small.numbers) + 1)
    outcomes = {
        name: outcome.on(on)
        for outcome, (name, on) in ((small, _ships(source, small)), (large, _images(source)))
    }
    paper = [SHIPS, IMAGES]
    outcome = overall(outcomes, paper, always=set(outcomes) == set(paper))
    return replace(outcome, reason=outcome.reason + _beside(judge, source))


def theorem_2(source: Source) -> Outcome:
    """c01."""
    table = rows_at(source.table(STATEMENTS), statement="Theorem 2").set_index("case")["value"]
    outcome = claim_rules.identity(
        np.array([table[finite_games.POSTERIOR]]),
        1e-6,
        "error given theta and z",
        refuted=1e-3,
        exact=True,
    )
    prior = table[finite_games.PRIOR]
    reason = f"largest of all games and records; {prior:.2g} by the prior of the others, not judged"
    return replace(outcome, datasets=(SMALL_GAMES,), reason=reason)


def score_falls_with_temperature(source: Source) -> Outcome:
    """c03, as printed."""
    rises = []
    table = posterior.temperature().query("metric == 'score'")
    for _, curve in table.groupby(["law", "z"]):
        score = curve.sort_values("temperature")["value"].to_numpy()
        clear = (np.abs(score[1:]) > 0.1) & (np.abs(score[:-1]) > 0.1)
        rises.append(np.diff(score)[clear].max(initial=0.0))
    worst = Contrast("fall of s where it falls least, a rise being negative", -max(rises))
    return claim_rules.much_better(worst, -1e-6).on("one-dimensional quadratic game")


def property_1(source: Source) -> Outcome:
    """c04."""
    table = rows_at(source.table(STATEMENTS), statement="Property 1")
    excesses = [
        Contrast(f"probability over the bound, {row.case}", float(row.value))
        for row in table.itertuples()
    ]
    vacuous = table["case"].str.endswith(finite_games.VACUOUS).sum()
    outcome = claim_rules.bound(excesses, 1e-9)
    reason = f"{outcome.reason}, {vacuous} of them with a bound above 1"
    return replace(outcome, datasets=(SMALL_GAMES,), reason=reason)


def property_2(source: Source) -> Outcome:
    """c05."""
    table = rows_at(source.table(STATEMENTS), statement="Property 2").set_index("case")["value"]
    label = "probability over the bound, delta given theta and z"
    outcome = claim_rules.bound([Contrast(label, float(table[finite_games.POSTERIOR]))], 1e-9)
    prior = table[finite_games.PRIOR]
    reason = f"largest excess; {prior:.2g} with delta by the prior of the others, not judged"
    return replace(outcome, datasets=(SMALL_GAMES,), reason=reason)


def each_its_threshold(source: Source) -> Outcome:
    """c06."""
    where = {"attack": gaussian.LEAD, "metric": names.ACCURACY}
    row = number(source.table(GAUSSIAN), "accuracy of MAST less MALT, points", **where)
    lead = claim_rules.better(row, MARGIN, parts=2)
    n = source.settings.gaussian_n // 2
    slope = claim_rules.about(_slope_error(n, source.settings.seed), 0.01, parts=2)
    return every([lead, slope]).on(f"Gaussian game, {row.units} games")


def _slope_error(n: int, seed: int) -> Contrast:
    """Equation 34's slope in |v|^2 by a million draws, over the formula, less 1."""
    t = np.random.default_rng(seed).standard_normal(1_000_000) / np.sqrt(n)
    near, far = np.exp(-(t**2) / 2), np.exp(-((1 - t) ** 2) / 2)
    formula = n / (2 * (n + 1))
    value = (np.log(near.mean()) - np.log(far.mean())) / formula - 1
    error = np.std(near / near.mean() - far / far.mean()) / np.sqrt(t.size) / formula
    return Contrast("slope of tau by simulation over the formula's, less 1", value, float(error))


def second_term_negligible(source: Source) -> Outcome:
    """c07."""
    slopes = source.table(POWERS)
    slopes = slopes[slopes["quantity"] == f"{names.RATIO}, {names.SLOPE}"]
    if not len(slopes):
        return Outcome(NOT_TESTED, reason="one size alone has no slope")
    # The last kind of features has the most accurate models; it is Table 1's where that is trained.
    last = slopes.iloc[-1]
    label = f"fall of the terms' ratio with n at one penalty, exponent ({last['features']})"
    fall = of_row(last).scaled(-1.0, label)
    where = {"attack": f"{splits.SECOND_ORDER} less {splits.MATT}", "metric": names.AUC}

    def judge(sizes: list[int]) -> Outcome:
        parts = len(sizes) + 1
        table, label = source.table(SECOND), "AUC of Equation 39 less Equation 40, points"
        contrasts = [number(table, f"{label}, n = {n}", n=n, **where) for n in sizes]
        outcomes = [claim_rules.about(contrast, MARGIN, parts=parts) for contrast in contrasts]
        return every([*outcomes, claim_rules.much_better(fall, 0.25, parts=parts)])

    return _on_ships(judge, source)


def random_scores_reach_half(source: Source) -> Outcome:
    """o01: what random scores gain over 50% is more than half of what is printed for MALT."""
    printed = rows_at(logistic.published_table_1(), attack="MALT", metric=names.ACCURACY)
    outcomes = []
    for row in printed.itertuples():
        null = 100 * metrics.peak_accuracy_null(row.n // 2, row.n // 2, seed=0) - 50
        over = Contrast(
            f"null less half of MALT's gain, points, n = {row.n}", null - (row.value - 50) / 2
        )
        outcomes.append(claim_rules.much_better(over, 0.0, parts=len(printed)))
    return every(outcomes).on("the published Table 1")


def posterior_reading(source: Source) -> Outcome:
    """o05: the posterior reading is within .01 everywhere; the prior's is .05 off somewhere."""
    table = source.table("bayes-optimal-ctl-7")
    close, far = [], []
    for (theta, z), rows in table.groupby(["theta", "z"]):
        value = {row.expectation: Contrast.of(row, "") for row in rows.itertuples()}
        exact = value["exact"].difference
        place = f"theta = {theta:g}, z = {z:g}"
        close.append(value["posterior"].minus(exact, f"posterior reading less exact, {place}"))
        off = value["prior"].minus(exact, f"prior reading off, {place}")
        far.append(off if off.difference > 0 else off.scaled(-1.0))
    parts = len(close) + 1
    return every(
        [
            *(claim_rules.about(contrast, 0.01, parts=parts) for contrast in close),
            claim_rules.exists(None, far, 0.05, parts=parts),
        ]
    ).on("one-dimensional game")


def one_loss_two_answers(source: Source) -> Outcome:
    """o06: the same record and loss under two models: the probabilities are .05 apart."""
    first, second = (posterior.exact_posterior(*case) for case in posterior.CASES[-2:])
    gap = Contrast("P(member) at equal losses, one model less the other", first - second)
    return claim_rules.much_better(gap, 0.05).on("one-dimensional game")


CLAIMS = claims.read("bayes_optimal", sys.modules[__name__])
