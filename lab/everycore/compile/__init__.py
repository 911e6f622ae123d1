# SPDX-License-Identifier: MIT
"""Compilers, and the programs that they make of the C tree."""
