# SPDX-License-Identifier: MIT
"""Measure every kernel that selection may take, and judge the choice of each operation."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from statistics import median

from everycore.environment.context import Context
from everycore.environment.decoding import Record
from everycore.environment.errors import EverycoreError
from everycore.model import tuning
from everycore.model.protocol import AAD_BYTES, Bench, Mode, Resolved
from everycore.model.tuning import Choice, Operation, Rule, Times
from everycore.run import bench_run
from everycore.run.bench_calls import LAYERS, MODES, MODES_OF, TOO_SLOW
from everycore.run.bench_run import BenchRequest, HarnessInventory
from everycore.run.session import Session

SIZES_BYTES = (16, 64, 256, 1500, 16384)
LAYER_MODES = (*LAYERS["rsa"][0], *LAYERS["dh"][0])
LAYER_BYTES = (128, 256, 384, 512)
SMALL = 0.01  # a difference of sums of losses
ALONE = ("ghash", "qarma")  # primitives beside AES and GCM that have modes of their own


def requests(here: HarnessInventory) -> list[BenchRequest]:
    """Return what is measured: constant-time kernels that run, in every mode that they have."""
    own = [k for k in here.kernels if k.runs and k.timing == "ct" and k.name not in TOO_SLOW]
    ciphers = dict.fromkeys(k.name for k in own if k.primitive in ("aes", "gcm", *ALONE))
    numbers = dict.fromkeys(k.name for k in own if k.primitive == "bn")
    modes = (*MODES, *(mode for name in ALONE for mode in MODES_OF[name]))
    usual = BenchRequest(modes, SIZES_BYTES, tuple(ciphers), 256, False, False)
    return [
        usual,
        replace(usual, modes=LAYER_MODES, sizes_bytes=LAYER_BYTES, kernels=tuple(numbers)),
    ]


def first_request() -> BenchRequest:
    """Return a request with which a harness can be asked what it has."""
    return BenchRequest((*MODES, *LAYER_MODES), SIZES_BYTES, (), 256, False, False, 1, AAD_BYTES)


def measure(context: Context, session: Session, here: HarnessInventory) -> Iterator[Record]:
    """Yield the records of all requests; messages come back to back."""
    for request in requests(here):
        yield from bench_run.measure(context, session, request, here, (), lambda _: None)


def rule_of(
    session: Session, arch: str, features: Sequence[str], tuning_bits: Sequence[str]
) -> Rule:
    """Ask the harness what it selects with these features.

    `tuning_bits`: all of the architecture, which then permit every kernel that can run.
    """
    modes, uses = _answers(session, arch, features)
    _, permitted = _answers(session, arch, [*features, *tuning_bits])
    return Rule(modes, uses, permitted)


def _answers(
    session: Session, arch: str, features: Sequence[str]
) -> tuple[list[Mode], list[Resolved]]:
    names = ",".join(dict.fromkeys(features))
    lines = list(session.records("resolve", "--arch", arch, "--features", names))
    return (
        [line for line in lines if isinstance(line, Mode)],
        [line for line in lines if isinstance(line, Resolved)],
    )


def times_of(benches: Iterable[Bench]) -> dict[Operation, dict[str, dict[int, float]]]:
    """Return the times of messages back to back, by operation, kernel and process.

    A process beside which another program used the core gives none.
    """
    found: dict[Operation, dict[str, dict[int, float]]] = {}
    for bench in benches:
        if bench.style != "streamed" or bench.peer or bench.conditions or not bench.ns:
            continue
        operation = Operation(bench.primitive, bench.mode, bench.bytes, bench.messages)
        times = found.setdefault(operation, {}).setdefault(bench.kernel, {})
        if not bench.crowded:
            times[bench.process] = median(bench.ns)
    return found


def judge(
    session: Session,
    arch: str,
    features: Sequence[str],
    tuning_bits: Sequence[str],
    times: Mapping[Operation, Mapping[str, Times]],
) -> list[Choice]:
    """Return the choices of each class of CPUs that the features of a measured one contain."""
    found: list[Choice] = []
    for name, kept in tuning.classes_of(features).items():
        found += tuning.choices(name, rule_of(session, arch, kept, tuning_bits), times)
    return found


def bits_of_tuning(known: Mapping[str, Sequence[str]], arch: str) -> list[str]:
    """Return the names of the bits that say what is fast on cores of an architecture."""
    if arch not in known:
        raise EverycoreError(f"unknown architecture '{arch}'", f"valid: {', '.join(known)}")
    names = [*known[arch], *known["other"]]
    return [name for name in dict.fromkeys(names) if name.startswith(tuning.TUNING)]


def best_bits(
    session: Session,
    arch: str,
    features: Sequence[str],
    tuning_bits: Sequence[str],
    times: Mapping[Operation, Mapping[str, Times]],
) -> tuple[list[str], float] | None:
    """Return the bits of tuning with the smallest sum of losses, and the worst of these losses.

    Of equal ones those of the measured machine, then the fewest. None: a kernel that the machine's
    own bits select was not measured.
    """
    plain = [name for name in features if not name.startswith(tuning.TUNING)]
    own = [name for name in features if name.startswith(tuning.TUNING)]
    others = [
        list(some) for n in range(len(tuning_bits) + 1) for some in combinations(tuning_bits, n)
    ]
    best: tuple[float, float, list[str]] | None = None
    for bits in (own, *others):
        rule = rule_of(session, arch, [*plain, *bits], tuning_bits)
        found = tuning.choices("", rule, times)
        if any(not one.fastest for one in found):
            if bits is own:
                return None
            continue
        losses = [one.loss for one in found if not one.undecided]
        if best is None or sum(losses) < best[0] - SMALL:
            best = (sum(losses), max(losses, default=0.0), bits)
    return (best[2], best[1]) if best else None
