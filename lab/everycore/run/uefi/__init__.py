# SPDX-License-Identifier: MIT
"""The harness as an EFI application: built, started in firmware, and its results read."""
