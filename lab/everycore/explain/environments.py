# SPDX-License-Identifier: MIT
"""Environments of running processes: those of their variables that decide which code runs.

A process has the environment that its program was executed with, which is not that of this
program: `env`, `sh`, `sudo` or a unit of systemd may have changed it on the way. Source: proc(5).
"""

import os
import time
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from everycore.explain import libraries
from everycore.explain.samples import Environment, Look, Sample, Sampled

_OTHERS = ("GODEBUG", "OPENSSL_CONF", "LD_PRELOAD", "LD_LIBRARY_PATH", "QEMU_CPU")
_MOST_PROCESSES = 64  # that are looked at after each reading of the samples
OVERWRITTEN = "the process wrote its title over it"
ENDED = "the process ended too soon"


@lru_cache(maxsize=1)
def wanted() -> frozenset[str]:
    """Return the names that decide which code runs; the others are nobody's business."""
    return frozenset((*_OTHERS, *(name for library in libraries.known() for name in library.masks)))


def chosen(pairs: Iterable[tuple[str, str]]) -> Environment:
    """Keep the variables that decide which code runs. Of two with one name, C takes the first."""
    found: dict[str, str] = {}
    for name, value in pairs:
        if name in wanted():
            found.setdefault(name, value)
    return tuple(sorted(found.items()))


def read_environment(folder: Path) -> tuple[Environment | None, str]:
    """Read the environment of a process by its folder in /proc; None, and why, if it cannot be."""
    try:
        raw = (folder / "environ").read_bytes()
        if not raw and (folder / "stat").read_text(errors="replace").rpartition(")")[2][1] in "ZX":
            return None, ENDED
    except (FileNotFoundError, ProcessLookupError, IndexError):
        return None, ENDED
    except OSError as error:
        return None, error.strerror or str(error)
    words = os.fsdecode(raw).removesuffix("\0").split("\0") if raw else []
    # Programs that show a title in `ps` write it over their arguments and what lies behind these.
    if any("=" not in word for word in words):
        return None, OVERWRITTEN
    pairs = (word.partition("=") for word in words)
    return chosen((name, value) for name, _, value in pairs), ""


class Watch:
    """Looks at the environments of sampled processes while they run."""

    def __init__(self, sampled: Sampled) -> None:
        self._sampled = sampled

    def look(self, samples: Iterable[Sample]) -> None:
        """Read the environment of each process that the newest samples are of.

        It is read again each time: news that a process executes another program come late.
        """
        pids = dict.fromkeys(sample.pid for sample in samples if sample.is_user)
        for pid in list(pids)[:_MOST_PROCESSES]:
            self.look_at(pid)

    def look_at(self, pid: int) -> None:
        began = time.monotonic_ns()
        found, why = read_environment(Path(f"/proc/{pid}"))
        if found is None:
            self._sampled.unread[pid] = why
            return
        self._sampled.looks.setdefault(pid, []).append(Look(began, time.monotonic_ns(), found))


def name_of(pid: int) -> str:
    """Return the name of a process; "" if it has ended."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text(errors="replace").strip()
    return ""
