# SPDX-License-Identifier: MIT
"""everycore: the lab that builds, checks and measures the kernels of the C library."""
