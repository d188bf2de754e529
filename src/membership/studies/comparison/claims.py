"""What the chapter says of its bench, each with the test that decides."""

from membership.published import claims
from membership.studies.comparison import own_tests

CLAIMS = claims.read("comparison", own_tests)
