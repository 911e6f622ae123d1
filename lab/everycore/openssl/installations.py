# SPDX-License-Identifier: MIT
"""OpenSSL's libraries and programs on this machine, asked by running them."""

import json
import re
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from everycore.environment.context import Completed, Context
from everycore.environment.errors import EverycoreError
from everycore.openssl import provider_probe

OLDEST = (3, 0)
SECONDS = 60


@dataclass(frozen=True, slots=True)
class Answer:
    """Facts that a libcrypto tells of itself, under an environment."""

    library: str
    version: str  # "OpenSSL 3.0.19 27 Jan 2026"
    directory: str = ""  # where openssl.cnf is
    modules: str = ""  # where it looks for providers
    providers: Mapping[str, str] = field(default_factory=dict)  # of algorithms; "": none has it


def _run(context: Context, words: list[str], environment: Mapping[str, str]) -> Completed:
    """Run a program to its end, under an environment of its own."""
    given = [f"{name}={value}" for name, value in environment.items()]
    try:
        return context.runner.run(["env", "-i", *given, *words], seconds=SECONDS)
    except TimeoutError:
        raise EverycoreError(f"{words[0]} does not end") from None


def ask(context: Context, library: str, environment: Mapping[str, str]) -> Answer:
    """Load a libcrypto into a process of its own, and ask it who serves its algorithms."""
    # -I: nothing of the user's Python; the script is a file of this package.
    done = _run(
        context, [sys.executable, "-I", str(Path(provider_probe.__file__)), library], environment
    )
    if done.code:
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise EverycoreError(
            f"{library} cannot be asked: {last}", "it may be of another architecture or C library"
        )
    found = json.loads(done.stdout)
    return Answer(
        library,
        found["openssl"],
        found["directory"],
        found.get("modules", ""),
        found["algorithms"],
    )


def version_of(answer: Answer) -> tuple[int, int]:
    match = re.match(r"OpenSSL (\d+)\.(\d+)", answer.version)
    return (int(match[1]), int(match[2])) if match else (0, 0)


def refuse_old(answer: Answer) -> None:
    if version_of(answer) < OLDEST:
        raise EverycoreError(
            f"{answer.library} is {answer.version}; providers need OpenSSL 3.0 or newer",
            "nothing is changed",
        )


def executable(name: str, environment: Mapping[str, str]) -> Path:
    """Return the file of a program by its name or path."""
    found = shutil.which(name, path=environment.get("PATH", "") + ":/usr/sbin:/sbin")
    if not found:
        raise EverycoreError(f"no program '{name}'", "name one that is in PATH, or a path")
    return Path(found)


def libcrypto_of(context: Context, program: Path) -> str | None:
    """Return the libcrypto that the dynamic linker loads for a program. None: it loads none."""
    said = _run(context, ["ldd", str(program)], context.env).stdout
    match = re.search(r"libcrypto\.so\S* => (\S+)", said)
    return match[1] if match else None


def provider_version(context: Context, program: Path, configuration: Path) -> str:
    """Return the version of the provider that a configuration activates; empty: it does not."""
    done = _listed(context, program, configuration)
    match = re.search(r"name: everycore AES\s+version: (\S+)", done.stdout)
    return match[1] if match else ""


def complaint(context: Context, program: Path, configuration: Path) -> str:
    """Return the last error that OpenSSL tells of a configuration; empty: it tells none."""
    lines = _listed(context, program, configuration).stderr.splitlines()
    return next((line.strip() for line in reversed(lines) if "error:" in line), "")


def _listed(context: Context, program: Path, configuration: Path) -> Completed:
    words = [str(program), "list", "-providers"]
    return _run(context, words, {**context.env, "OPENSSL_CONF": str(configuration)})
