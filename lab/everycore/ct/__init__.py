# SPDX-License-Identifier: MIT
"""Is a kernel constant-time? Three methods, each with a verdict of its own on each operation.

`taint` and `trace` decide, `timing` is reported. What each proves: docs/guides/constant-time.md.
"""
