"""The data room: every data set of the book, by one name and in one form.

Data sets
    `load`, `fetch`, `check`, `names`, `Dataset`, `UnverifiedDataWarning`,
    and for arrays of one's own `from_arrays`, `save`
Before any work
    `outline`, `Outline`, `layout`, `Layout`, `cautions`, `require_known`, `require_scaled`
A whole data set changed
    `keep_classes`, `label_parity`, `deduplicate`, `standardised`, `one_hot`, `require`, and
    `Dataset.select`
Simulators
    `simulate_purchase`, `gaussian_game`, `GaussianGame`
Who is a member
    `random_halves`, `balanced_membership`, `random_membership`, `disjoint_halves`, `leave_one_out`
Digests
    `record_digest`

The registry of public sets, with upstream addresses, licences and digests, is
``data/registry.toml``; its README says what each set holds and how to bring your own.
"""

from membership.data.dataset import (
    Dataset,
    deduplicate,
    keep_classes,
    label_parity,
    one_hot,
    record_digest,
    require,
    standardised,
)
from membership.data.loading import Report, UnverifiedDataWarning, check, fetch, load
from membership.data.membership import (
    balanced_membership,
    disjoint_halves,
    leave_one_out,
    random_halves,
    random_membership,
)
from membership.data.own import from_arrays, save
from membership.data.public import names
from membership.data.requirements import (
    Layout,
    Outline,
    cautions,
    layout,
    outline,
    require_known,
    require_scaled,
)
from membership.data.simulate import GaussianGame, gaussian_game, simulate_purchase

__all__ = [
    "Dataset",
    "GaussianGame",
    "Layout",
    "Outline",
    "Report",
    "UnverifiedDataWarning",
    "balanced_membership",
    "cautions",
    "check",
    "deduplicate",
    "disjoint_halves",
    "fetch",
    "from_arrays",
    "gaussian_game",
    "keep_classes",
    "label_parity",
    "layout",
    "leave_one_out",
    "load",
    "names",
    "one_hot",
    "outline",
    "random_halves",
    "random_membership",
    "record_digest",
    "require",
    "require_known",
    "require_scaled",
    "save",
    "simulate_purchase",
    "standardised",
]
