# SPDX-License-Identifier: MIT
"""A built harness where it runs: machines, transports, sessions, and the benches made with them."""
