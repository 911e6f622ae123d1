# SPDX-License-Identifier: MIT
"""Turns result files, of any command, into rows of the one model."""

import hashlib
import json
import lzma
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from everycore.environment.decoding import decode_line, encode_line
from everycore.environment.errors import EverycoreError, unreadable
from everycore.measure.processes import merged, of_each, operation
from everycore.model import cells, stats
from everycore.model.cells import Anomaly, Cell, Head, Result
from everycore.model.domain import Machine, Revision
from everycore.model.measurement import (
    AnomalyRow,
    CellRow,
    CodeRow,
    ProcessRow,
    Row,
    RunRow,
    VerdictRow,
)
from everycore.model.protocol import Arithmetic, Bench, Limit
from everycore.store import matrix_files, run_files

KEY_DIGITS = 16
CYCLES_PER_BYTE, CYCLES, PER_CYCLE = "cycles per byte", "cycles per call", "per cycle"
SECONDS = "seconds"
COMPRESSED = ".xz"
MEASURED = "measured"
Samples = Sequence[float]


def digest(*parts: object) -> str:
    """Return a short name of its own for some values of JSON."""
    return hashlib.sha256(encode_line(parts).encode()).hexdigest()[:KEY_DIGITS]


def rows_of(path: Path) -> Iterator[Row]:
    """Yield the rows of a result file; one that was cut short has those of its whole lines."""
    with _lines_of(path) as lines:
        first = next(lines, "")
        try:
            kind = str(decode_line(_Type, first).type)
        except (TypeError, ValueError):
            kind = ""
        if kind == "matrix":
            yield from _matrix_rows(path, first, lines)
            return
    if kind != "run":
        raise EverycoreError(f"{path} is no result file of everycore", run_files.RESULTS_HINT)
    last = 0
    for found in run_files.read_each(path):
        for row in _run_rows(found, last):
            last = row.cell if isinstance(row, CellRow) else last
            yield row


@dataclass(frozen=True, slots=True)
class _Type:
    type: str = ""


@contextmanager
def _lines_of(path: Path) -> Iterator[Iterator[str]]:
    """Yields the lines of a file one by one, for it may be larger than memory."""
    try:
        opened = lzma.open if path.suffix == COMPRESSED else open
        with opened(path, "rt", encoding="utf-8", errors="replace") as file:
            yield (line for line in file if line.endswith("\n"))  # a run may be under way
    except (EOFError, lzma.LZMAError, OSError) as error:
        raise unreadable(path, error) from error


# ---- The matrix ----------------------------------------------------------------------------------


def _matrix_rows(path: Path, first: str, rest: Iterator[str]) -> Iterator[Row]:
    run, number, codes = "", 0, set[str]()
    for at, text in enumerate(_with_first(first, rest), 1):
        try:
            line = cells.parse(text)
        except EverycoreError as error:
            raise EverycoreError(f"{path}, line {at}: {error.message}", error.hint) from error
        match line:
            case Head():
                run = digest(cells.as_json(line))
                yield _head_row(path, run, line)
            case Result():
                number += 1
                yield from _result_rows(run, number, line, codes)
            case Anomaly():
                yield _anomaly_row(run, line)


def _with_first(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield first
    yield from map(matrix_files.without_halves, rest)


def _head_row(path: Path, run: str, head: Head) -> RunRow:
    run_header = RunHeader("matrix", head.date, head.everycore, head.revision, head.machine)
    return _run_row(path, run, run_header, counter=head.counter, options=head.options)


def _identity(cell: Cell) -> str:
    return digest(asdict(cell))


def _result_rows(run: str, number: int, result: Result, codes: set[str]) -> Iterator[Row]:
    cell, figure = result.cell, result.figure
    code = result.digest or (digest(run, number) if result.code else "")
    yield CellRow(
        run=run,
        cell=number,
        what=_identity(cell),
        kind="cell",
        is_last=True,
        subject=cell.subject,
        function=cell.function,
        toolchain=cell.toolchain,
        compiler=result.compiler,
        flags=" ".join(cell.flags),
        flag_set=result.flag_set,
        target=cell.target,
        key_bits=cell.key_bits,
        bytes=cell.n_bytes,
        conditions="",
        outcome=str(result.outcome),
        reason=result.reason,
        unit=CYCLES_PER_BYTE,
        value=figure.median if figure else None,
        low=figure.low if figure else None,
        high=figure.high if figure else None,
        n_processes=len(result.runs),
        n_samples=sum(map(len, result.runs)),
        is_uncertain=result.is_uncertain,
        counter=result.counter,
        executed=result.executed,
        estimates=encode_line(result.estimates) if result.estimates else "",
        compile_seconds=result.compile_seconds,
        sanitizer_hits=result.sanitizer_hits,
        constant_time=result.constant_time,
        is_assembly=result.is_assembly,
        contents=result.contents,
        code=code,
    )
    for process, samples in enumerate(result.runs):
        yield ProcessRow(run, number, process, "", samples, (), process in result.shared)
    for verdict in result.verdicts:
        yield VerdictRow(run, number, verdict.method, verdict.constant, verdict.detail)
    if (own := result.code) and code not in codes:
        codes.add(code)
        yield CodeRow(
            code=code,
            code_bytes=own.code_bytes,
            instructions=own.instructions,
            vector=own.vector,
            gathers=own.gathers,
            calls=own.calls,
            sanitizer_calls=own.sanitizer_calls,
            frame_bytes=own.frame_bytes,
            hot=own.hot,
            mnemonics=encode_line(own.mnemonics) if own.mnemonics else "",
        )


def _anomaly_row(run: str, found: Anomaly) -> AnomalyRow:
    cell = found.cell
    return AnomalyRow(
        run=run,
        what=_identity(cell),
        kind=str(found.kind),
        subject=cell.subject,
        function=cell.function,
        toolchain=cell.toolchain,
        flags=" ".join(cell.flags),
        target=cell.target,
        value=found.value,
        ratio=found.ratio,
        differs_in=found.differs_in,
        repair=" ".join(found.repair),
        causes="; ".join(found.causes),
        why_not=found.why_not,
        command=found.command,
    )


# ---- Runs of bench, peers, limits, pauth ---------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RunHeader:
    """The first line of a file, as all commands write it."""

    command: str
    date: str
    everycore: str
    revision: Revision
    machine: Machine


def _run_row(
    path: Path,
    run: str,
    run_header: RunHeader,
    *,
    target: str = "",
    compiler: str = "",
    flags: Sequence[str] = (),
    counter: str = "",
    options: Mapping[str, object],
    cut_off: str = "",
) -> RunRow:
    machine = run_header.machine
    return RunRow(
        run=run,
        file=path.name,
        command=run_header.command,
        date=run_header.date,
        everycore=run_header.everycore,
        revision=run_header.revision.commit,
        has_changes=run_header.revision.dirty,
        machine=machine.title(),
        cpu=machine.cpu,
        microcode=machine.microcode,
        kernel=machine.kernel,
        architecture=machine.architecture,
        virtualised=machine.virtualised,
        board=machine.board,
        core=machine.core,
        installation=machine.installation,
        target=target,
        compiler=compiler,
        flags=" ".join(flags),
        counter=counter,
        options=encode_line(options),
        cut_off=cut_off,
    )


@dataclass(slots=True)
class _Operation:
    """The lines of one operation: one of each process."""

    name: Mapping[str, object]  # members of CellRow that say what was measured
    lines: list[Bench | Limit | Arithmetic]


def _run_rows(found: run_files.Results, number: int) -> Iterator[Row]:
    """Yield the rows of a run, whose cells have numbers from `number` on."""
    own = found.run
    run = digest(run_files.run_line(own))
    run_header = RunHeader(own.command, own.date, own.everycore, own.revision, own.machine)
    yield _run_row(
        found.path,
        run,
        run_header,
        target=own.target,
        compiler=own.compiler,
        flags=own.flags,
        counter=own.counter,
        options=own.options,
        cut_off=found.cut_off,
    )
    common: dict[str, object] = {"compiler": own.compiler, "flags": " ".join(own.flags)}
    common |= {"target": own.target}
    for one in _operations(found, common):
        number += 1
        yield from _operation_rows(run, number, one)
    for record in found.records:
        plain = json.loads(record.text)
        if plain.get("type") in ("pauth", "pauth-primitive"):
            number += 1
            yield from _pauth_rows(run, number, plain, common)


def _operations(found: run_files.Results, common: Mapping[str, object]) -> list[_Operation]:
    operations: dict[object, _Operation] = {}
    for record in found.records:
        line = record.line
        if isinstance(line, Bench | Limit | Arithmetic):
            name = {**common, **_name_of(line)}
            operations.setdefault(operation(line), _Operation(name, [])).lines.append(line)
    return list(operations.values())


def _name_of(line: Bench | Limit | Arithmetic) -> dict[str, object]:
    match line:
        case Bench():
            side = f"side {line.side}" if line.side else ""
            parts = (
                *(line.style, f"{line.messages} messages" * (line.messages > 1)),
                *(line.conditions.removeprefix(", "), line.hardware),
                *(f"with {line.partner}" * bool(line.partner), side),
            )
            named = {"kind": "bench", "subject": line.kernel, "function": line.mode}
            sizes = {"key_bits": line.key_bits, "bytes": line.bytes}
            return {**named, **sizes, "conditions": ", ".join(filter(None, parts))}
        case Limit():
            named = {"kind": "limit", "subject": line.instruction, "function": "latency"}
            return {**named, "key_bits": 0, "bytes": 0, "conditions": f"{line.width_bits} bits"}
        case Arithmetic():
            named = {"kind": "arithmetic", "subject": line.name}
            function = ",".join(line.modes)
            chain = "a chain" if line.dependent else "independent"
            conditions = f"{line.width_bits} bits, {chain}"
            sizes = {"key_bits": line.key_bits, "bytes": line.bytes}
            return {**named, "function": function, **sizes, "conditions": conditions}


def _measured(line: Bench | Limit | Arithmetic) -> tuple[str, Samples, Samples]:
    """The unit of a line, its samples in it, and its nanoseconds."""
    match line:
        case Bench():
            total = line.bytes * line.messages
            if not total or line.style == "fenced":
                return CYCLES, line.cycles, line.ns
            return CYCLES_PER_BYTE, tuple(one / total for one in line.cycles), line.ns
        case Limit():
            if line.latency_cycles:
                return CYCLES, line.latency_cycles, ()
            return PER_CYCLE, line.per_cycle, ()
        case Arithmetic():
            return CYCLES_PER_BYTE, line.cycles_per_byte, ()


def _operation_rows(run: str, number: int, measured: _Operation) -> Iterator[Row]:
    (whole,) = merged(measured.lines)
    assert isinstance(whole, Bench | Limit | Arithmetic)
    unit, samples, _ = _measured(whole)
    figure = stats.figure(of_each(samples, whole.parts))
    yield _cell_row(
        run,
        number,
        measured.name,
        figure,
        unit=unit,
        samples=sum(len(_measured(line)[1]) for line in measured.lines),
        reason=whole.why,
        counter=whole.counter if isinstance(whole, Bench) else "",
        is_crowded=whole.crowded,
    )
    for order, line in enumerate(measured.lines):
        _, own, ns = _measured(line)
        side = line.side if isinstance(line, Bench) else ""
        yield ProcessRow(
            run, number, line.process or order, side, tuple(own), tuple(ns), line.crowded
        )


def _pauth_rows(
    run: str, number: int, plain: Mapping[str, object], common: Mapping[str, object]
) -> Iterator[Row]:
    """Rows of a line of `everycore pauth`, whose samples are rounds of one program."""
    is_program = plain["type"] == "pauth"
    unit = SECONDS if is_program else CYCLES
    samples = plain.get("samples") or ()
    assert isinstance(samples, list | tuple)
    every = [(one,) for one in samples] if is_program else [tuple(one) for one in samples]
    name: dict[str, object] = {**common, "kind": plain["type"], "key_bits": 0, "bytes": 0}
    if is_program:
        name |= {"subject": plain["program"], "function": plain["algorithm"]}
        name |= {"conditions": plain["emulator"]}
    else:
        name |= {"subject": plain["who"], "function": plain["operation"]}
        name |= {"conditions": plain["table"]}
    yield _cell_row(
        run,
        number,
        name,
        stats.figure(every),
        unit=unit,
        samples=sum(map(len, every)),
        reason=str(plain.get("wrong") or ""),
        counter="",
        is_crowded=False,
    )
    for process, own in enumerate(every):
        yield ProcessRow(run, number, process, "", own, (), False)


def _cell_row(
    run: str,
    number: int,
    name: Mapping[str, object],
    figure: stats.Figure | None,
    *,
    unit: str,
    samples: int,
    reason: str,
    counter: str,
    is_crowded: bool,
) -> CellRow:
    rest: dict[str, object] = {"toolchain": "", "flag_set": "", "executed": None, "estimates": ""}
    rest |= {"compile_seconds": None, "sanitizer_hits": None, "constant_time": None}
    rest |= {"is_assembly": False, "contents": "", "code": ""}
    values: dict[str, object] = {
        **rest,
        **name,
        "run": run,
        "cell": number,
        "what": digest(name),
        "is_last": True,
        "outcome": MEASURED if figure else "skipped",
        "reason": reason,
        "unit": unit,
        "value": figure.median if figure else None,
        "low": figure.low if figure else None,
        "high": figure.high if figure else None,
        "n_processes": figure.processes if figure else 0,
        "n_samples": samples,
        "is_uncertain": bool(figure and (figure.is_uncertain or is_crowded)),
        "counter": counter,
    }
    return CellRow(**values)  # type: ignore[arg-type]
