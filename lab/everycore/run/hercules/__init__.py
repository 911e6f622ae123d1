# SPDX-License-Identifier: MIT
"""Programs for Linux on IBM Z, on Hercules: what a machine with CPACF computes, not how fast it is.

Hercules is the one emulator that runs the instructions for AES and GHASH of IBM Z. It emulates a
whole machine, so `supervisor.c` and `entry.S` are the part of Linux that a program of one thread
needs, and `z14.c` is a model of an instruction that Hercules lacks. `guest_image` lays program and
supervisor out in memory, `z_machine` is the command.
"""
