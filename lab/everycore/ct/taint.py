# SPDX-License-Identifier: MIT
"""Secrets as undefined data: valgrind's memcheck counts the branches and addresses made of them."""

import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from everycore.ct.run_plan import arguments_for
from everycore.ct.verdicts import Verdict
from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError
from everycore.model.protocol import CtOperation, CtRun, Failure
from everycore.run.session import HarnessDiedError, Session
from everycore.run.transport.valgrind import Valgrind

# GCC 11 and clang 14 write DWARF 5 by default, which makes older valgrinds give up.
DEBUG_FLAGS = ("-gdwarf-4", "-g1")


def taint(
    context: Context, session: Session, operations: Sequence[CtOperation], thorough: bool
) -> Iterator[Verdict]:
    """Verdicts on operations of one kernel, in a harness with DEBUG_FLAGS and TAINT_FLAGS."""
    arguments = [*arguments_for(operations), *(["--thorough"] if thorough else [])]
    with TemporaryDirectory() as folder:
        report = Path(folder) / "memcheck.xml"
        errors, why = _run(replace(session, transport=Valgrind(context, report)), arguments)
        places = first_places(report) if any(errors.values()) else {}
    for operation in operations:
        region = _region(operation)
        count = errors.get(region)
        if count is None:
            yield Verdict(operation, "taint", "impossible", why.get(region, why[""]))
        elif count == 0:
            yield Verdict(operation, "taint", "pass")
        else:
            place = places.get(region, "")
            yield Verdict(operation, "taint", "fail", f"{count} errors{place and f', {place}'}")


def _region(line: CtOperation | CtRun) -> str:
    """Return the name of a region, as the harness writes it into memcheck's report."""
    return f"{line.primitive} {line.kernel} {line.operation} {line.key_bits}"


def _run(session: Session, arguments: Sequence[str]) -> tuple[dict[str, int], dict[str, str]]:
    """Errors by region, and why others have none; "": the reason of all that have no other.

    Of a run that ended early, what was done before counts; all else was not looked at.
    """
    errors: dict[str, int] = {}
    why = {"": "the harness did not run it under valgrind"}
    try:
        for record in session.records(*arguments):
            match record:
                case CtRun(errors=-1):
                    why[""] = "this harness does not mark its secrets"
                case CtRun() as line:
                    errors[_region(line)] = line.errors
                case CtOperation(runs=False) as line:
                    why[_region(line)] = f"valgrind has no {line.why.removeprefix('needs ')}"
                case Failure() as line:
                    why[""] = line.detail
    except EverycoreError as error:
        how = error.how if isinstance(error, HarnessDiedError) else error.message
        why[""] = f"the harness {how} under valgrind"
    return errors, why


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
