# SPDX-License-Identifier: MIT
"""Stored results of a CPU, its limit and the kernels of this project, beside what a program takes.

`everycore bench` and `everycore limits` measure the CPU's limit and the kernels of this project;
their results are looked up by the CPU's vendor, family and model.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from everycore.environment.errors import EverycoreError
from everycore.explain.recognise import Named
from everycore.measure.bounds import bounds
from everycore.model import stats
from everycore.store import run_files
from everycore.store.run_files import Results

TITLES = {
    "gcm-seal": "AES-GCM",
    "cbc-enc": "AES-CBC, encrypting",
    "cbc-dec": "AES-CBC, decrypting",
    "xts-enc": "AES-XTS",
    "ctr": "AES-CTR",
    "ccm-seal": "AES-CCM",
    "cmac": "AES-CMAC",
}
KEY_BITS = 256
CONSTANT = "CT"  # the class of kernels that are compared, as src/kernels.def calls it
_LEAST_SHARE = 5.0  # per cent of the samples of user code: less is no reason to compare
_LONG_BYTES = 4096
_BY_NAME = (
    (re.compile(r"cbc.*dec|dec.*cbc", re.I), "cbc-dec"),
    (re.compile(r"cbc", re.I), "cbc-enc"),
    (re.compile(r"xts", re.I), "xts-enc"),
    (re.compile(r"ccm", re.I), "ccm-seal"),
    (re.compile(r"cmac", re.I), "cmac"),
    (re.compile(r"ctr", re.I), "ctr"),
)


@dataclass(frozen=True, slots=True)
class Cost:
    """Cycles per byte of a mode on one CPU, as they were measured."""

    mode: str
    limit: float | None  # of the CPU
    everycore: float | None  # of the fastest constant-time kernel
    gigahertz: float  # of the core while that was measured
    source: str  # "stored results of 2026-11-21"


@dataclass(frozen=True, slots=True)
class Potential:
    """The cost of a mode, and what the program took for it."""

    mode: str
    share: float  # per cent of the samples of user code
    limit: float | None
    everycore: float | None
    taken: float | None  # cycles per byte; None: the bytes are not known
    source: str

    @property
    def title(self) -> str:
        return TITLES[self.mode]


def modes_of(named: Sequence[Named]) -> dict[str, float]:
    """Return the modes of AES in a profile, with their shares of the samples of user code.

    AES beside GHASH is GCM. Other modes are known by the names of functions, where these tell them.
    """
    total = sum(named_region.region.samples for named_region in named)
    counted: dict[str, int] = {}
    has_ghash = any(
        found.primitive == "GHASH" for named_region in named for found in named_region.found
    )
    for named_region in named:
        primitives = {found.primitive for found in named_region.found}
        if not primitives & {"AES", "GHASH"}:
            continue
        names = " ".join(name for name in named_region.evidence.names if name)
        mode = next((mode for pattern, mode in _BY_NAME if pattern.search(names)), "")
        if "GHASH" in primitives or (has_ghash and mode in ("", "ctr")):
            mode = "gcm-seal"
        if mode:
            counted[mode] = counted.get(mode, 0) + named_region.region.samples
    shares = {mode: 100.0 * count / total for mode, count in counted.items()}
    return {mode: share for mode, share in shares.items() if share >= _LEAST_SHARE}


def potentials(
    named: Sequence[Named],
    costs: Mapping[str, Cost],
    user_seconds: float,
    n_bytes: int,
) -> list[Potential]:
    """Return each mode of a profile beside what its CPU could do.

    `n_bytes`: bytes that the program worked on, `user_seconds`: its CPU time; 0: not known.
    """
    found = []
    for mode, share in modes_of(named).items():
        cost = costs.get(mode)
        if cost is None:
            continue
        taken = None
        if n_bytes and user_seconds and cost.gigahertz:
            taken = share / 100.0 * user_seconds * cost.gigahertz * 1e9 / n_bytes
        found.append(Potential(mode, share, cost.limit, cost.everycore, taken, cost.source))
    return sorted(found, key=lambda potential: -potential.share)


def costs_of(
    folders: Iterable[Path], core: Sequence[str], timing: Mapping[str, str]
) -> dict[str, Cost]:
    """Return the newest costs of each mode on a CPU: vendor, family and model.

    `timing`: the class of each kernel; those whose time varies with secrets are left out.
    """
    if not all(core):
        return {}
    paths = [
        p for folder in folders for pattern in run_files.PATTERNS for p in folder.rglob(pattern)
    ]
    runs = [results for path in paths if (results := _run_of(path, core))]
    runs.sort(key=lambda run: run.run.date)
    found: dict[str, Cost] = {}
    for results in runs:
        for mode, cost in _costs(results, timing).items():
            held = found.get(mode)
            found[mode] = _joined(held, cost) if held else cost
    return found


def _joined(old: Cost, new: Cost) -> Cost:
    """Keep what the newer results do not have."""
    return Cost(
        new.mode,
        old.limit if new.limit is None else new.limit,
        old.everycore if new.everycore is None else new.everycore,
        new.gigahertz or old.gigahertz,
        new.source if new.everycore is not None else old.source,
    )


def _run_of(path: Path, core: Sequence[str]) -> Results | None:
    """Read a file if its first line says that this CPU was measured."""
    try:
        head = run_files.head(path)
        machine = head["machine"]
        own = tuple(str(machine.get(name, "")) for name in ("vendor", "family", "model"))
        if own != tuple(core) or head["command"] not in ("bench", "limits"):
            return None
        return run_files.read(path)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, EverycoreError):
        return None  # a run may be under way, or a file may be no result


def _costs(results: Results, timing: Mapping[str, str]) -> dict[str, Cost]:
    limits = {
        bound.mode: bound.cycles_per_byte
        for bound in bounds(results.records)
        if bound.key_bits in (0, KEY_BITS)
    }
    own: dict[str, float] = {}
    speeds: list[float] = []
    for bench in results.figures():
        if bench.mode not in TITLES or bench.key_bits != KEY_BITS or bench.style != "streamed":
            continue
        if bench.bytes < _LONG_BYTES or not bench.cycles or not bench.ns or bench.conditions:
            continue
        cycles, ns = stats.median(bench.cycles), stats.median(bench.ns)
        if any(timing.get(name) != CONSTANT for name in bench.kernel.split("+")):
            continue
        speeds.append(cycles / ns)
        own[bench.mode] = min(own.get(bench.mode, cycles / bench.bytes), cycles / bench.bytes)
    gigahertz = stats.median(speeds) if speeds else 0.0
    source = f"stored results of {results.run.date[:10]}"
    return {
        mode: Cost(mode, limits.get(mode), own.get(mode), gigahertz, source)
        for mode in TITLES
        if mode in limits or mode in own
    }
