"""The released code's networks and training set."""

README_RECORDS = 10_000
"""Training records in the README's example."""
LAYERS, WIDTH, BATCH, EPOCHS, NETWORKS = 9, 1024, 64, 50, 200
"""Hidden layers, units, records of a batch, epochs; networks for one record, half without it."""
