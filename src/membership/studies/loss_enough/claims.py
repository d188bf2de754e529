"""What the papers say of each other, and what the games show, each with the test that decides."""

from membership.published import claims
from membership.studies.loss_enough import claim_tests, promise_tests

CLAIMS = claims.read("loss_enough", claim_tests, promise_tests)
