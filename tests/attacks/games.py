"""Easy games: evidence of every kind on which each attack should do better than chance."""

import numpy as np

from membership import evidence

RECORDS, HELD, MODELS = 80, 60, 10
RECIPE = {
    "loss": "cross-entropy",
    "learning_rate": 0.1,
    "momentum": 0.5,
    "weight_decay": 0.05,
    "members": RECORDS // 2,
}
ORIGIN = {"set": "easy", "data": {"easy": "ab12"}, "recipe": RECIPE}
ROWS = np.arange(RECORDS) * 3 + 5
BATCH, DIRECTIONS, STEPS = 10, 8, 3
TERMS = ("own1", "own2", "own3", "mean2", "mean3", "rest2", "rest3")
INVERSES = [
    {"conditioning": "damping", "amount": 0.1, "stationarity": "published"},
    {"conditioning": "damping", "amount": 0.1, "stationarity": "regularised"},
    {"conditioning": "damping", "amount": 9.0, "stationarity": "published"},
    {"conditioning": "identity"},
]


def halves(rng):
    """Random halves, each followed by its complement."""
    member = np.empty((MODELS, RECORDS), bool)
    for model in range(0, MODELS, 2):
        member[model] = rng.permutation(RECORDS) < RECORDS // 2
        member[model + 1] = ~member[model]
    return member


def outputs(rng, member, hardness):
    log_odds = hardness + 2.0 * member + rng.normal(0, 0.7, member.shape)
    held = rng.normal(1, 1, HELD) + rng.normal(0, 0.7, (MODELS, HELD))
    # From draws of their own, which move no other number.
    early = hardness + np.random.default_rng([7, len(held)]).normal(0, 0.7, (2, *member.shape))
    early[1] = (early[1] + 0.5 * member + log_odds) / 2
    return evidence.dataset(
        "outputs",
        {
            "log_odds": log_odds,
            "halved_log_odds": log_odds / 2,
            "sequence_log_odds": np.stack([*early, log_odds], axis=1),
            "hinge": log_odds + rng.normal(0, 0.2, member.shape),
            "correct": log_odds > 2,
            "shokri": log_odds + rng.normal(0, 0.5, member.shape),
            "member": member,
            "held_log_odds": held,
        },
        {"record": ROWS},
        targets=[0, 1, 2],
        complements=[1, 0, 3],
        **ORIGIN,
    )


def posterior(rng, hardness):
    shape = (MODELS, 3, RECORDS)
    return evidence.dataset(
        "posterior",
        {"mean": hardness + rng.normal(0, 0.4, shape), "sd": rng.uniform(0.6, 1.0, shape)},
        {"record": ROWS, "variant": ["kron", "closed form", "qmia"]},
        **ORIGIN,
    )


def fit(x, y, decay):
    """Logistic regression by Newton steps, labels -1 and 1."""
    w = np.zeros(x.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(y * (x @ w)))
        hessian = (x.T * (p * (1 - p))) @ x / len(x) + decay * np.eye(len(w))
        w -= np.linalg.solve(hessian, -(x.T @ (y * p)) / len(x) + decay * w)
    return w


def white_box(rng, member, targets=(0, 1, 2)):
    """Logistic regressions with more features than they need: forms by dense matrices.

    The reference is trained on other records of the same law, so that it lies around the same
    minimum, as MATT has it.
    """
    decay, features = RECIPE["weight_decay"], 20
    truth = rng.standard_normal(features) / 2

    def draw(n):
        x = rng.standard_normal((n, features))
        return x, np.where(rng.random(n) < 1 / (1 + np.exp(-x @ truth)), 1.0, -1.0)

    (x, y), elsewhere = draw(RECORDS), draw(10 * RECORDS)
    start = fit(*elsewhere, decay)
    found = {name: [] for name in ("log_odds", "loss", "form", "reference_log_odds", "leverage")}
    f0 = y * (x @ start)
    p0 = 1 / (1 + np.exp(elsewhere[1] * (elsewhere[0] @ start)))
    summed = (elsewhere[0].T * (p0 * (1 - p0))) @ elsewhere[0] + decay * len(elsewhere[0]) * np.eye(
        features
    )
    each = [row @ np.linalg.solve(summed, row) for row in x]
    for target in targets:
        inside = member[target]
        w = fit(x[inside], y[inside], decay)
        f = y * (x @ w)
        found["log_odds"].append(f)
        found["loss"].append(np.log1p(np.exp(-f)))
        found["form"].append(forms(x, y, inside, w, decay))
        found["reference_log_odds"].append(f0)
        found["leverage"].append(each / (np.exp(f0 / 2) + np.exp(-f0 / 2)) ** 2)
    found = {name: np.array(values) for name, values in found.items()}
    return evidence.dataset(
        "white_box",
        {**found, "member": member[list(targets)]},
        {"target": list(targets), "query": ROWS, "term": list(TERMS)},
        inverses=INVERSES,
        targets=list(targets),
        **ORIGIN,
    )


def forms(x, y, inside, w, decay):
    """(inverse, term, record)."""
    p = 1 / (1 + np.exp(y * (x @ w)))
    gradient = -(y * p)[:, None] * x
    kept = x[inside]
    hessian = (kept.T * (p * (1 - p))[inside]) @ kept / len(kept)
    mean, eye = gradient[inside].mean(axis=0), np.eye(len(w))
    found = []
    for how in INVERSES:
        outer = inner = eye
        if how["conditioning"] == "damping":
            outer = np.linalg.inv(hessian + how["amount"] * eye)
            shift = decay if how["stationarity"] == "regularised" else 0.0
            inner = np.linalg.inv(hessian + (how["amount"] + shift) * eye)
        two, three = inner @ inner, inner @ outer @ inner
        found.append(
            [
                [g @ inner @ g for g in gradient],
                [g @ two @ g for g in gradient],
                [g @ three @ g for g in gradient],
                [g @ two @ mean for g in gradient],
                [g @ three @ mean for g in gradient],
                [g @ two @ (mean + decay * w) for g in gradient],
                [g @ three @ (mean + decay * w) for g in gradient],
            ]
        )
    return np.array(found)


def pairs(rng, records=40, replicates=7):
    shape = (records, 2, replicates, 1, 1)
    hardness = rng.normal(1, 1, records)[:, None, None, None, None]
    trained = np.array([0.0, 1.0])[None, :, None, None, None]
    return evidence.dataset(
        "pairs",
        {"answer": hardness + 1.5 * trained + rng.normal(0, 0.7, shape)},
        {"record": np.arange(records) + 2, "side": ["without", "with"]},
        **ORIGIN,
    )


def steps(rng, models=2):
    """White gradients: distance and susceptibility of their batches' means."""
    member = np.array([rng.permutation(RECORDS) < BATCH for _ in range(models)])
    distance, susceptibility = (np.empty((models, STEPS, RECORDS)) for _ in range(2))
    for model in range(models):
        for step in range(STEPS):
            gradient = rng.standard_normal((RECORDS, DIRECTIONS))
            mean = gradient[member[model]].mean(axis=0)
            distance[model, step] = ((gradient - mean) ** 2).sum(axis=1)
            susceptibility[model, step] = (gradient**2).sum(axis=1)
    return evidence.dataset(
        "steps",
        {"distance": distance, "susceptibility": susceptibility, "member": member},
        {"record": ROWS},
        batch_size=BATCH,
        rank=DIRECTIONS,
        **ORIGIN,
    )


def games(seed=0):
    """Evidence by kind."""
    rng = np.random.default_rng(seed)
    member, hardness = halves(rng), rng.normal(1, 1, RECORDS)
    return {
        "outputs": outputs(rng, member, hardness),
        "white_box": white_box(rng, member),
        "posterior": posterior(rng, hardness),
        "pairs": pairs(rng),
        "steps": steps(rng),
    }
