# SPDX-License-Identifier: MIT
"""Whether one function of a linked program is constant-time: by trace, and by taint.

Trace: one process calls the function with several secrets and all else alike, under the tracer;
what was executed, and where its data was, must be the same. Taint: valgrind's memcheck runs the
same program with the secrets marked undefined, and counts branches and addresses made of them.
"""

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from everycore.binary.disassembly import decode
from everycore.binary.objects import MACHINES
from everycore.binary.symbols import file_symbols
from everycore.ct.taint import MemcheckError, first_errors
from everycore.ct.traces import HALF_SEEN, PACKAGES
from everycore.environment import extras
from everycore.environment.atomic import atomic_write
from everycore.environment.context import Context
from everycore.environment.decoding import encode_line
from everycore.environment.errors import EverycoreError
from everycore.model.cells import Verdict
from everycore.model.domain import Target
from everycore.run.transport.valgrind import Valgrind, has_valgrind
from everycore.trace.emulated import qemu
from everycore.trace.native import native
from everycore.trace.record import Difference, Run, Trace, UntraceableError, first_difference

BEGIN, END = "region_begin", "region_end"  # catalog/subjects/job.h
# answers.h: all bytes 0, all 0xff, then drawn. The first again tells whether calls with
# the same secrets are alike at all.
SECRETS = (0, 1, 2, 3, 4, 5)
PARTS = ("key", "call")  # regions of one call: catalog/subjects/ct.c
# One block; 8 + 4 + 2 + 1; 32 + 4 + 1; of functions that take any length, a part of a block, too.
LENGTHS = (16, 240, 592)
ODD_LENGTH = 77
LIMIT = 20_000_000  # instructions of one region
LONGEST = 15  # bytes of an instruction
RULES = 1  # verdicts in the cache are good as long as this number is: what is looked at, and how


@dataclass(frozen=True, slots=True)
class Suspect:
    """A function in a linked program, where it runs, and what it is called with."""

    binary: Path
    function: str  # its name in C
    target: Target
    key_bits: int = 256
    multiple_of: int = 16
    fewest: int = 0  # bytes that it takes at least

    @property
    def lengths(self) -> tuple[int, ...]:
        odd = (ODD_LENGTH,) if self.multiple_of == 1 else ()
        step = self.multiple_of
        least = [max(n, self.fewest) for n in (*LENGTHS, *odd)]
        return tuple(dict.fromkeys(-(-n // step) * step for n in least))

    def words(self, secrets: Sequence[int]) -> list[str]:
        """The arguments of the program."""
        words = ["ct", self.function, str(self.key_bits), ",".join(map(str, secrets))]
        return [*words, *map(str, self.lengths)]


def look(context: Context, suspect: Suspect, anew: bool = False) -> tuple[Verdict, ...]:
    """Return the verdict of each method; unless `anew`, earlier verdicts are taken from the
    store."""
    path = context.cache_dir() / "verdicts" / f"{_key(suspect)}.json"
    stored = _stored(path)
    known = {} if anew else stored
    verdicts = (
        known.get("trace") or by_trace(context, suspect),
        known.get("taint") or by_taint(context, suspect),
    )
    # A missing verdict may be given later.
    new = stored | {v.method: v for v in verdicts if v.constant is not None}
    if new != stored:
        with suppress(OSError), atomic_write(path) as scratch:  # a full disk costs no verdict
            scratch.write_text(encode_line(list(new.values())), encoding="utf-8")
    return verdicts


def _key(suspect: Suspect) -> str:
    """The same for programs of the same code, whoever compiled them."""
    digest = hashlib.sha256(repr((RULES, *suspect.words(SECRETS))).encode())
    for name, start, data in file_symbols(suspect.binary).loaded:
        if not name.startswith(".note"):  # the linker's digest of all, with compilers' names
            digest.update(f"{start} {len(data)} ".encode())
            digest.update(data)
    return digest.hexdigest()[:32]


def _stored(path: Path) -> dict[str, Verdict]:
    """By method."""
    try:
        found = [Verdict(**row) for row in json.loads(path.read_text(encoding="utf-8"))]
    except (OSError, ValueError, TypeError):  # not there, or not by this version
        return {}
    return {verdict.method: verdict for verdict in found}


def _place(binary: Path, address: int) -> tuple[str, str]:
    """symbol+offset of an address as linked, and the instruction there."""
    program = file_symbols(binary)
    code = program.code(address, LONGEST)
    machine = MACHINES.get(program.machine)
    if machine is None or not code:
        return program.place(address), ""
    mode = "t" if program.is_thumb(address) else ""
    return program.place(address), decode(machine, code, address, address, mode)[0].text


def _said(part: str, binary: Path, address: int, kind: str) -> str:
    """As in "aes_encrypt+0x1c: address: movzx eax, byte ptr [rcx + rax]"."""
    place, instruction = _place(binary, address)
    where = "key set-up: " if part == "key" else ""
    return f"{where}{place}: {kind}" + (f": {instruction}" if instruction else "")


# ---- Trace -------------------------------------------------------------------------------------


def by_trace(context: Context, suspect: Suspect) -> Verdict:
    """The first instruction that goes elsewhere, or has its data elsewhere, with other secrets."""
    try:
        if not all(map(find_spec, PACKAGES)):
            raise UntraceableError(f"tracing needs: {extras.install_command('matrix')}")
        return _compare(context, suspect)
    except EverycoreError as error:
        return Verdict(None, "trace", error.message)


def _compare(context: Context, suspect: Suspect) -> Verdict:
    of_one = len(suspect.lengths) * len(PARTS)  # regions of one secret
    first_two = [*range(len(PARTS)), *range(of_one, of_one + len(PARTS))]
    traces = _traces(context, suspect, first_two)
    again = traces[len(SECRETS) * of_one :]
    unlike = list(_unlike(traces, of_one, len(SECRETS)))
    if any(not traces[i].same(again[i % of_one]) for i in range(of_one)):
        return Verdict(None, "trace", "two calls with the same secrets differ: it keeps state")
    if not unlike:
        if not all(t.data for t in traces) or {*HALF_SEEN} & {*suspect.target.emulator}:
            return Verdict(None, "trace", "QEMU does not tell the data addresses")
        return Verdict(True, "trace", f"{len(SECRETS)} secrets")
    calls = [i for i in unlike if i % len(PARTS) == len(PARTS) - 1]
    at = (calls or unlike)[0]
    pair = (traces[at % of_one], traces[at])
    if not all(trace.events for trace in pair):
        kept = _traces(context, suspect, [at % of_one, at])
        pair = (kept[at % of_one], kept[at])
    return Verdict(False, "trace", _told(suspect, PARTS[at % len(PARTS)], first_difference(*pair)))


def _unlike(traces: Sequence[Trace], of_one: int, secrets: int) -> Iterator[int]:
    """The regions that are not the same as with the first secret."""
    for i in range(of_one, secrets * of_one):
        if not traces[i].same(traces[i % of_one]):
            yield i


def _told(suspect: Suspect, part: str, difference: Difference | None) -> str:
    if difference is None:  # a digest of 64 bits that says otherwise
        return "the traces differ"
    return _said(part, suspect.binary, difference.pc, difference.kind)


def _traces(context: Context, suspect: Suspect, keep: Collection[int]) -> Sequence[Trace]:
    argv = [str(suspect.binary), *suspect.words((*SECRETS, SECRETS[0]))]
    if suspect.target.transport == "local":
        run = native(context, argv, BEGIN, END, keep=keep, limit=LIMIT)
    elif suspect.target.transport == "qemu":
        run = qemu(context, suspect.target, argv, BEGIN, END, keep=keep, limit=LIMIT)
    else:
        raise UntraceableError("no tracer runs on a board; an emulated target has one")
    _refuse_incomplete(run, (len(SECRETS) + 1) * len(suspect.lengths) * len(PARTS))
    return run.traces


def _refuse_incomplete(run: Run, regions: int) -> None:
    if run.code:
        output = run.stdout.strip().splitlines() or [f"exit code {run.code}"]
        raise EverycoreError(f"the traced program ended early: {output[-1]}")
    if len(run.traces) != regions:
        raise EverycoreError(f"{len(run.traces)} traces of {regions} regions")


# ---- Taint -------------------------------------------------------------------------------------


def by_taint(context: Context, suspect: Suspect) -> Verdict:
    """The first branch, or address, that is made of a secret."""
    if suspect.target.transport != "local":
        return _not_looked("memcheck sees the CPU of this machine, no other one")
    if not has_valgrind(context):
        return _not_looked("no valgrind")
    try:
        return _watch(context, suspect)
    except EverycoreError as error:
        return _not_looked(error.message)


def _watch(context: Context, suspect: Suspect) -> Verdict:
    with TemporaryDirectory() as folder:
        report = Path(folder) / "memcheck.xml"
        stream = Valgrind(context, report).stream(suspect.binary, suspect.words(SECRETS[2:3]))
        lines: list[list[str]] = []
        while True:
            try:
                lines.append(next(stream).split())
            except StopIteration as end:
                code: int = end.value.code
                break
        return _judge(suspect, lines, code, first_errors(report))


def _judge(
    suspect: Suspect,
    lines: Sequence[Sequence[str]],
    code: int,
    found: Mapping[str, MemcheckError],
) -> Verdict:
    """`lines`: words of the program; `found`: of memcheck's report."""
    counts = [(line[1], int(line[2])) for line in lines if line[:1] == ["region"]]
    leaking = [part for part in PARTS if any(n for of, n in counts if of == part)]
    if leaking and ["judges"] in lines:
        return _not_looked(
            "it judges the tag itself, and does not tell memcheck that this is public"
        )
    if leaking:
        return Verdict(False, "taint", _first_error(suspect, leaking[-1], found))
    if code:
        return _not_looked(_why_it_ended(suspect, code, found.get("fatal")))
    if ["blind"] in lines:
        return _not_looked("this valgrind does not notice a branch on a secret")
    if len(counts) != len(suspect.lengths) * len(PARTS):
        return _not_looked("this program does not mark its secrets")
    return Verdict(True, "taint", f"{len(suspect.lengths)} lengths")


def _first_error(suspect: Suspect, part: str, found: Mapping[str, MemcheckError]) -> str:
    error = found.get(part)
    if error is None or error.address is None:
        return error.what if error else "an error of memcheck"
    return _said(part, suspect.binary, error.address, error.kind)


def _why_it_ended(suspect: Suspect, code: int, fatal: MemcheckError | None) -> str:
    if code == 3:  # catalog/subjects/driver.c
        return "valgrind shows a CPU that cannot run it"
    if fatal is not None and fatal.address is not None:
        place, instruction = _place(suspect.binary, fatal.address)
        return f"valgrind does not know an instruction: {place}: {instruction}"
    return f"the program ended with code {code} under valgrind"


def _not_looked(why: str) -> Verdict:
    return Verdict(None, "taint", why)
