# SPDX-License-Identifier: MIT
"""Find the flags that a compiler takes; each set is asked once, and the answer kept in the
cache."""

import hashlib
import re
import signal
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from everycore.compile.binaries import meaning_of_native
from everycore.compile.refusals import MAKE_ROOM, full_disk, is_passing
from everycore.environment.atomic import atomic_write
from everycore.environment.context import Context
from everycore.environment.errors import CannotRunError, cannot_write
from everycore.model.domain import Compiler

TIME_LIMIT_SECONDS = 20.0
_ERROR = re.compile(r"^.*\berror: (.+)$", re.MULTILINE)
_WARNING = re.compile(r"^.*\bwarning: (.+)$", re.MULTILINE)

_OF_THIS_RUN: dict[Path, str] = {}  # answers that are not kept


def refusal(context: Context, compiler: Compiler, flags: Sequence[str]) -> str:
    """Return what a compiler says against flags; empty: it takes them.

    One that warns of a flag and goes on without has refused it: the cell would bear a false name.
    """
    said = _asked(context, compiler, tuple(flags)) if flags else ""
    return f"{compiler.name} refuses {' '.join(flags)}: {said}" if said else ""


def takes(context: Context, compiler: Compiler, flag: str) -> bool:
    return not _asked(context, compiler, (flag,))


def _asked(context: Context, compiler: Compiler, flags: tuple[str, ...]) -> str:
    native = meaning_of_native(context, compiler, flags)
    text = "\0".join([compiler.fingerprint, *flags, native])
    key = hashlib.sha256(text.encode()).hexdigest()
    path = context.cache_dir() / "flags" / key[:32]
    with suppress(OSError):
        return path.read_text(encoding="utf-8")
    if path not in _OF_THIS_RUN:
        said, final = _ask(context, compiler, flags)
        if final:
            with atomic_write(path) as scratch:
                scratch.write_text(said, encoding="utf-8")
            return said
        _OF_THIS_RUN[path] = said
    return _OF_THIS_RUN[path]


def _ask(context: Context, compiler: Compiler, flags: tuple[str, ...]) -> tuple[str, bool]:
    """By a file of nearly nothing, so that whatever is said is said of the flags.

    Whether it would be said again, too.
    """
    try:
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "probe.c"
            source.write_text(
                "int probe(int x);\nint probe(int x) { return x; }\n", encoding="ascii"
            )
            argv = [*compiler.command, *flags, "-c", source.name, "-o", "probe.o"]
            done = context.runner.run(argv, cwd=source.parent, seconds=TIME_LIMIT_SECONDS)
    except TimeoutError:
        return f"no answer in {TIME_LIMIT_SECONDS:.0f} s", False
    except CannotRunError as error:
        return error.message, False
    except OSError as error:
        raise cannot_write("a temporary file", error, f"{MAKE_ROOM}; --resume goes on") from error
    if done.code < 0:
        return signal.strsignal(-done.code) or f"signal {-done.code}", False
    if done.code:
        if full := full_disk(f"{compiler.name} cannot try flags", done.stderr):
            raise full
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        found = _ERROR.search(done.stderr)
        said = found[1] if found else next(iter(lines), f"exit code {done.code}")
        return said, not is_passing(done.stderr)
    found = _WARNING.search(done.stderr)
    return (found[1] if found else ""), True
