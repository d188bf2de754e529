"""What the paper says, each sentence with the test that decides it."""

from membership.book.published import claims

CLAIMS = claims.read("my_paper")
