# SPDX-License-Identifier: MIT
"""Fixtures of the tests of the page."""

import pytest
from report.page import matrices

from everycore.report.page.facts import Facts, Source, collect


@pytest.fixture(scope="session")
def facts() -> Facts:
    """The matrix of matrices.py."""
    lines = tuple(matrices.lines())
    return collect([Source("example-matrix.jsonl", matrices.head(), lines)])
