# SPDX-License-Identifier: MIT
"""Values that the lab speaks of, and the only reader of the harness's lines."""
