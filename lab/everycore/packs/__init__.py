# SPDX-License-Identifier: MIT
"""One model of all results, as tables: of result files, as Parquet, and as views for SQL."""
