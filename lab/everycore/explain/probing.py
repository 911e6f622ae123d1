# SPDX-License-Identifier: MIT
"""Times operations of installed libraries, and names the code that each of them takes."""

import json
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from everycore.environment.errors import EverycoreError
from everycore.explain import probe
from everycore.explain.explanation import shares
from everycore.explain.health import Installed
from everycore.explain.recognise import recognise
from everycore.explain.regions import collect
from everycore.explain.sampling import SamplingOptions, sample_command

MUCH = 2.0  # times slower than the best: too slow


@dataclass(frozen=True, slots=True)
class Probed:
    """One operation of one library."""

    path: str
    library: str
    operation: str
    rate: float  # bytes or operations per second
    code: str  # the implementation that ran, by its samples
    error: str = ""
    is_available: bool = True  # the library has the operation


def probe_library(library: Installed, env: Mapping[str, str]) -> list[Probed]:
    """Probe all operations of a library that there are probes for."""
    if (
        library.name not in probe.OPERATIONS
        or "libssl" in library.path
        or "hogweed" in library.path
    ):
        return []
    return [_probe(library, operation, env) for operation in probe.OPERATIONS[library.name]]


def _probe(library: Installed, operation: str, env: Mapping[str, str]) -> Probed:
    argv = [sys.executable, "-I", probe.__file__, library.name, library.path, operation]
    with tempfile.TemporaryFile() as output:
        try:
            sampled = sample_command(argv, SamplingOptions(hz=999), env, output.fileno())
        except EverycoreError as error:
            return Probed(library.path, library.name, operation, 0.0, "", error.message)
        output.seek(0)
        text = os.fsdecode(output.read()).strip().splitlines()
    try:
        told = json.loads(text[-1])
        if "error" in told:
            why, is_available = str(told["error"]), not told["absent"]
            return Probed(library.path, library.name, operation, 0.0, "", why, is_available)
        rate = float(told["rate"])
    except (IndexError, ValueError, KeyError, TypeError):
        why = "the probe ended without an answer"
        return Probed(library.path, library.name, operation, 0.0, "", why)
    named = [
        item for item in recognise(collect(sampled)) if _is_of(item.region.module.path, library)
    ]
    wanted = probe.PRIMITIVES.get(operation, ())
    found = {
        label: share
        for label, share in shares(named).items()
        if not wanted or label.split(":")[0] in wanted
    }
    ordered = sorted(found.items(), key=lambda pair: -pair[1])
    code = " + ".join(label for label, share in ordered[:2] if share >= 15)
    return Probed(library.path, library.name, operation, rate, code)


def _is_of(path: str, library: Installed) -> bool:
    """Whether code is the library's own, or of one that it calls; not Python's."""
    return path == library.path or ("python" not in Path(path).name and "libc.so" not in path)


def best_rates(probed: Sequence[Probed]) -> dict[str, Probed]:
    """Return the fastest library of each operation."""
    best: dict[str, Probed] = {}
    for result in probed:
        if not result.error and result.rate > (
            best[result.operation].rate if result.operation in best else 0
        ):
            best[result.operation] = result
    return best


def too_slow(probed: Sequence[Probed], own: Mapping[str, float]) -> list[tuple[Probed, float]]:
    """Return operations that take more than twice as long as the best, and how many times.

    The best is another library, or a kernel of this project: `own` has their rates.
    """
    best = best_rates(probed)
    found = []
    for result in probed:
        rate = (
            0.0
            if result.error
            else max(best[result.operation].rate, own.get(result.operation, 0.0))
        )
        if result.rate * MUCH < rate:
            found.append((result, rate / result.rate))
    return sorted(found, key=lambda pair: -pair[1])
