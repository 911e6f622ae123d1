# SPDX-License-Identifier: MIT
"""The one model of results: the rows into which every line of every result file is put.

A run is one command on one machine. A cell is what was measured: one function of one program, under
one compiler and its flags, on one target. A process is one execution of a cell's program, with its
samples. Code is counted once for each digest. The comments of members are their documentation:
`everycore query --columns` prints them.
"""

import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

FORMAT = 2  # of a pack: another meaning of a column is another format
# Older formats that are read. 1: `low` and `high` are of a bootstrap, and `n_processes` counts
# processes that are not in the figure, too.
READABLE = (1, FORMAT)


@dataclass(frozen=True, slots=True)
class RunRow:
    """One command on one machine."""

    run: Annotated[str, "digest of the line that describes the run: its key"]
    file: Annotated[str, "name of the file that it was read from"]
    command: Annotated[str, "matrix, bench, peers, limits, pauth ..."]
    date: Annotated[str, "when it began, ISO 8601"]
    everycore: Annotated[str, "version of everycore"]
    revision: Annotated[str, "commit of the C tree"]
    has_changes: Annotated[bool, "whether the tree had changes that were not committed"]
    machine: Annotated[str, "title of the machine"]
    cpu: Annotated[str, "name of the CPU"]
    microcode: Annotated[str, "its microcode"]
    kernel: Annotated[str, "kernel of the operating system"]
    architecture: Annotated[str, "as uname calls it"]
    virtualised: Annotated[bool, "whether it is a virtual machine"]
    board: Annotated[str, "the board, if it says so"]
    core: Annotated[str, "an Arm core by name"]
    installation: Annotated[str, "tells two of one model apart: random, or a digest of board ids"]
    target: Annotated[str, "where the harness ran; of matrix each cell has its own"]
    compiler: Annotated[str, "compiler of the harness"]
    flags: Annotated[str, "its flags"]
    counter: Annotated[str, "what counted cycles"]
    options: Annotated[str, "options of the command, JSON"]
    cut_off: Annotated[str, "why it ended early; empty: it did not"]


@dataclass(frozen=True, slots=True)
class CellRow:
    """One figure, count or failure of a run."""

    run: Annotated[str, "key of its run"]
    cell: Annotated[int, "number within the run: with `run` its key"]
    what: Annotated[str, "digest of all that says what was measured: equal in other runs"]
    kind: Annotated[str, "cell (of matrix), bench, arithmetic, limit, pauth, pauth-primitive"]
    is_last: Annotated[bool, "whether no later line of the file is of the same"]
    subject: Annotated[str, "kernel, library, program or other people's code"]
    function: Annotated[str, "function or mode"]
    toolchain: Annotated[str, "compiler by its short name (of matrix)"]
    compiler: Annotated[str, "compiler with its version"]
    flags: Annotated[str, "its flags"]
    flag_set: Annotated[str, "name of the flags (of matrix)"]
    target: Annotated[str, "host, an emulated target or a board"]
    key_bits: Annotated[int, "size of the key; 0: none"]
    bytes: Annotated[int, "length of the message; 0: there is none"]
    conditions: Annotated[str, "messages side by side, style, keys, code paths, partner"]
    outcome: Annotated[str, "measured, counted, wrong, not compiled, crashed, ..."]
    reason: Annotated[str, "why there is no figure"]
    unit: Annotated[str, "of value, low, high and the samples"]
    value: Annotated[float | None, "median of the medians of its processes"]
    low: Annotated[float | None, "lower end of its interval: the lowest of up to eight processes"]
    high: Annotated[float | None, "upper end: the highest of up to eight"]
    n_processes: Annotated[int, "how many processes the figure is made of"]
    n_samples: Annotated[int, "how many samples they have"]
    is_uncertain: Annotated[bool, "its interval is wide, or something else used the core"]
    counter: Annotated[str, "what counted"]
    executed: Annotated[int | None, "instructions of one call, exact"]
    estimates: Annotated[str, "ranges for calibrated cores, JSON; empty: none"]
    compile_seconds: Annotated[float | None, "time of the compiler"]
    sanitizer_hits: Annotated[int | None, "calls of a sanitizer's handlers in one call"]
    constant_time: Annotated[bool | None, "false: a method found a leak; null: nobody looked"]
    is_assembly: Annotated[bool, "written by hand"]
    contents: Annotated[str, "digest of the subject's files"]
    code: Annotated[str, "digest of its code: key of `code`"]


@dataclass(frozen=True, slots=True)
class ProcessRow:
    """One execution of a cell's program."""

    run: Annotated[str, "key of the run"]
    cell: Annotated[int, "key of the cell in it"]
    process: Annotated[int, "number, from 0"]
    side: Annotated[str, "A or B, of a run that compares two programs"]
    samples: Annotated[tuple[float, ...], "in the unit of the cell"]
    ns: Annotated[tuple[float, ...], "nanoseconds of a call, where they were kept"]
    is_crowded: Annotated[bool, "something else used the core too"]


@dataclass(frozen=True, slots=True)
class CodeRow:
    """Counts of a function and all that it calls, as compiled."""

    code: Annotated[str, "digest: its key"]
    code_bytes: Annotated[int, "size"]
    instructions: Annotated[int, "in the code, not as executed"]
    vector: Annotated[int, "instructions with a vector register"]
    gathers: Annotated[int, "of these, gathers"]
    calls: Annotated[int, "of other functions"]
    sanitizer_calls: Annotated[int, "of a sanitizer's handlers"]
    frame_bytes: Annotated[int | None, "the largest frame; null: not known"]
    hot: Annotated[str, "symbol with the innermost work"]
    mnemonics: Annotated[str, "how often each is in the code, JSON"]


@dataclass(frozen=True, slots=True)
class VerdictRow:
    """The word of one method on whether a cell is constant-time."""

    run: Annotated[str, "key of the run"]
    cell: Annotated[int, "key of the cell in it"]
    method: Annotated[str, "trace or taint"]
    constant: Annotated[bool | None, "null: the method could not look"]
    detail: Annotated[str, "first place where two secrets part, or why it could not look"]


@dataclass(frozen=True, slots=True)
class AnomalyRow:
    """A cell that is worse than its neighbours, and what repairs it."""

    run: Annotated[str, "key of the run"]
    what: Annotated[str, "the cell: `what` of cells"]
    kind: Annotated[str, "slow, frame, leak or wrong"]
    subject: Annotated[str, "as of the cell"]
    function: Annotated[str, "as of the cell"]
    toolchain: Annotated[str, "as of the cell"]
    flags: Annotated[str, "as of the cell"]
    target: Annotated[str, "as of the cell"]
    value: Annotated[float, "cycles per byte, or bytes of frame"]
    ratio: Annotated[float, "to the best neighbour"]
    differs_in: Annotated[str, "toolchain, flags or march"]
    repair: Annotated[str, "flags that repair it"]
    causes: Annotated[str, "what appeared in the code"]
    why_not: Annotated[str, "why no repair was found"]
    command: Annotated[str, "command that shows it again"]


Row = RunRow | CellRow | ProcessRow | CodeRow | VerdictRow | AnomalyRow
TABLES: Mapping[str, type[Row]] = {
    "runs": RunRow,
    "cells": CellRow,
    "processes": ProcessRow,
    "code": CodeRow,
    "verdicts": VerdictRow,
    "anomalies": AnomalyRow,
}
_SQL = {str: "VARCHAR", int: "BIGINT", float: "DOUBLE", bool: "BOOLEAN"}


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    name: str
    sql: str
    meaning: str


def columns(kind: type[Row]) -> list[Column]:
    hints = typing.get_type_hints(kind, include_extras=True)
    return [
        Column(name, _sql_of(hint.__origin__), hint.__metadata__[0]) for name, hint in hints.items()
    ]


def _sql_of(hint: Any) -> str:
    if typing.get_origin(hint) is tuple:
        return f"{_SQL[typing.get_args(hint)[0]]}[]"
    if isinstance(hint, types.UnionType):
        (hint,) = (arg for arg in typing.get_args(hint) if arg is not types.NoneType)
    return _SQL[hint]
