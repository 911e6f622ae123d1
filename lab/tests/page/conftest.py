# SPDX-License-Identifier: MIT
"""Fixtures of the tests of the page."""

import pytest
from page import matrices

from everycore.page.facts import Facts, Source, collect


@pytest.fixture(scope="session")
def facts() -> Facts:
    """The matrix of matrices.py."""
    lines = tuple(matrices.lines())
    return collect([Source("example-matrix.jsonl", matrices.head(), lines)])
