# SPDX-License-Identifier: MIT
"""Secrets as undefined data: valgrind's memcheck counts the branches and addresses made of them."""

import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from everycore.compile.toolchains import DEFAULT_FLAGS
from everycore.ct.run_plan import arguments_for
from everycore.ct.verdicts import Verdict, of_kernels
from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError
from everycore.model.protocol import CtOperation, CtRun, Failure
from everycore.run.session import HarnessDiedError, Session, open_session
from everycore.run.transport.valgrind import TAINT_FLAGS, Valgrind, has_valgrind

# GCC 11 and clang 14 write DWARF 5 by default, which makes older valgrinds give up.
DEBUG_FLAGS = ("-gdwarf-4", "-g1")


def open_watched(context: Context, target: str, cc: str | None, flags: str | None) -> Session:
    """Return a harness for all methods, so that what they say is of the same object code."""
    marks = TAINT_FLAGS if target == "host" and has_valgrind(context) else ()
    words = [" ".join(DEFAULT_FLAGS) if flags is None else flags, *DEBUG_FLAGS, *marks]
    return open_session(context, target, cc, " ".join(words), measures=True)


def taint(
    context: Context, session: Session, operations: Sequence[CtOperation], thorough: bool
) -> Iterator[Verdict]:
    """Verdicts on operations, in a harness with DEBUG_FLAGS and TAINT_FLAGS.

    One process looks at all kernels, for valgrind takes long to start. If it ends early, each
    kernel that it left has one of its own.
    """
    report = _look(context, session, operations, thorough)
    kernels = of_kernels(operations)
    again = report.is_cut_short and len(kernels) > 1
    for own in kernels:
        is_left = again and not all(_region(o) in report.errors for o in own)
        found = _look(context, session, own, thorough) if is_left else report
        yield from (found.verdict(operation) for operation in own)


def _region(line: CtOperation | CtRun) -> str:
    """Return the name of a region, as the harness writes it into memcheck's report."""
    return f"{line.primitive} {line.kernel} {line.operation} {line.key_bits}"


@dataclass(frozen=True, slots=True)
class _Report:
    """The result of one run under valgrind; of one that ended early, what was done before."""

    errors: Mapping[str, int]  # by region
    why: Mapping[str, str]  # a region has none; "": the reason of all that have no other
    places: Mapping[str, str]
    is_cut_short: bool

    def verdict(self, operation: CtOperation) -> Verdict:
        region = _region(operation)
        count = self.errors.get(region)
        if count is None:
            return Verdict(operation, "taint", "impossible", self.why.get(region, self.why[""]))
        if count == 0:
            return Verdict(operation, "taint", "pass")
        place = self.places.get(region, "")
        return Verdict(operation, "taint", "fail", f"{count} errors{place and f', {place}'}")


def _look(
    context: Context, session: Session, operations: Sequence[CtOperation], thorough: bool
) -> _Report:
    arguments = [*arguments_for(operations), *(["--thorough"] if thorough else [])]
    errors: dict[str, int] = {}
    why = {"": "the harness did not run it under valgrind"}
    is_cut_short = False
    with TemporaryDirectory() as folder:
        report = Path(folder) / "memcheck.xml"
        watched = replace(session, transport=Valgrind(context, report))
        try:
            for record in watched.records(*arguments):
                match record:
                    case CtRun(errors=-1):
                        why[""] = "this harness does not mark its secrets"
                    case CtRun() as line:
                        errors[_region(line)] = line.errors
                    case CtOperation(runs=False) as line:
                        why[_region(line)] = f"valgrind has no {line.why.removeprefix('needs ')}"
                    case Failure() as line:
                        why[""] = line.detail
                        is_cut_short = is_cut_short or bool(line.kernel)
        except EverycoreError as error:
            how = error.how if isinstance(error, HarnessDiedError) else error.message
            why[""] = f"the harness {how} under valgrind"
            is_cut_short = True
        places = first_places(report) if any(errors.values()) else {}
    return _Report(errors, why, places, is_cut_short)


@dataclass(frozen=True, slots=True)
class MemcheckError:
    """An error of a report."""

    kind: str  # "branch" or "address"; else memcheck's word
    what: str  # in memcheck's words
    address: int | None = None  # of the instruction, as it was loaded
    function: str = ""
    source: str = ""  # file:line, where debug information says

    def __str__(self) -> str:
        if self.address is None:
            return self.what
        where = self.function or f"{self.address:#x}"
        return f"first in {where}{f' ({self.source})' if self.source else ''}: {self.what}"


def first_places(report: Path) -> dict[str, str]:
    """Memcheck's first error in each region: what it is, and where."""
    return {region: str(error) for region, error in first_errors(report).items()}


def first_errors(report: Path) -> dict[str, MemcheckError]:
    """Memcheck's first error in each region.

    The program writes the name of a region into the report before it, and a word after it.
    Memcheck shows an error once for each distinct stack, so a region may have none of its own.
    "fatal": the signal that ended the program.
    """
    places: dict[str, MemcheckError] = {}
    region = ""
    try:
        for _, element in ET.iterparse(report):
            if element.tag == "clientmsg":
                text = (element.findtext("text") or "").strip().removeprefix("ct: ")
                region = "" if text == "end" else text
            elif element.tag == "error" and region:
                places.setdefault(region, _error(element))
            elif element.tag == "fatal_signal":
                places["fatal"] = _error(element)
            if element.tag in ("clientmsg", "error"):
                element.clear()
    except (ET.ParseError, FileNotFoundError):  # cut short with the run
        pass
    return places


_KINDS = {"UninitCondition": "branch", "UninitValue": "address"}


def _error(error: ET.Element) -> MemcheckError:
    kind = error.findtext("kind") or error.findtext("signame") or ""
    what = error.findtext("what") or kind or "an error"
    frame = error.find("stack/frame")
    if frame is None:
        return MemcheckError(_KINDS.get(kind, kind), what)
    file, line = frame.findtext("file"), frame.findtext("line")
    return MemcheckError(
        _KINDS.get(kind, kind),
        what,
        int(frame.findtext("ip") or "0", 16),
        frame.findtext("fn") or "",
        f"{file}:{line}" if line else "",
    )
