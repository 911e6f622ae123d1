# SPDX-License-Identifier: MIT
"""Find the programs that a compiler needs: its driver, the programs this starts, and their
libraries.

An upgrade may change any of them and leave the rest: gcc is a small driver of cc1, and Debian's
clang one of libLLVM. Which files those are is asked once; whether they have changed, each time.
"""

import hashlib
import json
import os
import re
import shlex
import shutil
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from everycore.environment.atomic import atomic_write
from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError
from everycore.environment.workers import worker_pool

FILE = "toolchains/programs.json"
FORMAT = 1
SCRIPT_BYTES = 1 << 14  # a compiler is larger
# A line of ldd: "libisl.so.23 => /lib/libisl.so.23 (0x...)", and the loader without an arrow.
_LIBRARY = re.compile(r"^\s+(?:\S+ => )?(/.+) \(0x[0-9a-f]+\)$", re.MULTILINE)


def state_of(context: Context, command: Sequence[str]) -> str:
    """A digest that changes with a command and with all files that it is made of."""
    (state,) = states_of(context, [command]).values()
    return state


def states_of(context: Context, commands: Iterable[Sequence[str]]) -> dict[tuple[str, ...], str]:
    """Return the states of many commands, which are asked at the same time."""
    wanted = list(dict.fromkeys(tuple(command) for command in commands))
    known = _remembered(context)
    keys = {command: _key(context, command) for command in wanted}
    new = [command for command in wanted if not _all_there(known.get(keys[command]))]
    asked = _ask(context, new)
    fresh = {keys[command]: files for command, files in asked.items()}
    if fresh:
        _remember(context, fresh)
    files = known | fresh
    every = dict.fromkeys(path for key in keys.values() for path in files.get(key, ()))
    states = {path: _state(Path(path)) for path in every}
    return {
        command: _digest([key, *(states[path] for path in files.get(key, ()))])
        for command, key in keys.items()
    }


def _all_there(files: Sequence[str] | None) -> bool:
    return files is not None and all(Path(path).exists() for path in files)


def _ask(context: Context, commands: Sequence[tuple[str, ...]]) -> dict[tuple[str, ...], list[str]]:
    """Ask those that are compilers, and can be started; many of them share programs."""
    with worker_pool() as pool:
        answers = list(pool.map(lambda words: _programs(context, words), commands))
        every = list(dict.fromkeys(path for programs in answers for path in programs or ()))
        shared = dict(
            zip(every, pool.map(lambda program: _libraries(context, program), every), strict=True)
        )
    return {
        command: list(
            dict.fromkeys([*programs, *(lib for program in programs for lib in shared[program])])
        )
        for command, programs in zip(commands, answers, strict=True)
        if programs is not None
    }


def _programs(context: Context, command: Sequence[str]) -> list[str] | None:
    words = ["-###", "-x", "c", "-c", os.devnull, "-o", os.devnull]
    try:
        done = context.runner.run([*command, *words])
    except EverycoreError:
        return None
    if done.code != 0:
        return None
    found = [_which(context, word) for word in _started(done.stderr)]
    programs = [path for path in found if path]
    # The other compiler proper of gcc's, which -flto starts.
    programs += [lto for path in programs if (lto := path.with_name("lto1")).is_file()]
    return [str(path) for path in programs]


def _started(output: str) -> list[str]:
    """The first words of the commands that -### shows, each on a line that begins with a space."""
    found = re.findall(r"^COLLECT_GCC=(.+)$", output, re.MULTILINE)
    for line in output.splitlines():
        with suppress(ValueError, IndexError):  # a quote without its end; an empty line
            if line.startswith(" "):
                found.append(shlex.split(line)[0])
    return list(dict.fromkeys(found))


def _libraries(context: Context, program: str) -> list[str]:
    """Return the libraries, as the loader of this system finds them; none of a static program."""
    try:
        done = context.runner.run(["ldd", program])
    except EverycoreError:  # there is no ldd
        return []
    return [path for path in _LIBRARY.findall(done.stdout) if Path(path).is_file()]


def _which(context: Context, word: str) -> Path | None:
    where = shutil.which(word, path=context.env.get("PATH", os.defpath))
    return Path(where) if where else None


def _key(context: Context, command: Sequence[str]) -> str:
    """Changes with the command and with the file that it starts."""
    driver = _which(context, command[0])
    return _digest([*command, _state(driver) if driver else ""])


def _state(path: Path) -> str:
    """Return what changes with a file: a digest of the text of a script, which may be written
    again unchanged; else size and time."""
    with suppress(OSError):
        status = path.stat()
        if status.st_size < SCRIPT_BYTES:
            return hashlib.sha256(path.read_bytes()).hexdigest()
        return f"{path.resolve()} {status.st_size} {status.st_mtime_ns}"
    return ""


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _remembered(context: Context) -> dict[str, list[str]]:
    with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
        table = json.loads((context.cache_dir() / FILE).read_text(encoding="utf-8"))
        if table["format"] == FORMAT:
            return {
                str(key): [str(path) for path in files] for key, files in table["files"].items()
            }
    return {}


def _remember(context: Context, fresh: dict[str, list[str]]) -> None:
    """Another run may do the same at this moment: what is lost is asked again."""
    every = _remembered(context) | fresh
    here = {key: files for key, files in every.items() if _all_there(files)}
    with atomic_write(context.cache_dir() / FILE) as scratch:
        scratch.write_text(json.dumps({"format": FORMAT, "files": here}), encoding="utf-8")
