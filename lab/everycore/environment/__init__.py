# SPDX-License-Identifier: MIT
"""The world outside the lab: files, processes, streams, and errors as its users read them."""
