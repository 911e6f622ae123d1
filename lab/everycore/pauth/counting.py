# SPDX-License-Identifier: MIT
"""How many pointer authentication instructions a program executes: exact.

A patched emulator counts itself; others with a plugin, if their interface of plugins is there.
"""

import hashlib
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from everycore.environment.atomic import atomic_write
from everycore.environment.context import Completed, Context
from everycore.environment.errors import EverycoreError
from everycore.pauth.emulators import COUNTS, COUNTS_FORMAT, COUNTS_MAGIC, MODE, Emulator, clean
from everycore.pauth.interleaved_runs import LIMIT_SECONDS
from everycore.pauth.programs import GUEST, Program

SOURCE = GUEST / "count.c"
CPU = "max,pauth-impdef=on"  # the quickest that computes a code
# Versions of the plugin interface, the newest first: a later QEMU may take an earlier version, but
# since 3 has other arguments (qemu-plugin.h, its list of versions).
APIS = (4, 3, 2, 1)
REFUSED = "API version"


@dataclass(frozen=True, slots=True)
class Count:
    """The count of one run."""

    computed: int  # instructions that compute a code, to add or to check it
    by: str  # which emulator counted


def counter(emulators: Sequence[Emulator]) -> Emulator | None:
    """The first that can count."""
    return next((emulator for emulator in emulators if emulator.counts), None)


def count(context: Context, emulator: Emulator, program: Program, scale: float) -> Count:
    """Run a program once."""
    words = program.words(scale)
    with tempfile.TemporaryDirectory() as folder:
        to = Path(folder, "count")
        if emulator.is_patched:
            settings = {**program.settings, MODE: "memo", COUNTS: str(to)}
            argv = clean([*emulator.argv, "-cpu", CPU, *words], settings)
            return _counted(emulator, _run(context, emulator, argv), to, own_count)
        for api in APIS:
            options = ["-cpu", CPU, "-plugin", f"{_plugin(context, api)},to={to}"]
            argv = clean([*emulator.argv, *options, *words], program.settings)
            done = _run(context, emulator, argv)
            if done.code == 0 or REFUSED not in done.stderr:
                break
        return _counted(emulator, done, to, int)


def _run(context: Context, emulator: Emulator, argv: Sequence[str]) -> Completed:
    try:
        return context.runner.run(argv, seconds=LIMIT_SECONDS)
    except TimeoutError:
        raise EverycoreError(
            f"{emulator.name} cannot count: it took more than {LIMIT_SECONDS} seconds"
        ) from None


def _counted(emulator: Emulator, done: Completed, to: Path, read: Callable[[bytes], int]) -> Count:
    """Read the file that an emulator that has ended wrote."""
    if done.code or not to.is_file():
        said = done.stderr.strip() or f"it ended with {done.code}, and wrote no counts"
        raise EverycoreError(f"{emulator.name} cannot count: {said}")
    try:
        return Count(read(to.read_bytes()), emulator.name)
    except ValueError:
        raise EverycoreError(
            f"{emulator.name} cannot count: what it wrote is not a count", "is the disk full?"
        ) from None


def own_count(data: bytes) -> int:
    """Read the number of instructions that compute a code from the file of a patched emulator."""
    if len(data) != COUNTS_FORMAT.size or not data.startswith(COUNTS_MAGIC):
        raise ValueError("no file of counts")
    _, adds, auths, generics, *_ = COUNTS_FORMAT.unpack(data)
    return int(adds + auths + generics)


def _plugin(context: Context, api: int) -> Path:
    compiler = context.env.get("CC") or "cc"
    argv = [compiler, "-O2", "-shared", "-fPIC", f"-DAPI={api}", str(SOURCE)]
    digest = hashlib.sha256(" ".join(argv).encode() + SOURCE.read_bytes()).hexdigest()
    path = context.cache_dir() / "pauth" / f"count-{digest[:32]}.so"
    if not path.is_file():
        with atomic_write(path) as scratch:
            done = context.runner.run([*argv, "-o", str(scratch)])
            if done.code:
                raise EverycoreError(f"{compiler} cannot build the counter", done.stderr[:2000])
    return path
