# SPDX-License-Identifier: MIT
"""Secrets as undefined data: valgrind's memcheck counts the branches and addresses made of them."""

import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from everycore.context import Context
from everycore.ct.plan import arguments_for
from everycore.errors import EverycoreError
from everycore.protocol import CtOperation, CtRun, Failure
from everycore.session import Session
from everycore.transport.valgrind import Valgrind
from everycore.verdicts import Verdict

# GCC 11 and clang 14 write DWARF 5 by default, which makes older valgrinds give up.
DEBUG_FLAGS = ("-g", "-gdwarf-4")
TAINT_FLAGS = ("-DEVC_TAINT",)


def has_valgrind(context: Context) -> bool:
    try:
        return context.runner.run(["valgrind", "--version"]).code == 0
    except EverycoreError:
        return False


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
    """As the harness writes it into memcheck's report."""
    return f"{line.primitive} {line.kernel} {line.operation} {line.key_bits}"


def _run(session: Session, arguments: Sequence[str]) -> tuple[dict[str, int], dict[str, str]]:
    """Errors by region, and why others have none; "": the reason of all that have no other.

    Of a run that ended early, what was done before counts; all else was not looked at.
    """
    errors: dict[str, int] = {}
    why = {"": "the harness did not run it under valgrind"}
    try:
        for record in session.records(*arguments):
            match record.line:
                case CtRun(errors=-1):
                    why[""] = "this harness does not mark its secrets"
                case CtRun() as line:
                    errors[_region(line)] = line.errors
                case CtOperation(runs=False) as line:
                    why[_region(line)] = f"valgrind has no {line.why.removeprefix('needs ')}"
                case Failure() as line:
                    why[""] = line.detail
    except EverycoreError as error:
        how = error.message.rpartition("` ")[2]  # behind the command line
        why[""] = f"the harness {how} under valgrind"
    return errors, why


def first_places(report: Path) -> dict[str, str]:
    """Memcheck's first error in each region: what it is, and where.

    The harness writes the name of a region into the report before it, and a word after it.
    Memcheck shows an error once for each distinct stack, so a region may have none of its own.
    """
    places: dict[str, str] = {}
    region = ""
    try:
        for _, element in ET.iterparse(report):
            if element.tag == "clientmsg":
                text = (element.findtext("text") or "").strip().removeprefix("ct: ")
                region = "" if text == "end" else text
            elif element.tag == "error" and region:
                places.setdefault(region, _place(element))
            if element.tag in ("clientmsg", "error"):
                element.clear()
    except (ET.ParseError, FileNotFoundError):  # cut short with the run
        pass
    return places


def _place(error: ET.Element) -> str:
    what = error.findtext("what") or error.findtext("kind") or "an error"
    frame = error.find("stack/frame")
    if frame is None:
        return what
    name = frame.findtext("fn") or frame.findtext("ip") or "somewhere"
    file, line = frame.findtext("file"), frame.findtext("line")
    return f"first in {name}{f' ({file}:{line})' if line else ''}: {what}"
