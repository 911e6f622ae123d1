# SPDX-License-Identifier: MIT
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from everycore.matrix.once import Once


def test_threads_that_want_a_value_wait_for_the_first_that_makes_it() -> None:
    once, begun, made = Once(), threading.Event(), []

    def make() -> int:
        made.append(1)
        begun.wait(0.05)
        return len(made)

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda _: once.value("a", make), range(4))) == [1] * 4
    assert once.value("b", make) == 2


def test_after_an_error_a_value_is_made_again() -> None:
    once = Once()

    def fail() -> int:
        raise OSError("no room")

    with pytest.raises(OSError, match="no room"):
        once.value("a", fail)
    assert once.value("a", lambda: 3) == 3
