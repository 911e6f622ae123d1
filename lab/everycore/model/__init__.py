# SPDX-License-Identifier: MIT
"""Values that the lab speaks of, and the only readers of TOML tables and of lines of JSON."""
