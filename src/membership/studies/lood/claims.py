"""What the paper says, and what this chapter found, each with the test that decides it."""

from membership.published import claims
from membership.studies.lood import claim_tests, own_tests

CLAIMS = claims.read("lood", claim_tests, own_tests)
