"""Whether a data set can carry the chapter, asked before anything is trained."""

from membership import data
from membership.studies.bayes_optimal import features, logistic


def check_data(settings) -> str:
    """Load the data set and see that it has the records that every exhibit needs.

    Parameters
    ----------
    settings : Settings
        Uses ``dataset``, ``data_root``, ``classes``, ``n_records`` and ``cnn_records``.

    Returns
    -------
    str
        One line that names the data set, its size and where it comes from.

    Raises
    ------
    InputError
        The data set cannot be loaded, holds no images for Table 2, or is too small.
    """
    dataset, both = features.pair(settings)
    logistic.require(both.y, settings.n_records)
    data.require(dataset, n_records=2 * settings.cnn_records)
    return f"{dataset.name}: {len(dataset):,} records. {dataset.source}"
