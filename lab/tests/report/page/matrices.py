# SPDX-License-Identifier: MIT
"""A matrix for tests of the page: shaped as a real one, with wrong and slow cells."""

import random
from collections.abc import Iterator

from everycore.environment.decoding import encode_line
from everycore.model.cells import (
    Anomaly,
    Cell,
    Code,
    Head,
    Kind,
    Line,
    Listing,
    Outcome,
    Result,
    Verdict,
)
from everycore.model.domain import Machine, Revision
from everycore.report.page.facts import Facts, Source, collect

GCCS = ["gcc-7", *(f"gcc-{n}" for n in range(9, 18))]
CLANGS = ["clang-9", *(f"clang-{n}" for n in range(11, 25))]
TOOLCHAINS = (*GCCS, *CLANGS)
SUBJECTS = {"linux-6.1": 12.3, "linux-6.12": 12.9, "libressl": 13.4}
UB = "-fsanitize=undefined"
V4 = "-march=x86-64-v4"
NO_PRE = ("-fno-tree-pre", "-fno-tree-sra")
FLAG_SETS: dict[str, tuple[str, ...]] = {
    "O1": ("-O1",),
    "O2": ("-O2",),
    "O3": ("-O3",),
    "Os": ("-Os",),
    "O2+v3": ("-O2", "-march=x86-64-v3"),
    "O2+v4": ("-O2", V4),
    "O2+native": ("-O2", "-march=native"),
    "O2+nopre+nosra": ("-O2", *NO_PRE),
    "O2+nohoist": ("-O2", "-fno-code-hoisting"),
    "O2+noslp": ("-O2", "-fno-slp-vectorize"),
    "O1+ubsan": ("-O1", UB),
    "O2+ubsan": ("-O2", UB),
    "O2+bounds": ("-O2", "-fsanitize=bounds,object-size"),
    "O2+nopre+nosra+ubsan": ("-O2", *NO_PRE, UB),
    "O2+nohoist+ubsan": ("-O2", "-fno-code-hoisting", UB),
}
SCALAR = tuple(f"mov {8 * i}(%rsi,%rax,4),%e{'abcd'[i % 4]}x" for i in range(24))
GATHER = tuple(
    f"vpgatherdd %ymm{i % 8},({'%rsi'},%ymm{i % 5}),%ymm9" if i % 3 == 0 else SCALAR[i]
    for i in range(24)
)


def head(cpu: str = "Example CPU", date: str = "2026-01-02T03:04:05+00:00") -> Head:
    machine = Machine(cpu=cpu, family="26", model="2", cores=2)
    return Head(date, "0.1.0", Revision("0123456789ab", False), machine, "tsc+addchain", {})


def cell(subject: str, toolchain: str, flag_set: str, function: str = "generic-cbc-enc") -> Cell:
    return Cell(subject, function, toolchain, FLAG_SETS[flag_set])


def measured(
    where: Cell, cycles: float, flag_set: str = "", frame: int = 24, seed: int = 0
) -> Result:
    rng = random.Random(f"{where} {seed}")
    runs = tuple(
        tuple(round(cycles * (1 + abs(rng.gauss(0, 0.004))), 4) for _ in range(9)) for _ in range(5)
    )
    gathers = 64 if cycles > 27 and V4 in where.flags else 0
    number = where.toolchain.rpartition("-")[2]
    return Result(
        where,
        Outcome.MEASURED,
        compiler=f"{where.toolchain.rpartition('-')[0]} {number}.{rng.randrange(4)}.0",
        flag_set=flag_set,
        compile_seconds=round(0.1 + rng.random() / 3, 3),
        code=Code(3000 + int(cycles * 40), 700 + int(cycles * 6), gathers * 5, gathers, 2, frame),
        runs=runs,
        counter="tsc+addchain",
        digest=f"{rng.randrange(1 << 40):010x}",
        sanitizer_hits=0 if UB in where.flags else None,
    )


def _cycles(subject: str, toolchain: str, name: str) -> float:
    base, rng = SUBJECTS[subject], random.Random(f"{subject}{toolchain}{name}")
    kind, _, number = toolchain.rpartition("-")
    value = base * (1 + 0.03 * rng.random())
    if "ubsan" in name:
        value *= 2.7 if kind == "gcc" else 1.75
    elif "bounds" in name:
        value *= 1.8 if kind == "gcc" else 1.01
    if toolchain == "gcc-7" and "ubsan" in name and "nohoist" not in name:
        value = 201.6 if subject == "linux-6.1" else 90.0
    if kind == "clang" and int(number) >= 22 and name in ("O2+v4", "O2+native"):
        value = base * 2.3
    if kind == "clang" and int(number) <= 12 and name == "O1" and subject != "libressl":
        value = base * 4.4
    if kind == "gcc" and int(number) >= 12 and name == "O2+nopre+nosra":
        value = base * 1.25
    return value


def _result(subject: str, toolchain: str, name: str) -> Result:  # noqa: PLR0911
    kind, _, number = toolchain.rpartition("-")
    where = cell(subject, toolchain, name)
    plain = Result(where, Outcome.SKIPPED, compiler=f"{kind} {number}", flag_set=name)
    if kind == "clang" and ("hoist" in name or "nopre" in name):
        return plain.replace(reason=f"unknown argument: '{where.flags[1]}'")
    if kind == "gcc" and "noslp" in name:
        return plain.replace(reason="unrecognized command-line option '-fno-slp-vectorize'")
    if int(number) < 12 and name in ("O2+v3", "O2+v4"):
        return plain.replace(reason=f"bad value '{where.flags[1]}'")
    if (subject, toolchain, name) == ("linux-6.12", "gcc-13", "O3"):
        return plain.replace(outcome=Outcome.WRONG, reason="known answer 3: first wrong byte 16")
    if (subject, toolchain, name) == ("libressl", "clang-11", "Os"):
        return plain.replace(outcome=Outcome.CRASHED, reason="signal 11")
    if (subject, toolchain, name) == ("libressl", "clang-14", "O3"):
        return plain.replace(outcome=Outcome.TIME_LIMIT, reason="no answer within 10 s")
    if (subject, toolchain) == ("linux-6.12", "gcc-17") and "bounds" in name:
        reason = "aes.c:12:10: fatal error: linux/cache.h: No such file or directory"
        return plain.replace(outcome=Outcome.NOT_COMPILED, reason=reason)
    cycles = _cycles(subject, toolchain, name)
    frame = 4040 if toolchain == "gcc-7" and cycles > 50 else 24
    result = measured(where, cycles, name, frame)
    leaks = (subject, toolchain, name) == ("libressl", "gcc-16", "Os")
    detail = "aes_encrypt+0x1c: address" if leaks else ""
    if name in ("O1", "O2", "O3", "Os"):
        return result.replace(verdicts=(Verdict(not leaks, "trace", detail),))
    return result


def _anomaly(result: Result) -> Anomaly | None:
    where, value = result.cell, result.cycles_per_byte
    if value is None:
        return None
    base = SUBJECTS[where.subject]
    name, kind = result.flag_set, where.toolchain.rpartition("-")[0]
    other = cell(where.subject, where.toolchain, "O2")
    plain = Anomaly(where, Kind.SLOW, value, other, base, value / base, "flags", tried=12)
    command = f'everycore matrix --toolchain {where.toolchain} --flags "{" ".join(where.flags)}"'
    plain = plain.replace(command=f"{command} --subject {where.subject}")
    if V4 in where.flags and value > 27:
        return plain.replace(
            repair=("-fno-slp-vectorize",),
            repaired=measured(where, base),
            causes=("64 vpgatherdd appear",),
            differs_in="march",
            before=Listing("aes_encrypt", GATHER, 0.97),
            after=Listing("aes_encrypt", SCALAR, 0.96),
        )
    if name == "O1" and kind == "clang" and value > 40:
        return plain.replace(causes=("456 calls appear",), why_not="no flag of -O1 repairs it")
    if where.toolchain == "gcc-7" and value > 80:
        return plain.replace(
            repair=("-fno-code-hoisting",),
            repaired=measured(where, base * 1.7, frame=72),
            causes=("frame of 4040 bytes, 72 repaired",),
            before=Listing("aes_encrypt", SCALAR * 3, 0.9),
            after=Listing("aes_encrypt", SCALAR, 0.9),
        )
    if name == "O2+nopre+nosra" and value > base * 1.15:
        return plain.replace(repair=("-fno-tree-slp-vectorize",), causes=("40 movdqa appear",))
    return None


def lines() -> Iterator[Line]:
    """1,125 cells on one machine and 20 counted ones of a cross target, and what is odd."""
    yield head()
    for subject in SUBJECTS:
        for toolchain in TOOLCHAINS:
            for name in FLAG_SETS:
                result = _result(subject, toolchain, name)
                yield result
                if anomaly := _anomaly(result):
                    yield anomaly
                if result.verdicts and not result.verdicts[0].constant:
                    where = cell(subject, toolchain, "O2")
                    yield Anomaly(result.cell, Kind.LEAK, 1, where, 0, 1.0, "flags", tried=3)
    for toolchain in ("gcc-12", "gcc-14", "clang-16", "clang-19", "clang-22"):
        for name in ("O1", "O2", "Os", "O2+ubsan"):
            where = cell("linux-6.1", toolchain, name).replace(target="qemu-aarch64")
            executed = 150_000 + len(name) * 40_000 + len(toolchain) * 1_000
            yield Result(
                where,
                Outcome.COUNTED,
                compiler=toolchain.replace("-", " "),
                flag_set=name,
                code=Code(2000, 400, 0, 0, 1, 32),
                executed=executed,
                estimates={"cortex-a53": (executed / 4096 * 0.6, executed / 4096 * 0.8)},
            )


def text() -> str:
    """As a file."""
    return "".join(encode_line(line) + "\n" for line in lines())


def own_and_stored() -> Facts:
    """A wrong cell of the user's, and a slow one that everycore brings."""
    own = measured(cell("mine", "gcc-12", "O2"), 12).replace(
        outcome=Outcome.WRONG, reason="byte 1 is wrong"
    )
    fast, slow = (measured(cell("libressl", "gcc-12", name), 12) for name in ("O1", "O2"))
    slow = slow.replace(runs=tuple(tuple(9 * s for s in run) for run in slow.runs))
    sources = [Source("stored", head(), (fast, slow), is_own=False), Source("own", head(), (own,))]
    return collect(sources)
