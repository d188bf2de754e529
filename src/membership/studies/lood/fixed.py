"""Names and sizes that gathering and the tables share."""

import numpy as np

MAIN = "main"
"""The kernel of the closed-form runs, among the cases of the evidence."""
MEASURES = ("kl", "kl_reverse", "mean_distance")
SHOWN = 10
OFFSETS = np.arange(-50, 51)
MOST_RECORDS, CONTROL_RECORDS, SLIP_RECORDS = 500, 200, 100
CONTROL_DEPTHS = (1, 2, 5, 10)
# The variance at one fixed point of the GeLU kernel on the edge of chaos. It is unstable:
# 1 + sigma_w^2 E[phi phi''] = 1.10; from about 4 on they are stable (0.996).
EDGE_Q = 0.5
RELU = "ReLU"
SETTING = "repository: both sqrt(2)"
MATCHED = "both sqrt(2), same mean variance"
NETWORK = "GeLU 1.9822, as its networks"
NETWORK_MATCHED = "GeLU 1.9822, same mean variance"
EDGE = "both on the edge of chaos, same mean variance"
FACTORS = (-1.0, 0.1, 0.5, 2.0, 10.0)
STAGES = (0, 10, 30, 100, 300)
