"""What the paper says, and what this chapter found, each with the test that decides it."""

from membership.published import claims
from membership.studies.bayes_optimal import claim_tests

CLAIMS = claims.read("bayes_optimal", claim_tests)
