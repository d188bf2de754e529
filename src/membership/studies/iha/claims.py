"""What the paper says, and what this chapter found, each with the test that decides it."""

from membership.published import claims
from membership.studies.iha import claim_tests, own_tests

CLAIMS = claims.read("iha", claim_tests, own_tests)
