# SPDX-License-Identifier: MIT
"""Threads that work side by side, and that an interrupted run does not wait for."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor


@contextmanager
def worker_pool(most: int | None = None) -> Iterator["ThreadPoolExecutor"]:
    """Yields a pool of `most` threads, by default one for each core.

    At the end of the block all jobs are done. After an error no more are begun; after an
    interruption, those that are under way are not waited for either.
    """
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(max_workers=most or os.cpu_count() or 1)
    try:
        yield pool
    except Exception:
        pool.shutdown(cancel_futures=True)
        raise
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()
