# SPDX-License-Identifier: MIT
"""The page of `everycore report`: what result files say, as values, plots and one HTML file."""
