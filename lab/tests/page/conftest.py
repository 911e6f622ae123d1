# SPDX-License-Identifier: MIT
"""What tests of the page ask for by name."""

import pytest
from page import matrices

from everycore.page.facts import Facts, Source, collect


@pytest.fixture(scope="session")
def facts() -> Facts:
    """The matrix of matrices.py."""
    lines = tuple(matrices.lines())
    return collect([Source("example-matrix.jsonl", matrices.head(), lines)])
