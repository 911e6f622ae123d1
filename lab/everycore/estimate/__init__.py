# SPDX-License-Identifier: MIT
"""Estimate the cost of a kernel on a core that is not at hand: executed instructions, and models of
cores.

A figure from here is exact (a count of instructions) or an estimate (cycles); measurements come
from `everycore bench` alone.
"""
