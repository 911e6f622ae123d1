# SPDX-License-Identifier: MIT
"""Files of results, packs made of them, and the views in which SQL reads both."""
