"""The accountant: how well any attacker can tell members from others after (noisy) SGD.

Leemann, Pawelczyk and Kasneci, *Gaussian Membership Inference Privacy* (2023), and its
counterpart for differential privacy (Dong, Roth and Su 2022).

Trade-off functions
    `gaussian_tradeoff`, `gaussian_tpr`, `gaussian_auc`, `gaussian_epsilon`, `gaussian_delta`,
    `mip_tradeoff`, `mip_tpr`, `effective_batch_size`
Levels mu
    `mip_mu_step`, `mip_mu_spectrum`, `gdp_mu_step`, `composed_mu`, `subsampled_mu`,
    `required_noise`; from one notion to the other: `mip_mu_of_gdp`, `gdp_mu_of_mip`
Records that differ
    `susceptibility`, `Susceptibility`,
    `gaussian_mixture_tradeoff`, `constant_rate_tradeoff`, `composed_mixture_tradeoff`
Composition without a limit theorem
    `numerical_tradeoff`, `Enclosure`, `MOST_NUMERICAL_MU`
A whole training run
    `assess`, `Assessment`, `Level`, `noise_multiplier`, `required_sigma`; by dp_accounting:
    `established`, `Established`
What an attack proves
    `epsilon_lower_bound`, `mu_lower_bound`; where a coin of its own decided on each record:
    `one_run_epsilon`, `one_run_mu`
The distribution behind it all
    `chi2`
"""

from membership.privacy import chi2
from membership.privacy.assessment import Assessment, assess, noise_multiplier
from membership.privacy.composed import RATES
from membership.privacy.dp_accounting import Established, established
from membership.privacy.levels import (
    composed_mu,
    gdp_mu_of_mip,
    gdp_mu_step,
    mip_mu_of_gdp,
    mip_mu_spectrum,
    mip_mu_step,
    required_noise,
    subsampled_mu,
)
from membership.privacy.lower_bounds import epsilon_lower_bound, mu_lower_bound
from membership.privacy.mixtures import (
    composed_mixture_tradeoff,
    constant_rate_tradeoff,
    gaussian_mixture_tradeoff,
)
from membership.privacy.numerical import MOST_NUMERICAL_MU, Enclosure, numerical_tradeoff
from membership.privacy.one_run import one_run_epsilon, one_run_mu
from membership.privacy.promises import Level
from membership.privacy.required import PROTECTIONS, required_sigma
from membership.privacy.runs import ADJACENCIES, PHASE, SAMPLINGS
from membership.privacy.susceptible import Susceptibility, susceptibility
from membership.privacy.tradeoff import (
    effective_batch_size,
    gaussian_auc,
    gaussian_delta,
    gaussian_epsilon,
    gaussian_tpr,
    gaussian_tradeoff,
    mip_tpr,
    mip_tradeoff,
)

__all__ = [
    "ADJACENCIES",
    "MOST_NUMERICAL_MU",
    "PHASE",
    "PROTECTIONS",
    "RATES",
    "SAMPLINGS",
    "Assessment",
    "Enclosure",
    "Established",
    "Level",
    "Susceptibility",
    "assess",
    "chi2",
    "composed_mixture_tradeoff",
    "composed_mu",
    "constant_rate_tradeoff",
    "effective_batch_size",
    "epsilon_lower_bound",
    "established",
    "gaussian_auc",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_mixture_tradeoff",
    "gaussian_tpr",
    "gaussian_tradeoff",
    "gdp_mu_of_mip",
    "gdp_mu_step",
    "mip_mu_of_gdp",
    "mip_mu_spectrum",
    "mip_mu_step",
    "mip_tpr",
    "mip_tradeoff",
    "mu_lower_bound",
    "noise_multiplier",
    "numerical_tradeoff",
    "one_run_epsilon",
    "one_run_mu",
    "required_noise",
    "required_sigma",
    "subsampled_mu",
    "susceptibility",
]
