# SPDX-License-Identifier: MIT
"""Tables and pages from values. Pure: nothing here reads, runs or writes."""
