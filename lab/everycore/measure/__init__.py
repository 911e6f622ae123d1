# SPDX-License-Identifier: MIT
"""Arithmetic of samples: permutation, processes of one operation, quiet cores, bounds."""
