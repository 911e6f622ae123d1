# SPDX-License-Identifier: MIT
"""Jobs and their results, as lines of JSON.

A job is pure: it compiles, counts, traces, or looks for leaks, and its result depends on nothing
but its own members. So it may run twice, anywhere, and the results are the same. Nothing is timed.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeVar

from everycore.environment.decoding import decode_line, encode_line
from everycore.environment.errors import EverycoreError
from everycore.matrix.resolved_cell import ResolvedCell
from everycore.model.cells import Anomaly, Cell, Result

FORMAT = 1
T = TypeVar("T")


class Work(StrEnum):
    """Kinds of jobs."""

    COMPILE = "compile"  # and compare the answers: the program is the result
    COUNT = "count"  # instructions of one call, in an emulator
    TRACE = "trace"  # executed instructions by function
    CT = "ct"  # verdicts
    BISECT = "bisect"  # flags that repair an anomaly that needs no timing


@dataclass(frozen=True, slots=True)
class Job:
    """One piece of work on one cell."""

    work: Work
    cell: Cell
    everycore: str  # version of the client
    tree: str  # digest of its C tree
    flag_set: str = ""
    compiler: str = ""  # "gcc 12.2.0"; another one under its name is refused. Empty: any
    time_limit: float = 10.0
    subject_file: str = ""  # of a subject that is not in the tree: where all hosts have it
    machine: str = ""  # of cells of the host: the client's architecture, what native means there
    anomaly: Anomaly | None = None  # of bisect
    repairs: tuple[tuple[str, ...], ...] = ()  # of wrong answers: of other cells, tried first
    format: int = FORMAT

    @property
    def key(self) -> str:
        """A short name of its own: equal jobs have equal keys."""
        return hashlib.sha256(encode_line(self).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a job."""

    key: str
    host: str  # a digest of the host that did it
    result: Result | None = None
    functions: Mapping[str, int] | None = None  # of trace: executed instructions by symbol
    anomaly: Anomaly | None = None  # of bisect: with what was found
    said: str = ""  # of bisect: why the anomaly is none
    again: tuple[Result, ...] = ()  # of bisect: the cell and its neighbour, looked at again
    program: str = ""  # of compile: base64 of the program
    worker: str = ""  # with an error: the address of the worker
    error: str = ""  # the host could not do it, and another one may
    hint: str = ""
    format: int = FORMAT


def read_job(text: str) -> Job:
    return _read(Job, text, "job")


def read_answer(text: str) -> Answer:
    return _read(Answer, text, "result of a job")


@dataclass(frozen=True, slots=True)
class _Opening:
    format: int


def _read(kind: type[T], text: str, what: str) -> T:
    try:
        number = decode_line(_Opening, text).format
        if number != FORMAT:
            raise EverycoreError(
                f"the {what} has format {number}, this everycore reads format {FORMAT}",
                "client and workers need the same everycore",
            )
        found: T = decode_line(kind, text)
    except KeyError as error:
        raise EverycoreError(f"the {what} lacks '{error.args[0]}'") from error
    except (TypeError, ValueError) as error:
        raise EverycoreError(f"this is no {what}: {error}") from error
    return found


def jobs_of(planned: ResolvedCell, common: Job, with_ct: bool) -> list[Job]:
    """Return the jobs of a cell; those of a skipped one are none. `common`: a job whose members
    they share."""
    if planned.why_not:
        return []
    first = Work.COUNT if planned.target.transport == "qemu" else Work.COMPILE
    own = replace(
        common,
        cell=planned.cell,
        flag_set=planned.flag_set,
        compiler=planned.compiler_title,
        work=first,
    )
    return [own, *([replace(own, work=Work.CT)] if with_ct else [])]
