"""What the fast paths are worth, each against what a reader would write first."""
