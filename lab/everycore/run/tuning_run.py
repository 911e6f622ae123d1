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
SHA2_MODES = tuple(mode for mode in MODES_OF["sha2"] if not mode.startswith("hmac-"))
SHA2_BYTES = (64, 1024, 16384)
SMALL = 0.01  # a difference of sums of losses
ALONE = ("ghash", "qarma")  # primitives beside AES and GCM that take the same lengths


def requests(here: HarnessInventory) -> list[BenchRequest]:
    """Return what is measured: constant-time kernels that run, in every mode that they have."""
    own = [k for k in here.kernels if k.runs and k.timing == "ct" and k.name not in TOO_SLOW]
    ciphers = dict.fromkeys(k.name for k in own if k.primitive in ("aes", "gcm", *ALONE))
    hashes = dict.fromkeys(k.name for k in own if k.primitive == "sha2")
    numbers = dict.fromkeys(k.name for k in own if k.primitive == "bn")
    modes = (*MODES, *(mode for name in ALONE for mode in MODES_OF[name]))
    usual = BenchRequest(modes, SIZES_BYTES, tuple(ciphers), 256, False, False)
    return [
        usual,
        replace(usual, modes=SHA2_MODES, sizes_bytes=SHA2_BYTES, kernels=tuple(hashes)),
        replace(usual, modes=LAYER_MODES, sizes_bytes=LAYER_BYTES, kernels=tuple(numbers)),
    ]


def first_request() -> BenchRequest:
    """Return a request with which a harness can be asked what it has."""
    return BenchRequest(
        (*MODES, *SHA2_MODES, *LAYER_MODES), SIZES_BYTES, (), 256, False, False, 1, AAD_BYTES
    )


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

    A process beside which another program used the core gives none. The name of a kernel is that
    of its row: tuning.row().
    """
    found: dict[Operation, dict[str, dict[int, float]]] = {}
    for bench in benches:
        if bench.style != "streamed" or bench.peer or bench.conditions or not bench.runs:
            continue
        operation = Operation(bench.primitive, bench.mode, bench.bytes, bench.messages)
        name = tuning.row(bench.kernel, bench.partner)
        times = found.setdefault(operation, {}).setdefault(name, {})
        if bench.ns and not bench.crowded:
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

    Sums are over the operations that are decided with the machine's own bits and with the others.
    Of equal ones those of the measured machine, then the fewest. Bits that select a kernel which
    was not measured are no candidates. None: nothing is decided with the machine's own bits.
    """
    plain = [name for name in features if not name.startswith(tuning.TUNING)]
    own = [name for name in features if name.startswith(tuning.TUNING)]

    def chosen(bits: Sequence[str]) -> list[Choice]:
        return tuning.choices("", rule_of(session, arch, [*plain, *bits], tuning_bits), times)

    now = _losses(chosen(own))
    if not now:
        return None
    best_gain, best, worst = 0.0, own, max(now.values())
    for count in range(len(tuning_bits) + 1):
        for bits in combinations(tuning_bits, count):
            found = chosen(bits)
            if any(not one.fastest for one in found if _key(one) in now):
                continue
            losses = _losses(found)
            gain = sum(now[key] - loss for key, loss in losses.items() if key in now)
            if gain > best_gain + SMALL:
                best_gain, best, worst = gain, list(bits), max(losses.values())
    return best, worst


def _losses(found: Iterable[Choice]) -> dict[Operation, float]:
    return {_key(one): one.loss for one in found if not one.undecided}


def _key(choice: Choice) -> Operation:
    return Operation(choice.primitive, choice.mode, choice.bytes, choice.messages)
