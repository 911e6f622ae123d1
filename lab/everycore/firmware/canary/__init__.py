# SPDX-License-Identifier: MIT
"""Stack canaries of a binary: where each function takes its guard from, and what is wrong with it.

elf and coff read a file into a Program. walk follows the registers of one function; x86, a64, arm
and rv64 are the instructions that it knows. paths looks for returns without a check, arrays for
functions that should have a canary and have none, residue for canaries left in registers.
"""
