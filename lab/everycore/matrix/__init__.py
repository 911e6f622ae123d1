# SPDX-License-Identifier: MIT
"""Subjects x toolchains x flags x targets: cells that are compiled, checked, counted and timed."""
