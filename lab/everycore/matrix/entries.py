# SPDX-License-Identifier: MIT
"""Find the functions of a subject's own files that its adapter reaches, through pointers as well.

Seen once, in a traced call of a reference build; their names are the same in every cell.
"""

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from everycore import subjects
from everycore.binary.frames import plain_name
from everycore.binary.objects import Object
from everycore.environment.context import Context
from everycore.environment.errors import MissingPackagesError
from everycore.model.domain import Target, Tree
from everycore.subjects import Function, Subject, SubjectUnavailableError, WrongAnswersError
from everycore.subjects.reference import FLAGS
from everycore.trace.record import UntraceableError

SHORT_BYTES = 16


def entries(
    context: Context, tree: Tree, subject: Subject, function: Function, target: Target
) -> tuple[str, ...]:
    """Names in the order of their first call; none where programs cannot be traced at all.

    Any other error is the caller's to tell.
    """
    size = function.length_from(SHORT_BYTES)
    try:
        program = subjects.build(context, tree, subject, target_name=target.name)
        key_bits = function.key_bits[0]
        try:
            (call,) = subjects.trace(context, program, function, key_bits, [size])
        except WrongAnswersError:  # a build that others are held against may be right
            program = subjects.build(context, tree, subject, flags=FLAGS, target_name=target.name)
            (call,) = subjects.trace(context, program, function, key_bits, [size])
    except (UntraceableError, MissingPackagesError, SubjectUnavailableError):
        return ()
    theirs = functions_of(
        subjects.objects(context, subject, program.compiler, program.flags, target)
    )
    image = call.trace.program.image
    return entered(map(image.place, call.trace.pcs()), theirs)


def functions_of(paths: Sequence[Path]) -> set[str]:
    return {symbol.name for path in paths for symbol in Object(path).functions}


def entered(places: Iterable[str], theirs: Collection[str]) -> tuple[str, ...]:
    """Return the functions among `theirs` that others call, from executed places
    ("symbol+0x10")."""
    found: dict[str, None] = {}
    inside = False
    for place in places:
        name, _, offset = place.partition("+")
        if name in theirs and not inside and int(offset.split()[0], 16) == 0:
            found[plain_name(name)] = None
        inside = name in theirs
    return tuple(found)
