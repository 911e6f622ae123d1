# SPDX-License-Identifier: MIT
"""How many pointer authentication instructions a program executes: exact.

A patched emulator counts itself; others with a plugin, if their interface of plugins is there.
"""

import hashlib
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from everycore.context import Context
from everycore.errors import EverycoreError
from everycore.pauth.emulators import COUNTS, COUNTS_FORMAT, MODE, Emulator, clean
from everycore.pauth.programs import GUEST, Program
from everycore.whole import whole

SOURCE = GUEST / "count.c"
CPU = "max,pauth-impdef=on"  # the quickest that computes a code
# Versions of the plugin interface to try: QEMU 7.2 wants 1, later ones refuse that.
APIS = (1, 4)


@dataclass(frozen=True, slots=True)
class Count:
    """Of one run."""

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
            done = context.runner.run(clean([*emulator.argv, "-cpu", CPU, *words], settings))
            if done.code == 0 and to.is_file():
                return Count(own_count(to.read_bytes()), emulator.name)
            raise EverycoreError(f"{emulator.name} cannot count: {done.stderr.strip()}")
        for api in APIS:
            options = ["-cpu", CPU, "-plugin", f"{_plugin(context, api)},to={to}"]
            argv = clean([*emulator.argv, *options, *words], program.settings)
            done = context.runner.run(argv)
            if done.code == 0 and to.is_file():
                return Count(int(to.read_text(encoding="ascii")), emulator.name)
    said = done.stderr.strip() or f"it ended with {done.code}"
    raise EverycoreError(f"{emulator.name} cannot count: {said}")


def own_count(data: bytes) -> int:
    """What the file of a patched emulator says of instructions that compute a code."""
    _, adds, auths, generics, *_ = COUNTS_FORMAT.unpack(data)
    return int(adds + auths + generics)


def _plugin(context: Context, api: int) -> Path:
    compiler = context.env.get("CC") or "cc"
    argv = [compiler, "-O2", "-shared", "-fPIC", f"-DAPI={api}", str(SOURCE)]
    digest = hashlib.sha256(" ".join(argv).encode() + SOURCE.read_bytes()).hexdigest()
    path = context.cache_dir() / "pauth" / f"count-{digest[:32]}.so"
    if not path.is_file():
        with whole(path) as scratch:
            done = context.runner.run([*argv, "-o", str(scratch)])
            if done.code:
                raise EverycoreError(f"{compiler} cannot build the counter", done.stderr[:2000])
    return path
