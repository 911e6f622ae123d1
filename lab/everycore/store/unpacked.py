# SPDX-License-Identifier: MIT
"""Turns result files, of any command, into rows of the one model."""

import hashlib
import json
import lzma
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from msgspec.structs import asdict

from everycore.environment.decoding import Opening, decode_line, encode_line
from everycore.environment.errors import EverycoreError, unreadable
from everycore.measure.processes import merged, of_each, operation
from everycore.model import cells, stats
from everycore.model.cells import Anomaly, Cell, Head, Result
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
from everycore.model.run_lines import PauthFigure, PauthTime, Run
from everycore.store import matrix_files, run_files
from everycore.store.journal import PACKED

KEY_DIGITS = 16
CYCLES_PER_BYTE, CYCLES, PER_CYCLE = "cycles per byte", "cycles per call", "per cycle"
SECONDS = "seconds"
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
            kind = str(decode_line(Opening, first).type)
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


@contextmanager
def _lines_of(path: Path) -> Iterator[Iterator[str]]:
    """Yields the lines of a file one by one, for it may be larger than memory."""
    try:
        opened = lzma.open if path.suffix == PACKED else open
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
                run = digest(encode_line(line))
                yield _run_row(path, run, "matrix", line)
            case Result():
                number += 1
                yield from _result_rows(run, number, line, codes)
            case Anomaly():
                yield _anomaly_row(run, line)


def _with_first(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield first
    yield from map(matrix_files.without_halves, rest)


def _identity(cell: Cell) -> str:
    return digest(asdict(cell))


def _same_members(kind: type[Row], *sources: object) -> dict[str, Any]:
    """Return the members of a row that its sources have by the same name; a later source counts."""
    names = [field.name for field in fields(kind)]
    return {
        name: getattr(source, name) for source in sources for name in names if hasattr(source, name)
    }


def _result_rows(run: str, number: int, result: Result, codes: set[str]) -> Iterator[Row]:
    cell = result.cell
    code = result.digest or (digest(run, number) if result.code else "")
    values = _same_members(CellRow, cell, result) | {
        "run": run,
        "cell": number,
        "what": _identity(cell),
        "kind": "cell",
        "flags": " ".join(cell.flags),
        "bytes": cell.n_bytes,
        "outcome": str(result.outcome),
        "unit": CYCLES_PER_BYTE,
        "n_processes": len(result.runs),
        "n_samples": sum(map(len, result.runs)),
        "estimates": encode_line(result.estimates) if result.estimates else "",
        "code": code,
    }
    yield _cell_row(result.figure, values)
    for process, samples in enumerate(result.runs):
        yield ProcessRow(run, number, process, "", samples, (), process in result.shared)
    for verdict in result.verdicts:
        yield VerdictRow(run, number, verdict.method, verdict.constant, verdict.detail)
    if (own := result.code) and code not in codes:
        codes.add(code)
        mnemonics = encode_line(own.mnemonics) if own.mnemonics else ""
        yield CodeRow(**_same_members(CodeRow, own) | {"code": code, "mnemonics": mnemonics})


def _anomaly_row(run: str, found: Anomaly) -> AnomalyRow:
    values = _same_members(AnomalyRow, found.cell, found) | {
        "run": run,
        "what": _identity(found.cell),
        "kind": str(found.kind),
        "flags": " ".join(found.cell.flags),
        "repair": " ".join(found.repair),
        "causes": "; ".join(found.causes),
    }
    return AnomalyRow(**values)


# ---- Runs of bench, peers, limits, pauth ---------------------------------------------------------


def _run_row(path: Path, run: str, command: str, header: Head | Run, cut_off: str = "") -> RunRow:
    values: dict[str, Any] = {"target": "", "compiler": "", "flags": ()}  # of the matrix
    values |= _same_members(RunRow, header.machine, header) | {
        "run": run,
        "file": path.name,
        "command": command,
        "revision": header.revision.commit,
        "has_changes": header.revision.dirty,
        "machine": header.machine.title(),
        "options": encode_line(header.options),
        "cut_off": cut_off,
    }
    return RunRow(**values | {"flags": " ".join(values["flags"])})


@dataclass(slots=True)
class _Operation:
    """The lines of one operation: one of each process."""

    name: Mapping[str, object]  # members of CellRow that say what was measured
    lines: list[Bench | Limit | Arithmetic]


def _run_rows(found: run_files.Results, number: int) -> Iterator[Row]:
    """Yield the rows of a run, whose cells have numbers from `number` on."""
    own = found.run
    run = _run_key(own)
    yield _run_row(found.path, run, own.command, own, found.cut_off)
    common: dict[str, object] = {"compiler": own.compiler, "flags": " ".join(own.flags)}
    common |= {"target": own.target}
    for measured in _operations(found, common):
        number += 1
        yield from _operation_rows(run, number, measured)
    for line in found.records:
        if isinstance(line, PauthTime | PauthFigure):
            number += 1
            yield from _pauth_rows(run, number, line, common)


def _run_key(run: Run) -> str:
    """Return the key of a run: the digest of its line as everycore always wrote it, so that packs
    of any age agree."""
    plain = {"type": "run", "format": run.format, **asdict(run), "revision": asdict(run.revision)}
    return digest(json.dumps({**plain, "machine": asdict(run.machine)}))


def _operations(found: run_files.Results, common: Mapping[str, object]) -> list[_Operation]:
    operations: dict[object, _Operation] = {}
    for line in found.records:
        if isinstance(line, Bench | Limit | Arithmetic):
            name = {**common, **_name_of(line)}
            operations.setdefault(operation(line), _Operation(name, [])).lines.append(line)
    return list(operations.values())


def _name_of(line: Bench | Limit | Arithmetic) -> dict[str, object]:
    match line:
        case Bench():
            side = f"side {line.side}" if line.side else ""
            parts = (
                line.style, f"{line.messages} messages" * (line.messages > 1),
                line.conditions.removeprefix(", "), line.hardware,
                f"with {line.partner}" * bool(line.partner), side,
            )  # fmt: skip
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
            return CYCLES_PER_BYTE, tuple(count / total for count in line.cycles), line.ns
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
    values = _of_run(run, number, measured.name, figure, unit) | {
        "reason": whole.why,
        "n_samples": sum(len(_measured(line)[1]) for line in measured.lines),
        "is_uncertain": bool(figure and (figure.is_uncertain or whole.crowded)),
        "counter": whole.counter if isinstance(whole, Bench) else "",
    }
    yield _cell_row(figure, values)
    for order, line in enumerate(measured.lines):
        _, own, ns = _measured(line)
        side = line.side if isinstance(line, Bench) else ""
        yield ProcessRow(
            run, number, line.process or order, side, tuple(own), tuple(ns), line.crowded
        )


def _pauth_rows(
    run: str, number: int, line: PauthTime | PauthFigure, common: Mapping[str, object]
) -> Iterator[Row]:
    """Rows of a line of `everycore pauth`, whose samples are rounds of one program."""
    kind = "pauth" if isinstance(line, PauthTime) else "pauth-primitive"
    # The order of members belongs to the key of the cell, by which packs of any age agree.
    name: dict[str, object] = {**common, "kind": kind, "key_bits": 0, "bytes": 0}
    samples: Sequence[Samples]
    match line:
        case PauthTime():
            unit, samples, reason = SECONDS, [(sample,) for sample in line.samples], line.wrong
            name |= {"subject": line.program, "function": line.algorithm}
            name |= {"conditions": line.emulator}
        case PauthFigure():
            unit, samples, reason = CYCLES, line.samples, ""
            name |= {"subject": line.who, "function": line.operation}
            name |= {"conditions": line.table}
    figure = stats.figure(samples)
    values = _of_run(run, number, name, figure, unit) | {"reason": reason}
    yield _cell_row(figure, values | {"n_samples": sum(map(len, samples))})
    for process, own in enumerate(samples):
        yield ProcessRow(run, number, process, "", tuple(own), (), False)


def _of_run(
    run: str, number: int, name: Mapping[str, object], figure: stats.Figure | None, unit: str
) -> dict[str, Any]:
    """Return the members of a cell of a run of one harness."""
    return {
        **dict.fromkeys(("toolchain", "flag_set", "estimates", "contents", "code", "counter"), ""),
        **dict.fromkeys(("executed", "compile_seconds", "sanitizer_hits", "constant_time")),
        **name,
        "is_assembly": False,
        "run": run,
        "cell": number,
        "what": digest(name),
        "outcome": MEASURED if figure else "skipped",
        "unit": unit,
        "n_processes": figure.processes if figure else 0,
        "is_uncertain": bool(figure and figure.is_uncertain),
    }


def _cell_row(figure: stats.Figure | None, values: Mapping[str, Any]) -> CellRow:
    """Return a cell with the figure, and with the values of all other members."""
    own = {"conditions": "", **values, "is_last": True}
    for name, ending in (("value", "median"), ("low", "low"), ("high", "high")):
        own[name] = getattr(figure, ending) if figure else None
    return CellRow(**own)
