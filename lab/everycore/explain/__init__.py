# SPDX-License-Identifier: MIT
"""Tells why cryptography is slow: samples a program, names the code that ran, explains it."""
