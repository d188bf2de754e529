"""What the chapter's evidence files are called, for those who gather and those who read."""

NETWORKS = "networks"
LADDER = "ladder"


def logistic(n: int) -> str:
    """The file of one size of Table 1."""
    return f"logistic-{n}"
