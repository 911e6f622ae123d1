# SPDX-License-Identifier: MIT
"""Other people's kernels, measured in place: built from their own sources, called by a driver.

A subject is a file subjects/NAME.toml: where the sources are (a Debian source package, pinned by a
lock file beside it), what is compiled, and which functions are called by its adapter, a C file of
ours. Nothing of the sources is kept but in the cache.

    subject = find_subject(tree, "linux-arm64")
    ctr = subject.function("bitslice-ctr")
    program = build(context, tree, subject)  # SubjectUnavailableError: to be skipped, and told
    check(context, program, ctr)
    short, long = trace(context, program, ctr, 128, [512, 4096])
    long.instructions, long.per_byte, long.pcs  # theirs alone, whole message
    steady(context, program, ctr, 128).per_byte  # what more bytes cost

Every answer is compared with that of c_ref, in the traced run too; a wrong one is an error.
"""

from everycore.subjects.assemble import Program, SubjectUnavailableError, build
from everycore.subjects.count import STEP_BYTES, Call, Steady, check, steady, trace
from everycore.subjects.describe import Function, Subject, find_subject, load_subjects

__all__ = [
    "STEP_BYTES",
    "Call",
    "Function",
    "Program",
    "Steady",
    "Subject",
    "SubjectUnavailableError",
    "build",
    "check",
    "find_subject",
    "load_subjects",
    "steady",
    "trace",
]
