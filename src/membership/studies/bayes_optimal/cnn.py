"""Table 2: a small convolutional network and its reference models, with their controls."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from membership import attacks, data, metrics, models, published, signals, training

PAPER_RECORDS = 15_000
PAPER_REFERENCES = 30
PAPER_EPOCHS = 50
BATCH_SIZE = 64
FALSE_POSITIVE_RATES = (0.01, 0.001)


@dataclass(frozen=True)
class Target:
    """One target model and what its adversary has.

    Attributes
    ----------
    loss, correct, member : numpy.ndarray, shape (records,)
        Of the target: cross-entropy, whether it is right, and the truth to be inferred.
    reference_loss, reference_member : numpy.ndarray, shape (models, records)
        Of the reference models.
    """

    loss: np.ndarray
    correct: np.ndarray
    member: np.ndarray
    reference_loss: np.ndarray
    reference_member: np.ndarray

    def mast(self, tau: str, temperature: float = 1.0) -> np.ndarray:
        """MAST with all reference models, shape (records,)."""
        return attacks.mast(
            self.loss,
            self.reference_loss,
            tau=tau,
            reference_member=self.reference_member,
            temperature=temperature,
        )


@dataclass(frozen=True)
class ReferenceGame:
    """The signals of networks trained on random halves of the same records.

    Attributes
    ----------
    loss, correct : numpy.ndarray, shape (models, records)
        Cross-entropy in nats, and 1.0 where the decision is right.
    member : numpy.ndarray of bool, shape (models, records)
        Which records each network was trained on: exactly half.
    attrs : dict
        Origin of the numbers, as a table carries it.
    """

    loss: np.ndarray
    correct: np.ndarray
    member: np.ndarray
    attrs: dict

    def targets(self):
        """Each network in turn as the target model, all others as its reference models.

        Only records that some reference model saw and another did not are queried: which they are
        says nothing about the target, whose half was drawn independently.

        Yields
        ------
        Target
            One game; the target is never among its own reference models.
        """
        for row in range(len(self.loss)):
            others = np.delete(np.arange(len(self.loss)), row)
            seen = self.member[others]
            queried = seen.any(0) & ~seen.all(0)
            yield Target(
                self.loss[row, queried],
                self.correct[row, queried],
                self.member[row, queried],
                self.loss[np.ix_(others, queried)],
                seen[:, queried],
            )


def play(settings) -> ReferenceGame:
    """Train the networks of Section 6.3 on random halves, and query every record.

    Parameters
    ----------
    settings : Settings
        Uses ``dataset``, ``data_root``, ``cnn_records``, ``cnn_epochs``, ``n_reference``, ``seed``
        and ``device``.

    Returns
    -------
    ReferenceGame
        Of ``n_reference + 1`` networks.

    Raises
    ------
    InputError
        There are fewer records than needed.
    """
    whole = data.load(settings.dataset, root=settings.data_root or None)
    dataset = _subset(whole, 2 * settings.cnn_records, settings.seed)
    n_models = settings.n_reference + 1
    member = data.random_halves(n_models, len(dataset.y), settings.seed)
    config = training.TrainingConfig(
        epochs=settings.cnn_epochs,
        batch_size=BATCH_SIZE,
        learning_rate=0.001,
        optimiser="adam",
    )
    factory = partial(models.small_cnn, dataset.x.shape[1:], dataset.n_classes)
    seeds = [settings.seed * 10_000 + model for model in range(n_models)]
    ensemble = training.train(
        factory, dataset, member, config, seeds, device=settings.device, n_jobs=settings.n_jobs
    )
    logits = ensemble.logits(dataset.x)
    attrs = _origin(settings, whole, str(ensemble.device))
    return ReferenceGame(
        signals.loss(logits, None, dataset.y),
        signals.correct(logits, None, dataset.y),
        member,
        attrs,
    )


def table_2(game: ReferenceGame) -> pd.DataFrame:
    """Accuracy of 0-1, MALT and MAST, each network in turn as the target.

    MALT's threshold is the one that separates members from non-members best over the reference
    models; MAST's is each record's own, from the same models (Section 6.3).

    Parameters
    ----------
    game : ReferenceGame
        What :func:`play` returned.

    Returns
    -------
    pandas.DataFrame
        Columns attack, metric, value, low, high, n_repeats: means over the targets with 95% t
        intervals. The targets share records, so the intervals lean to the narrow side.
    """
    rows = []
    for target in game.targets():
        member = target.member
        threshold = metrics.best_threshold(
            attacks.malt(target.reference_loss.ravel()), target.reference_member.ravel()
        )
        scores = {
            "0-1": (attacks.zero_one(target.correct), 0.5),
            "MALT": (attacks.malt(target.loss), threshold),
            "MAST": (target.mast("best-separating"), 0.0),
        }
        inside, outside = target.correct[member], target.correct[~member]
        rows += [
            {"attack": "(model)", "metric": name, "value": 100 * float(part.mean())}
            for name, part in (("train_accuracy(%)", inside), ("test_accuracy(%)", outside))
        ]
        for attack, (score, cut) in scores.items():
            accuracy = metrics.balanced_accuracy(score, member, threshold=cut)
            rows.append({"attack": attack, "metric": "attack_accuracy(%)", "value": 100 * accuracy})
            rows += _curve_numbers(attack, score, member)
    return _over_targets(rows, ["attack", "metric"], game)


def judged(table: pd.DataFrame) -> pd.DataFrame:
    """Table 2 beside the published numbers, each with its verdict.

    Parameters
    ----------
    table : pandas.DataFrame
        What :func:`table_2` returned.

    Returns
    -------
    pandas.DataFrame
        What :func:`membership.published.compare` returns, matched by attack and metric. The
        paper's number for shadow models is quoted there from another paper and has no match.
    """
    reference = published.table("bayes_optimal_table2")
    reference["attack"] = reference["attack"].replace({"0-1 (Yeom et al., 2018)": "0-1"})
    return published.compare(table, reference, on=["attack", "metric"])


def control_4(game: ReferenceGame, gaussian: pd.DataFrame) -> pd.DataFrame:
    """MAST by how it aggregates the reference losses: log-mean-exp, mean, best separation.

    The first two use only reference models that did not see the record, the last those that did
    as well: it knows more.

    Parameters
    ----------
    game : ReferenceGame
        What :func:`play` returned.
    gaussian : pandas.DataFrame
        The same question in the Gaussian game, from ``gaussian.gaussian_references``.

    Returns
    -------
    pandas.DataFrame
        Columns as :func:`table_2`, and game: "networks" or "Gaussian game".
    """
    names = {
        "log-mean-exp": "MAST, log-mean-exp (OUT)",
        "mean": "MAST, mean (OUT)",
        "best-separating": "MAST, best separating (IN and OUT)",
    }
    rows = []
    for target in game.targets():
        rows += _curve_numbers("MALT", attacks.malt(target.loss), target.member)
        for tau, name in names.items():
            rows += _curve_numbers(name, target.mast(tau), target.member)
    networks = _over_targets(rows, ["attack", "metric"], game)
    renamed = gaussian.assign(attack="MAST, " + gaussian["tau"])[networks.columns]
    parts = [networks.assign(game="networks"), renamed.assign(game="Gaussian game")]
    table = pd.concat(parts, ignore_index=True)[["game", *networks.columns]]
    table.attrs = game.attrs
    return table


def control_6(game: ReferenceGame, exact: pd.DataFrame) -> pd.DataFrame:
    """Temperature in the one-dimensional game, and of MAST's threshold on the networks.

    The log-mean-exp of the reference losses is their minimum at temperature 0 and their mean at
    infinity.

    Parameters
    ----------
    game : ReferenceGame
        What :func:`play` returned.
    exact : pandas.DataFrame
        What ``posterior.temperature`` returned.

    Returns
    -------
    pandas.DataFrame
        Columns metric, series, temperature, value, low, high, n_repeats.
    """
    chosen = exact[(exact["metric"] == "P(member)") & (exact["law"] == "held fixed")]
    curves = chosen.assign(series="record at z = " + chosen["z"].astype(str), n_repeats=0)
    curves = curves.assign(low=curves["value"], high=curves["value"])
    sweep = _temperature_sweep(game).assign(series="MAST on the networks")
    columns = ["metric", "series", "temperature", "value", "low", "high", "n_repeats"]
    table = pd.concat([curves[columns], sweep[columns]], ignore_index=True)
    table.attrs = game.attrs
    return table


def _temperature_sweep(game: ReferenceGame) -> pd.DataFrame:
    """MAST on the networks as its temperature goes from 0.01 to 100."""
    rows = []
    for target in game.targets():
        for temperature in np.logspace(-2, 2, 9):
            score = target.mast("log-mean-exp", float(temperature))
            value = 100 * metrics.auc(score, target.member)
            rows.append({"temperature": float(temperature), "metric": "auc(%)", "value": value})
    return _over_targets(rows, ["temperature", "metric"], game)


def _curve_numbers(attack: str, score: np.ndarray, member: np.ndarray) -> list[dict]:
    rows = [{"attack": attack, "metric": "auc(%)", "value": 100 * metrics.auc(score, member)}]
    for rate in FALSE_POSITIVE_RATES:
        value = 100 * metrics.tpr_at_fpr(score, member, rate)
        rows.append({"attack": attack, "metric": f"TPR@{100 * rate:g}%FPR(%)", "value": value})
    return rows


def _over_targets(rows: list[dict], keys: list[str], game: ReferenceGame) -> pd.DataFrame:
    table = pd.DataFrame(rows)
    summary = []
    for key, values in table.groupby(keys, sort=False)["value"]:
        low, high = metrics.mean_interval(values.to_numpy())
        numbers = {"value": values.mean(), "low": low, "high": high, "n_repeats": len(values)}
        summary.append(dict(zip(keys, key, strict=True)) | numbers)
    result = pd.DataFrame(summary)
    result.attrs = game.attrs
    return result


def _subset(dataset: data.Dataset, n_records: int, seed: int) -> data.Dataset:
    """A random part of a data set."""
    data.require(dataset, n_records=n_records)
    rows = np.random.default_rng([seed, n_records]).permutation(len(dataset.y))[:n_records]
    return dataset.select(np.sort(rows))


def _origin(settings, dataset: data.Dataset, device: str) -> dict:
    """Where the numbers come from and how the set-up differs from the paper's."""
    deviations = [f"Adam, batches of {BATCH_SIZE} (the paper names neither)"]
    if settings.n_reference < PAPER_REFERENCES:
        deviations.append(
            f"{settings.n_reference} reference models (the paper: {PAPER_REFERENCES})"
        )
    if settings.cnn_epochs != PAPER_EPOCHS:
        deviations.append(f"{settings.cnn_epochs} epochs (the paper: {PAPER_EPOCHS})")
    comparable = dataset.name == "cifar10" and settings.cnn_records == PAPER_RECORDS
    comparable = comparable and settings.cnn_epochs == PAPER_EPOCHS
    if dataset.name != "cifar10":
        deviations.append(f"{dataset.name} instead of CIFAR-10")
    if settings.cnn_records != PAPER_RECORDS:
        deviations.append(f"{settings.cnn_records} members a network (the paper: {PAPER_RECORDS})")
    return {
        "data": {dataset.name: dataset.digest},
        "deviations": deviations,
        "comparable": comparable,
        "device": device,
    }
