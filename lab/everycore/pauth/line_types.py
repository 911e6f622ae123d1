# SPDX-License-Identifier: MIT
"""Types of the lines that `everycore pauth` stores, and the least time that figures are made of."""

PROGRAM = "pauth-program"
ROW = "pauth"  # of a program
COMPARED = "pauth-compared"
FIGURE = "pauth-primitive"
LEAST_SECONDS = 0.1  # ten ticks of a slow clock of user time: below, nothing is derived
