# SPDX-License-Identifier: MIT
"""Measures the kernels of this project and the CPU's limit, for `everycore doctor`."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from everycore.compile import catalog
from everycore.compile.binaries import build_harness
from everycore.compile.toolchains import DEFAULT_FLAGS
from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError
from everycore.measure.bounds import bounds
from everycore.run.session import open_session

NAME = "everycore"
LIMIT = "this CPU's limit"
_MODES = {"aes-256-gcm": "gcm-seal", "aes-256-cbc": "cbc-enc", "aes-256-xts": "xts-enc"}
_KEY_BITS = 256


@dataclass(frozen=True, slots=True)
class OwnSpeeds:
    """Speeds by operation, as the probes of other libraries have them."""

    gigahertz: float = 0.0  # of the core; 0: not measured
    rates: Mapping[str, float] = field(default_factory=dict)  # bytes or operations per second
    limits: Mapping[str, float] = field(default_factory=dict)  # cycles per byte
    error: str = ""  # nothing was measured for this reason

    def limit_rate(self, operation: str) -> float:
        """Return bytes per second at the CPU's limit; 0 where it is not known."""
        limit = self.limits.get(operation, 0.0)
        return self.gigahertz * 1e9 / limit if limit else 0.0

    def cycles_per_byte(self, rate: float) -> float:
        return self.gigahertz * 1e9 / rate if rate else 0.0


def measure_own(context: Context) -> OwnSpeeds:
    """Build what is not built yet, and measure for five seconds."""
    try:
        session = open_session(context, ciphers_alone=True)
        program = context.package / "run" / "own_speeds.c"
        chain = Path("harness/counters/chain.c")
        kernels = [path for path in catalog.sources(session.tree) if path.parts[0] == "src"]
        build = build_harness(
            context,
            session.tree,
            session.target,
            session.build.compiler,
            DEFAULT_FLAGS,
            [*kernels, chain, program],
        )
        done = context.runner.run([str(build.binary)])
        if done.code:
            raise EverycoreError(done.stderr.strip() or f"it ended with exit code {done.code}")
        lines = list(session.records("limits"))
    except EverycoreError as error:
        return OwnSpeeds(error=error.message)
    known = [bound for bound in bounds(lines) if bound.key_bits == _KEY_BITS]
    return read_speeds(done.stdout, {bound.mode: bound.cycles_per_byte for bound in known})


def read_speeds(text: str, limits: Mapping[str, float]) -> OwnSpeeds:
    """Return what own_speeds.c printed, with the limits of modes."""
    gigahertz, rates = 0.0, {}
    for line in text.splitlines():
        row = json.loads(line)
        if "gigahertz" in row:
            gigahertz = row["gigahertz"]
        else:
            rates[row["operation"]] = row["rate"]
    known = {name: limits[mode] for name, mode in _MODES.items() if mode in limits}
    return OwnSpeeds(gigahertz, rates, known)
