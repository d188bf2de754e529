"""What the paper says, and what this chapter found, each with the test that decides it."""

from membership.published import claims
from membership.studies.gmip import attack_tests, claim_tests, own_tests

CLAIMS = claims.read("gmip", attack_tests, claim_tests, own_tests)
