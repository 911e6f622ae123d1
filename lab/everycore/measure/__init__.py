# SPDX-License-Identifier: MIT
"""Arithmetic of samples: statistics, processes of one operation, quiet cores, bounds."""
