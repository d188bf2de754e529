"""One computed sentence an exhibit, and what its picture shows in words."""

from collections.abc import Iterator

import pandas as pd

from membership.exhibits import sentences as said
from membership.exhibits.numbers import number
from membership.metrics.rate_names import tpr_label
from membership.studies.gmip import names, theory


def of_figure_1(table: pd.DataFrame) -> str:
    """How far the exact curve and its limit lie apart, at the smallest and the largest sizes."""
    wide = table.pivot_table(index=["panel", "fpr"], columns="series", values="fnr", sort=False)
    gap = (wide["Theorem 5.1"] - wide["Gaussian limit"]).abs().groupby("panel", sort=False).max()
    first, last = gap.index[0], gap.index[-1]
    return (
        f"The two curves are at most {100 * gap.iloc[0]:.1f} points apart for {first}, and "
        f"{100 * gap.iloc[-1]:.2f} for {last}."
    )


def of_control_1(table: pd.DataFrame) -> str:
    """The greatest deviation of all."""
    return f"No simulated error rate is off by more than {100 * table['value'].max():.2f} points."


def of_figure_4(table: pd.DataFrame) -> str:
    """In how many panels the theorem is within the band of all rates, and by how much it is not."""
    from scipy import stats

    outside, panels = {}, table.groupby("panel", sort=False)
    for name, part in panels:
        curves = part[part["fpr"] < 1].pivot(index="fpr", columns="series", values="tpr")
        glir = part[(part["series"] == "GLiR") & (part["fpr"] < 1)]
        gap = (curves["GLiR"] - curves["Theorem 5.1, K as drawn"]).abs().to_numpy()
        at_once = stats.t.ppf(1 - 0.025 / len(glir), glir["n_repeats"] - 1)
        if (gap > at_once * glir["standard_error"].to_numpy()).any():
            outside[name] = 100 * gap.max()
    text = (
        "Theorem 5.1 at each record's own K lies within GLiR's 95% band for all rates at once in "
        f"{len(panels) - len(outside)} of {len(panels)} panels"
    )
    if outside:
        most = [f"{number(gap)} points ({name})" for name, gap in outside.items()]
        text += f"; elsewhere they differ by at most {', '.join(most)}"
    return text + "."


def after_one_step(table: pd.DataFrame, fpr: float) -> str:
    """GLiR and both levels after one step, on each data set that is real."""
    at = table[(table["steps"] == names.ONE) & ((table["fpr"] - fpr).abs() < 1e-9)]
    glir, by_parameters, by_rank = (
        100 * at.loc[at["series"] == series, "tpr"]
        for series in ("GLiR", "level at K = d", "level at K = rank")
    )
    if glir.empty:
        return ""
    return (
        f"After one step GLiR finds {said.span(glir)} of members at {100 * fpr:.0f}% FPR. The "
        f"level at K = d allows {said.span(by_parameters)}, the level at K = rank "
        f"{said.span(by_rank)}."
    )


def of_control_4(table: pd.DataFrame) -> str:
    """The sum and the joint test, simulated at the highest correlation and on the first data."""
    value = {(r.data, r.case, r.attack): r.value for r in table.itertuples()}
    case = table[table["data"] == names.SIMULATED]["case"].iloc[-1]
    area = {key[2]: value[key] for key in value if key[1] == case}
    simulated = (
        f"Simulated, {case}: AUC {area[names.ONE]:.1f}% after one step, "
        f"{area[names.SUM]:.1f}% with summed log p-values of five, "
        f"{area[names.JOINT]:.1f}% with the joint test."
    )
    for data, case, attack in value:
        if attack == names.RATIO and names.has_steps(case, 5):
            summed, test = (value[data, case, key] for key in (names.SUM, names.JOINT))
            return (
                f"{simulated} {data}, {case}: {summed:.1f}% with the sum, {test:.1f}% with the "
                f"joint test, {value[data, case, attack]:.1f}% with the joint likelihood ratio."
            )
    return simulated


def of_control_8(table: pd.DataFrame) -> str:
    """How many levels need noise, and how many of them less than DP."""
    count = table.groupby("quantity")["value"].sum()
    whole = len(theory.levels()) * table["dataset"].nunique()
    less = count["levels that need noise, but less than DP"]
    return (
        f"Of {whole} levels {count['levels that need noise']:.0f} need noise for membership "
        f"inference privacy, {less:.0f} of them less than for differential privacy."
    )


def of_control_9(table: pd.DataFrame) -> str:
    """Equation 10 over the numerical rate at 0.1% FPR, at the paper's sizes and in the example."""
    rates = table[table["quantity"] == tpr_label(0.001)]
    wide = rates.pivot_table(index="data", columns="method", values="value")
    ratio = wide["Equation 10"] / wide["numerical"]
    return (
        f"At 0.1% FPR the TPR of Equation 10 is {said.span(ratio, 1, '')} times the one that is "
        "composed numerically."
    )


def of_figure_3(table: pd.DataFrame) -> str:
    """How much accuracy membership inference privacy saves, at most."""
    own = table[table["noise"] == "independent"]
    wide = own.pivot_table(index=["dataset", "mu"], columns="notion", values="value")
    gain = (wide["GMIP"] - wide["GDP"]).groupby("dataset", sort=False).max()
    gains = "; ".join(f"{name} {value:.1f} points" for name, value in gain.items())
    return f"The most that GMIP gains over GDP: {gains}."


def of_control_10(table: pd.DataFrame) -> str:
    """What either noise costs under plain SGD, over all data sets."""
    plain = table[table["optimiser"] == "sgd"].pivot(
        index="dataset", columns="noise", values="value"
    )
    if not {"none", "shared", "independent"} <= set(plain.columns):
        return ""
    shared, own = (plain["none"] - plain[noise] for noise in ("shared", "independent"))
    return (
        f"With plain SGD shared noise costs at most {shared.max():z.1f} points of accuracy, and "
        f"independent noise at least {own.min():z.1f}."
    )


def of_the_promise(table: pd.DataFrame) -> str:
    """Control 17 in words: stated, and found of each group where the records are fixed."""
    parts = []
    for name, part in table.groupby("data", sort=False):
        groups = part.groupby("quantity", sort=False)["asked"].nunique()
        quantity = groups.idxmax()
        at = part[part["quantity"] == quantity].set_index(["asked", "others"])["value"]
        if "fixed" not in at.index.get_level_values("others"):
            parts.append(f"{name}: too few records outside of training to tell a rate")
            continue
        fixed = at.xs("fixed", level="others")
        rates = ", ".join(
            f"{value:.1f}% of {'all' if group == 'all' else f'the {group}'}"
            for group, value in fixed.items()
        )
        stated = f"stated {at.iloc[0]:.1f}%, found {rates}"
        parts.append(f"{name}, {quantity.removesuffix(' (%)')}: {stated}")
    return (
        "A panel a data set, rows for all records and for those with the largest K: what an "
        f"attack finds, and a line where the promise stands. {'; '.join(parts)}."
    )


def of_control_18(table: pd.DataFrame) -> str:
    """What the noise of half the level costs the attack, and how near it comes to GDP's curve."""
    lost = table[table["quantity"] == names.LOST]
    costs = "; ".join(f"{row.value:.1f} ({row.data})" for row in lost.itertuples())
    excess = table[table["quantity"] == names.EXCESS]["value"]
    most = excess.max()
    side = (
        "stays below the promised curve by at least" if most < 0 else "exceeds the curve by up to"
    )
    return (
        f"Noise that halves the level of Equation 9 costs the attack points of AUC: {costs}. Under "
        f"noise for differential privacy its TPR on simulated gradients {side} {abs(most):.2f} "
        "points."
    )


def of_control_19(table: pd.DataFrame) -> str:
    """The time of either attack and their ratio."""
    parts = []
    for name, part in table.groupby("data", sort=False):
        value = part.set_index("quantity")["value"]
        attacks = [
            f"{attack} {value[f'{attack}, AUC (%)']:.1f}% in {value[attack + names.SECONDS]:.2g} s"
            for attack in (
                quantity.removesuffix(names.SECONDS)
                for quantity in value.index
                if quantity.endswith(names.SECONDS)
            )
        ]
        parts.append(f"{name}: {'; '.join(attacks)}")
    return f"AUC and processor time. {'. '.join(parts)}."


def of_control_15(table: pd.DataFrame) -> str:
    """Points of accuracy lost to noise with either C."""
    parts = []
    for name, part in names.noise_losses(table).groupby("data", sort=False):
        wide, fitting = part.set_index("C")["value"][[names.OWN, names.MEDIAN]]
        parts.append(f"{name} {wide:.1f} and {fitting:.1f}")
    return f"Points lost to noise, with Table 4's C and with the smaller: {'; '.join(parts)}."


def of_figure_6(table: pd.DataFrame) -> str:
    """Both attacks after the few steps, at 1% false positives."""
    shown = table[table["panel"].isin(table.loc[table["series"] == "GLiR", "panel"])]
    return said.each(
        shown.assign(tpr=100 * shown["tpr"]),
        "dataset",
        "{dataset} {glir:.1f} and {loss:.1f}%",
        "Members found at 1% FPR after few steps, by GLiR and loss: {}.",
        glir={"fpr": 0.01, "series": "GLiR"},
        loss={"fpr": 0.01, "series": "loss (LiRA)"},
    )


def roc(table: pd.DataFrame, fpr: float) -> str:
    """Panels of error rates in words: each panel's series at a rate of false positives."""
    at = table[(table["fpr"] - fpr).abs() < 1e-6]
    parts = []
    for panel, part in at.groupby("panel", sort=False):
        rates = ", ".join(
            f"{series} {100 * tpr:.0f}%"
            for series, tpr in zip(part["series"], part["tpr"], strict=True)
        )
        parts.append(f"{panel}: {rates}")
    return (
        f"True positive rate against false positive rate in {table['panel'].nunique()} panels. "
        f"True positive rates at {100 * fpr:.0f}% false positives: {'; '.join(parts)}."
    )


def accuracies(table: pd.DataFrame) -> str:
    """Figure 3 in words."""
    ranges = [
        f"{name} from {part['value'].min():.0f} to {part['value'].max():.0f}%"
        for name, part in table.groupby("dataset", sort=False)
    ]
    return (
        "Test accuracy against mu on a logarithmic axis, a panel a data set: "
        f"{', '.join(ranges)}. The GMIP curves jump where no noise is needed any more; the GDP "
        "curves rise slowly, with noise of each entry's own and with noise that all classes share."
    )


def _rates_of(table: pd.DataFrame) -> Iterator[tuple[str, "pd.Series[float]"]]:
    """The rates at 1% FPR of each data set and length of training, by attack."""
    at = table[table["quantity"] == tpr_label(0.01)]
    for (data, steps), part in at.groupby(["data", "steps"], sort=False):
        yield f"{data}, {steps}", part.set_index("attack")["value"]


def of_control_20(table: pd.DataFrame) -> str:
    """GLiR beside LiRA, and the promise, after the shortest and the longest training."""
    parts = []
    for name, value in _rates_of(table):
        is_few = names.PROMISED in value
        stated = value[names.PROMISED if is_few else names.PROMISED_COMPOSED]
        glir, lira = value[[names.GLIR, names.LIRA]]
        by = "" if is_few else " by Equation 10"
        parts.append(f"{name.partition(', ')[2]} {glir:.1f}, {lira:.1f}, {stated:.1f}{by}")
    ends = "; ".join([*parts[:1], *parts[1:][-1:]])
    return f"Members (%) at 1% FPR, GLiR, LiRA, promised at K = d: {ends}."


def of_the_rivals(table: pd.DataFrame) -> str:
    """All attacks in words."""
    differences = [names.difference(*pair) for pair in names.PAIRS]
    parts = [
        f"{name}: " + ", ".join(f"{attack} {rate:.1f}" for attack, rate in rates.items())
        for name, value in _rates_of(table)
        for rates in [value[~value.index.isin(differences)]]
    ]
    return (
        "A panel a length of training, a row an attack: the percentage of members found at 1% "
        f"false positives, and a line where the promise stands. {'; '.join(parts)}."
    )


def of_control_22(table: pd.DataFrame) -> str:
    """AUC of five steps by either inverse and in the picture; of one step by what training saw."""
    at = table[(table["quantity"] == "AUC (%)") & (table["steps"] != "1 step")]
    parts = []
    for name, part in at.groupby("data", sort=False):
        value = part.set_index("inverse")["value"]
        if "released" in value and len(value) == 3:
            right, released, stored = value[["right", "released", "the authors' picture"]]
            parts.append(
                f"{name}, AUC by the right inverse {right:.1f}, by the released one "
                f"{released:.1f}, in the picture {stored:.0f}%"
            )
    first = table[(table["quantity"] == "AUC (%)") & (table["steps"] == "1 step")]
    digits = first[(first["data"] == "digits") & (first["inverse"] == "right")]
    own = digits.set_index("training")["value"]
    parts.append(
        f"Digits, originals {own['originals']:.1f}, shifted images {own['shifted images']:.1f}%"
    )
    return f"{'. '.join(parts)}."
