"""Every record's leakage from one inverse, beside attacks, networks and other estimates of it."""

from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm, rankdata

from membership import lood, nngp
from membership.lood import LeaveOneOut
from membership.metrics.arrays import FloatArray
from membership.studies.lood import influence, networks, pictures
from membership.studies.lood.networks import Retrained
from membership.studies.lood.records import Records, attrs

MOST_POINTS = 500
N_UNIFORM = 50
SHOWN = 10


def kernel_of(settings: Any, activation: str = "relu") -> nngp.Kernel:
    """The kernel of the released code's closed-form runs: weights of variance 2, no bias."""
    return nngp.fully_connected(settings.depth, activation)


def every_record(records: Records, settings: Any, kernel: nngp.Kernel | None = None) -> LeaveOneOut:
    """Leave each record out in turn, by the kernel given or that of `kernel_of`, on raw pixels."""
    matrix = (kernel or kernel_of(settings))(records.inputs())
    return lood.leave_one_out(matrix, records.targets, settings.noise)


def figure_1(records: Records, retrained: Retrained, settings: Any) -> pd.DataFrame:
    """LOOD against the attack, the process against networks, and influence (Figure 1).

    Returns
    -------
    DataFrame
        Columns panel ("a" to "c" in words), series, record, x, y, low, high. In the second panel
        y is the mean AUC over random halves of the networks with one standard deviation; in the
        third, x is scaled to [0, 1] within a series.
    """
    found = every_record(records, settings)
    shown = slice(0, MOST_POINTS)
    a = _points(GP, "process", np.arange(len(records))[shown], found.kl[shown], found.auc[shown])
    few = every_record(retrained.records, settings)
    value, spread = network_auc(retrained, settings)
    chosen = retrained.left_out
    b = _points(NETWORKS, "networks", chosen, few.auc[chosen], value)
    b["low"], b["high"] = value - spread, value + spread
    parts = [a, b]
    difference = np.sqrt(prediction_difference(retrained))
    for name, estimate in self_influence(retrained, settings).items():
        root = np.sqrt(estimate)
        unit = (root - root.min()) / (root.max() - root.min())
        parts.append(_points(MEMORISATION, name, chosen, unit, difference))
    table = pd.concat(parts, ignore_index=True)
    table.attrs = attrs([records], settings, network_deviations(settings))
    return table


GP = "LOOD and the attack"
NETWORKS = "process and networks"
MEMORISATION = "self-influence"
LABELS = {
    GP: ("KL (nats)", "AUC of the best attack"),
    NETWORKS: ("AUC, process", "AUC, networks"),
    MEMORISATION: ("scaled root estimate", "root prediction difference"),
    "mean distance": ("mean distance", "AUC of the best attack"),
    "KL": ("KL (nats)", "AUC of the best attack"),
}


def self_influence(retrained: Retrained, settings: Any) -> dict[str, FloatArray]:
    """Mean distance under the process and the estimates of `influence`, by name."""
    few = every_record(retrained.records, settings)
    own = few.mean_distance[retrained.left_out]
    return {"mean-distance LOOD": own, **influence.estimates(retrained, settings)}


def prediction_difference(retrained: Retrained) -> FloatArray:
    """Half the squared distance of the mean logits with and without each record, at the record."""
    inside, outside = retrained.logits(retrained.own_queries)
    move = inside[:, :, 0].mean(axis=1) - outside[:, :, 0].mean(axis=1)
    return np.square(move).sum(axis=1) / 2


def memorisation(retrained: Retrained) -> FloatArray:
    """Feldman's: probability of the label with the record less that without, at the record."""
    y = retrained.records.dataset.y[retrained.left_out]
    sides = []
    for logits in retrained.logits(retrained.own_queries):
        odds = logits[:, :, 0] - logits[:, :, 0].max(axis=-1, keepdims=True)
        p = np.exp(odds) / np.exp(odds).sum(axis=-1, keepdims=True)
        sides.append(p.mean(axis=1)[np.arange(len(y)), y])
    return sides[0] - sides[1]


def network_auc(retrained: Retrained, settings: Any) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation over halves of the networks' AUC at each left-out record."""
    pairs = zip(*retrained.logits(retrained.own_queries), strict=True)
    found = [networks.fitted_auc(i[:, 0], o[:, 0], settings.seed) for i, o in pairs]
    return tuple(np.array(found).T)


def correlations(records: Records, retrained: Retrained, settings: Any) -> pd.DataFrame:
    """How well each estimate follows what it stands for, over records (Control 3).

    Returns
    -------
    DataFrame
        Columns estimate, of, metric, value, low, high (Fisher's intervals).
    """
    found, few = every_record(records, settings), every_record(retrained.records, settings)
    auc, _ = network_auc(retrained, settings)
    chosen = retrained.left_out
    rbf, noise = every_record(records, settings, nngp.rbf()), _uniform(records, settings)
    pairs = [
        ("KL", "AUC of the process", found.kl, found.auc),
        ("mean distance", "AUC of the process", found.mean_distance, found.auc),
        ("KL, RBF", "AUC of the process", rbf.kl, rbf.auc),
        ("mean distance, RBF", "AUC of the process", rbf.mean_distance, rbf.auc),
        ("KL, uniform noise", "AUC of the process", noise.kl(), noise.auc()),
        ("mean distance, uniform noise", "AUC of the process", noise.mean_distance, noise.auc()),
        ("AUC of the process", "AUC of the networks", few.auc[chosen], auc),
    ]
    truths = {
        "prediction difference": prediction_difference(retrained),
        "memorisation": memorisation(retrained),
    }
    estimates = self_influence(retrained, settings)
    names = ("LiSSA as released", "influence function")
    pairs.append((*names, *(estimates[name] for name in names)))
    for truth, values in truths.items():
        pairs += [(name, truth, estimate, values) for name, estimate in estimates.items()]
    rows = []
    for estimate, truth, x, y in pairs:
        key = {"estimate": estimate, "of": truth}
        rows.append({**key, "metric": "rank correlation", **correlation(rankdata(x), rankdata(y))})
        if truth == "prediction difference":
            roots = correlation(np.sqrt(x), np.sqrt(y))
            rows.append({**key, "metric": "correlation of roots", **roots})
    table = pd.DataFrame(rows)
    table.attrs = attrs([records], settings, network_deviations(settings))
    return table


def correlation(x: FloatArray, y: FloatArray) -> dict[str, float]:
    """Pearson's correlation with Fisher's 95% interval, as columns of a row."""
    found = float(np.corrcoef(x, y)[0, 1])
    half = norm.ppf(0.975) / np.sqrt(max(len(x) - 3, 1))
    middle = np.arctanh(np.clip(found, -1 + 1e-12, 1 - 1e-12))
    # Rounding may leave a correlation of exactly one outside.
    low, high = min(np.tanh(middle - half), found), max(np.tanh(middle + half), found)
    return {"value": found, "low": float(low), "high": float(high)}


def figure_6(records: Records, settings: Any) -> pd.DataFrame:
    """Mean distance and KL against the AUC of the best attack, on the process (Figure 6).

    Differing records are training records under two kernels, and pictures of uniform noise with
    random labels added to them.

    Returns
    -------
    DataFrame
        Columns panel, series, record, x, y.
    """
    shown = np.arange(len(records))[:MOST_POINTS]
    parts = []
    for name, kernel in (("NNGP", kernel_of(settings)), ("RBF", nngp.rbf())):
        found = every_record(records, settings, kernel)
        for panel, x in (("mean distance", found.mean_distance), ("KL", found.kl)):
            parts.append(_points(panel, f"{name}, records", shown, x[shown], found.auc[shown]))
    noise = _uniform(records, settings)
    for panel, x in (("mean distance", noise.mean_distance), ("KL", noise.kl())):
        parts.append(_points(panel, "NNGP, uniform noise", np.arange(N_UNIFORM), x, noise.auc()))
    table = pd.concat(parts, ignore_index=True).drop(columns=["low", "high"])
    table.attrs = attrs([records], settings)
    return table


def leakage_map(records: Records, settings: Any) -> pd.DataFrame:
    """All records of each class in the order of their leakage (Control 4).

    Returns
    -------
    DataFrame
        Columns row, column, text, class, rank, record, kl, auc, shape, pixels; one row a record,
        with pixels for the ten most and the ten least exposed of each class.
    """
    found = every_record(records, settings)
    rows = []
    for label in range(records.dataset.n_classes):
        members = np.flatnonzero(records.dataset.y == label)
        order = members[np.argsort(-found.kl[members], kind="stable")]
        for rank, record in enumerate(order):
            place = min(rank, len(order) - 1 - rank)
            end = "most" if rank < len(order) / 2 else "least"
            shown = place < SHOWN
            rows.append(
                {
                    "row": f"{end} exposed, {'first' if label == 0 else 'second'} class",
                    "column": place + 1,
                    "text": f"{found.kl[record]:.2g}",
                    "class": label,
                    "rank": rank + 1,
                    "record": int(record),
                    "kl": found.kl[record],
                    "auc": found.auc[record],
                    **pictures.cells(records.dataset.x[record], shown),
                }
            )
    table = pd.DataFrame(rows)
    table.attrs = attrs([records], settings)
    return table


def network_deviations(settings: Any) -> tuple[str, ...]:
    """What the retrained networks differ in from the paper's."""
    sizes = {
        "hidden layers": (settings.depth, 9),
        "units": (settings.network_width, 1024),
        "records": (settings.network_records, 10_000),
        "networks a side": (settings.n_networks, 100),
    }
    changed = [
        f"{name} {own} (the paper: {their})" for name, (own, their) in sizes.items() if own != their
    ]
    return (f"networks: {', '.join(changed)}",) if changed else ()


def _uniform(records: Records, settings: Any) -> lood.Contrast:
    """Uniform noise with random labels as differing records, each queried at itself."""
    rng = np.random.default_rng([settings.seed, 3])
    x = rng.uniform(size=(N_UNIFORM, records.inputs().shape[1]))
    y = records.targets[rng.integers(len(records), size=N_UNIFORM)]
    base = lood.posterior(kernel_of(settings), records.inputs(), records.targets, settings.noise)
    mean, variance = base.predict(x)
    share = variance / (variance + settings.noise)
    square = np.square(y - mean).sum(axis=1)
    excess, shift = variance / settings.noise, square * share / settings.noise
    return lood.Contrast(excess[:, None], shift[:, None], square * share**2 / 2, y.shape[1])


def _points(panel: str, series: str, record: Any, x: FloatArray, y: FloatArray) -> pd.DataFrame:
    columns = {"panel": panel, "series": series, "record": record, "x": x, "y": y}
    return pd.DataFrame({**columns, "low": y, "high": y})
