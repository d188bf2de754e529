"""Every registered attack once more: slow, record by record, straight from the evidence."""

import itertools
import statistics

import numpy as np
from scipy import special, stats

from tests.attacks.games import BATCH, DIRECTIONS, RECIPE

TARGET = 0


def loss(s):
    return np.log1p(np.exp(-s))


def black_box(score, **options):
    """A score of (log-odds, OUT log-odds, IN log-odds) for each record of the outputs."""

    def of(games):
        data = games["outputs"]
        odds, member = (data[name].values.astype(float) for name in ("log_odds", "member"))
        found = []
        for r in range(odds.shape[1]):
            out = [odds[m, r] for m in range(2, len(odds)) if not member[m, r]]
            inside = [odds[m, r] for m in range(2, len(odds)) if member[m, r]]
            found.append(score(odds[TARGET, r], out, inside, **options))
        return np.array(found)

    return of


def left_out(score):
    """The same of leave-one-out models: first those without the record, then those with it."""

    def of(games):
        odds = games["pairs"]["answer"].values[..., 0, 0].astype(float)
        return np.array(
            [
                score(odds[r, side, TARGET], odds[r, 0, TARGET + 1 :], odds[r, 1, TARGET + 1 :])
                for side in (0, 1)
                for r in range(len(odds))
            ]
        )

    return of


def released_rule(value, others, bounds=(0.0, 1000.0)):
    """Minus the smallest beta at which the released rule calls a record of that loss a member."""
    grid = sorted([bounds[0], *others, bounds[1]])
    at = next(k for k in range(len(grid)) if grid[k] >= value)
    if grid[at] == value:
        return -at / (len(grid) - 1)
    return -(at - 1 + (value - grid[at - 1]) / (grid[at] - grid[at - 1])) / (len(grid) - 1)


def attack_r(s, out, inside):
    return released_rule(loss(s), [loss(o) for o in out])


def mast(s, out, inside):
    return -np.log(np.mean([np.exp(-loss(o)) for o in out])) - loss(s)


def mast_best(s, out, inside):
    levels = sorted({loss(o) for o in [*out, *inside]})
    middles = [(a + b) / 2 for a, b in itertools.pairwise(levels)]

    def gain(t):
        return sum(loss(o) <= t for o in inside) * len(out) - sum(loss(o) <= t for o in out) * len(
            inside
        )

    return max(middles, key=lambda t: (gain(t), -t)) - loss(s)


def lira(s, out, inside):
    a, b = (
        stats.norm(np.mean(inside), np.std(inside, ddof=1)),
        stats.norm(np.mean(out), np.std(out, ddof=1)),
    )
    return a.logpdf(s) - b.logpdf(s)


def lira_offline(s, out, inside):
    return (s - np.mean(out)) / np.std(out, ddof=1)


def globally(offline):
    """LiRA with one variance a side."""

    def of(games):
        data = games["outputs"]
        odds, member = (data[name].values.astype(float) for name in ("log_odds", "member"))
        return of_odds(odds, member)

    def of_odds(odds, member):
        sides = []
        for keep in (0, 1):
            squares, count, means = 0.0, 0, []
            for r in range(odds.shape[1]):
                own = [odds[m, r] for m in range(2, len(odds)) if member[m, r] == keep]
                means.append(np.mean(own))
                squares += sum((v - np.mean(own)) ** 2 for v in own)
                count += len(own) - 1
            sides.append((np.array(means), np.sqrt(squares / count)))
        (out, out_sd), (inside, in_sd) = sides
        if offline:
            return (odds[TARGET] - out) / out_sd
        return stats.norm.logpdf(odds[TARGET], inside, in_sd) - stats.norm.logpdf(
            odds[TARGET], out, out_sd
        )

    of.of_odds = of_odds
    return of


def score_difference(games):
    odds = games["outputs"]["sequence_log_odds"].values[TARGET].astype(float)
    return np.array([record[-1] - record[0] for record in odds.T])


def lira_sequence(games):
    """LiRA of Fisher's sum over checkpoints, its weights by loops over records and models."""
    data = games["outputs"]
    odds = data["sequence_log_odds"].values.astype(float)
    member = data["member"].values.astype(float)
    shifts, deviations = [], []
    for r in range(odds.shape[2]):
        sides = [[odds[m, :, r] for m in range(2, len(odds)) if member[m, r] == s] for s in (0, 1)]
        means = [sum(side) / len(side) for side in sides]
        shifts.append(means[1] - means[0])
        deviations += [one - mean for side, mean in zip(sides, means, strict=True) for one in side]
    covariance = sum(np.outer(one, one) for one in deviations)
    weights = np.linalg.inv(covariance) @ (sum(shifts) / len(shifts))
    return globally(offline=False).of_odds((odds * weights[:, None]).sum(axis=1), member)


def base(s, out, inside):
    return -np.log(np.mean([np.exp(-loss(o)) for o in [*out, *inside]])) - loss(s)


def prior(variances, degrees):
    """The degrees and scale with the variances' log moments, between points of a grid."""
    grid = np.geomspace(1e-2, 1e5, 400_001)
    # Each log s^2 less its mean under one common variance.
    centred = [
        np.log(v) - special.digamma(d / 2) + np.log(d / 2)
        for v, d in zip(variances, degrees, strict=True)
    ]
    excess = np.var(centred, ddof=1) - np.mean([special.polygamma(1, d / 2) for d in degrees])
    if excess <= 0:
        return np.inf, np.exp(np.mean(centred))
    found = np.interp(excess, special.polygamma(1, grid / 2)[::-1], grid[::-1])
    return found, np.exp(np.mean(centred) + special.digamma(found / 2) - np.log(found / 2))


def bavaria(predictive, offline=False):
    """LiRA with a law of the variances, record by record."""

    def side(rows):
        degrees = [len(own) - 1 for own in rows]
        known = [statistics.variance(own) for own in rows]
        d0, s0 = prior(known, degrees)
        laws = []
        for own, d, v in zip(rows, degrees, known, strict=True):
            spread = s0 if np.isinf(d0) else (d0 * s0 + d * v) / (d0 + d)
            wide = np.sqrt(spread * (1 + 1 / len(own)))
            if predictive == "normal":
                laws.append(stats.norm(np.mean(own), np.sqrt(spread)))
            else:
                laws.append(stats.t(d0 + d, np.mean(own), wide))
        return laws

    def of(games):
        data = games["outputs"]
        odds, member = (data[name].values.astype(float) for name in ("log_odds", "member"))
        rows = range(odds.shape[1])
        out, inside = (
            side([[odds[m, r] for m in range(2, len(odds)) if member[m, r] == keep] for r in rows])
            for keep in (0, 1)
        )
        if offline:
            return np.array([-law.logsf(s) for law, s in zip(out, odds[TARGET], strict=True)])
        return np.array(
            [a.logpdf(s) - b.logpdf(s) for a, b, s in zip(inside, out, odds[TARGET], strict=True)]
        )

    return of


def rmia_at(games, target, references, a):
    """The scores of one model by some references, from all records and held ones."""
    data = games["outputs"]
    odds, member = (data[name].values.astype(float) for name in ("log_odds", "member"))
    p, held = 1 / (1 + np.exp(-odds)), 1 / (1 + np.exp(-data["held_log_odds"].values.astype(float)))

    def ratio(own, out):
        return own / (((1 + a) * np.mean(out) + 1 - a) / 2)

    beaten = [ratio(held[target, z], held[references, z]) for z in range(held.shape[1])]
    found = []
    for r in range(odds.shape[1]):
        out = [p[m, r] for m in references if not member[m, r]]
        found.append(np.mean([ratio(p[target, r], out) > b for b in beaten]) if out else np.nan)
    return np.array(found), member[target].astype(bool)


def rmia_ratios(games, signal="log_odds", online=False):
    data = games["outputs"]
    odds, member = (data[name].values.astype(float) for name in (signal, "member"))
    p, found = 1 / (1 + np.exp(-odds)), []
    for r in range(odds.shape[1]):
        out, inside = (
            np.mean([p[m, r] for m in range(2, 10) if member[m, r] == keep]) for keep in (0, 1)
        )
        found.append(p[TARGET, r] / ((out + inside) / 2 if online else (1.3 * out + 0.7) / 2))
    return np.array(found)


def base_of(games, signal="log_odds", offline=False):
    data = games["outputs"]
    odds, member = (data[name].values.astype(float) for name in (signal, "member"))
    p, found = 1 / (1 + np.exp(-odds)), []
    for r in range(odds.shape[1]):
        told = [p[m, r] for m in range(2, 10) if not (offline and member[m, r])]
        scale = 0.33 if offline else 1.0
        found.append(np.log(p[TARGET, r]) - scale * np.log(np.mean(told)))
    return np.array(found)


def difference(games):
    data = games["outputs"]
    hinge, member = data["hinge"].values.astype(float), data["member"].values
    return np.array(
        [
            hinge[TARGET, r] - np.mean([hinge[m, r] for m in range(2, 10) if not member[m, r]])
            for r in range(hinge.shape[1])
        ]
    )


def moments(variant, row):
    def of(games):
        hinge = games["outputs"]["hinge"].values[TARGET].astype(float)
        own = games["posterior"].sel(variant=variant).isel(reference=row)
        return (hinge - own["mean"].values.astype(float)) / own["sd"].values.astype(float)

    return of


def mixture(games):
    z = np.array([moments("closed form", m)(games) for m in range(2, 10)])
    below, above = stats.norm.cdf(z).mean(axis=0), stats.norm.sf(z).mean(axis=0)
    return np.log(below) - np.log(above)


def variance_split(games):
    own = games["posterior"].sel(variant="closed form").isel(reference=slice(2, 10))
    means, sds = (own[name].values.astype(float) for name in ("mean", "sd"))
    hinge, found = games["outputs"]["hinge"].values[TARGET].astype(float), []
    for r in range(hinge.size):
        within = np.mean([sd**2 for sd in sds[:, r]])
        between = (1 + 1 / 8) * sum((m - np.mean(means[:, r])) ** 2 for m in means[:, r]) / 7
        t = (hinge[r] - np.mean(means[:, r])) / np.sqrt(within + between)
        # Welch and Satterthwaite: only what is between the references is estimated from few.
        found.append(-stats.t.logsf(t, (within + between) ** 2 / (between**2 / 7)))
    return np.array(found)


def white(score):
    """A score of one record's forms at an inverse, as a dictionary, with loss and membership."""

    def of(games):
        data = games["white_box"].isel(target=TARGET)
        form = data["form"].values.astype(float)
        found = []
        for r in range(form.shape[-1]):
            terms = [dict(zip(data["term"].values, row[:, r], strict=True)) for row in form]
            found.append(score(terms, float(data["loss"][r]), bool(data["member"][r])))
        return np.array(found)

    return of


def iha(which):
    def score(inverses, value, member):
        f = inverses[which]
        lam, mu, alpha = (RECIPE[k] for k in ("learning_rate", "momentum", "weight_decay"))
        n, step = RECIPE["members"], lam * alpha / (1 + mu)
        less, regular = (1 / n if member else 0.0), which == 1
        known = "rest" if regular else "mean"
        u0u = f[f"{known}2"] - less * f["own2"]
        u0hu = f[f"{known}3"] - less * f["own3"]
        s1, s2 = (1 - step / 2 if regular else 1 - step), 2 - step
        total = s1 / n * f["own2"] + 2 * s1 * u0u
        total += alpha * s2 / (2 * n) * f["own3"] + alpha * s2 * u0hu
        return value / (1 + mu) - total / lam

    return score


def residual(inverses, value, member):
    f, n = inverses[3], RECIPE["members"]
    others = f["rest2"] - (f["own2"] / n if member else 0.0)
    return -2 * others / n - f["own2"] / n**2


def matt(second):
    def of(games):
        data = games["white_box"].isel(target=TARGET)
        names = ("log_odds", "reference_log_odds", "leverage")
        f, f0, h = (data[name].values.astype(float) for name in names)
        first = (f - f0) / (1 + np.exp(f0))
        # g'H0^-1 g = (g's factor)^2 x'H0^-1 x, and h = weight x'H0^-1 x.
        factor, weight = 1 / (1 + np.exp(f0)), np.exp(f0) / (1 + np.exp(f0)) ** 2
        term = factor**2 * h / weight / 2
        return first - {"none": 0.0, "H0": term, "H1": term / (1 + h)}[second]

    return of


def glir(n_steps):
    def of(games):
        data = games["steps"].isel(model=TARGET)
        found = 0.0
        for step in range(n_steps):
            d, k = (data[v][step].values.astype(float) for v in ("distance", "susceptibility"))
            found = found - stats.ncx2.logcdf(BATCH * d, DIRECTIONS, BATCH * k)
        return found

    return of


def signal(name, kind="outputs"):
    return lambda games: games[kind][name].values[TARGET].astype(float)


def attack_p(games):
    held = loss(games["outputs"]["held_log_odds"].values[TARGET].astype(float))
    own = loss(games["outputs"]["log_odds"].values[TARGET].astype(float))
    return np.array([np.mean([z > x for z in held]) for x in own])


SLOW = {
    "loss": black_box(lambda s, out, inside: -loss(s)),
    "zero-one": signal("correct"),
    "attack-p": attack_p,
    "attack-r": black_box(attack_r),
    "mast": black_box(mast),
    "mast-best": black_box(mast_best),
    "lira": black_box(lira),
    "lira-global": globally(offline=False),
    "lira-offline": black_box(lira_offline),
    "lira-offline-global": globally(offline=True),
    "lira-sequence": lira_sequence,
    "score-difference": score_difference,
    "base": black_box(base),
    "bavaria": bavaria("t"),
    "bavaria-normal": bavaria("normal"),
    "bavaria-offline": bavaria("t", offline=True),
    "rmia": rmia_ratios,
    "rmia-warm": lambda games: rmia_ratios(games, "halved_log_odds"),
    "rmia-online": lambda games: rmia_ratios(games, online=True),
    "rmia-share": lambda games: rmia_at(games, TARGET, list(range(2, 10)), 0.3)[0],
    "base-warm": lambda games: base_of(games, "halved_log_odds"),
    "base-offline": lambda games: base_of(games, "halved_log_odds", offline=True),
    "difference": difference,
    "shokri": signal("shokri"),
    "l-attack": left_out(attack_r),
    "lira-l": left_out(lira_offline),
    "loss-ratio": left_out(lira),
    "qmia": moments("qmia", TARGET),
    "bmia": moments("kron", 2),
    "bmia-closed": moments("closed form", 2),
    "bmia-mixture": mixture,
    "bmia-variance": variance_split,
    "sif": white(lambda inverses, value, member: -inverses[0]["own1"]),
    "iha": white(iha(0)),
    "iha-star": white(iha(1)),
    "residual": white(residual),
    "matt": matt("none"),
    "matt-second": matt("H0"),
    "matt-newton": matt("H1"),
    "glir": glir(1),
    "glir-steps": glir(3),
}
