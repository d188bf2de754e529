"""What the paper says, and what this chapter found, each with the test that decides it."""

from membership.published import claims
from membership.studies.bmia import claim_tests

CLAIMS = claims.read("bmia", claim_tests)
