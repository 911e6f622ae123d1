# SPDX-License-Identifier: MIT
"""Answers of compilers about themselves, asked once: a compiler that has not changed says it
again."""

import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from everycore.compile.toolchains.compiler_programs import states_of
from everycore.compile.toolchains.find import dotted, identify
from everycore.environment.atomic import atomic_write
from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError
from everycore.environment.progress import Progress
from everycore.environment.workers import worker_pool
from everycore.model.domain import Compiler

FILE = "toolchains/answers.json"
FORMAT = 1
UNKNOWN_TARGET = "unknown target triple"  # as clang says it

# Both kinds of header that a kernel may ask for: the compiler's own, and those of the C library.
COMPILED = """\
#include <stddef.h>
#include <stdint.h>
#include <string.h>
uint32_t evc_probe(const uint8_t *bytes, size_t n_bytes)
{
    uint32_t sum = 0;
    for (size_t i = 0; i + sizeof sum <= n_bytes; i += sizeof sum) {
        uint32_t word;
        memcpy(&word, bytes + i, sizeof word);
        sum = (sum << 5 | sum >> 27) ^ word;
    }
    return sum;
}
"""


@dataclass(frozen=True, slots=True)
class Answer:
    """A compiler that compiles, and what it is; a clang that does not know its target has no
    family.
    """

    command: tuple[str, ...]
    family: str
    version: tuple[int, ...]
    fingerprint: str

    @property
    def compiler(self) -> Compiler:
        name = f"{self.family} {dotted(self.version)}".strip()
        return Compiler(self.command, name, self.fingerprint)


def ask_all(context: Context, commands: Iterable[Sequence[str]]) -> list[Answer]:
    """The answers of those that compile a small file, in their order.

    The first word of a command is a path. Of those that compile nothing, a clang that does not know
    its target alone is remembered: what another one lacks, such as headers, may be installed at any
    time.
    """
    wanted = list(dict.fromkeys(tuple(command) for command in commands))
    known = _remembered(context)
    keys = states_of(context, wanted)
    new = [command for command in wanted if keys[command] not in known]
    asked: dict[tuple[str, ...], Answer | None] = {}
    with (
        Progress(context.err, "asking compilers what they are", len(new)) as progress,
        worker_pool() as pool,
    ):
        for command, answer in zip(
            new, pool.map(lambda words: _ask(context, words, keys[words]), new), strict=True
        ):
            asked[command] = answer
            progress.step(Path(command[0]).name)
    fresh = {keys[command]: answer for command, answer in asked.items() if answer}
    if fresh:
        _remember(context, fresh)
    found = known | fresh
    answers = (found.get(keys[command]) for command in wanted)
    return [answer for answer in answers if answer and answer.family]


def _ask(context: Context, command: tuple[str, ...], state: str) -> Answer | None:
    run = context.runner.run
    try:
        macros = run([*command, "-dM", "-E", "-x", "c", os.devnull])
        if macros.code != 0:
            return Answer(command, "", (), "") if UNKNOWN_TARGET in macros.stderr else None
        with tempfile.TemporaryDirectory() as folder:
            words = ["-O1", "-c", "-x", "c", "-", "-o", str(Path(folder, "probe.o"))]
            if run([*command, *words], stdin=COMPILED).code != 0:
                return None
    except EverycoreError:  # it cannot be started
        return None
    family, version = identify(macros.stdout)
    parts = [*command, macros.stdout, state]
    return Answer(command, family, version, hashlib.sha256("\0".join(parts).encode()).hexdigest())


def _remembered(context: Context) -> dict[str, Answer]:
    with suppress(OSError, ValueError, KeyError, TypeError):
        table = json.loads((context.cache_dir() / FILE).read_text(encoding="utf-8"))
        if table["format"] == FORMAT:
            return {key: _answer(item) for key, item in table["answers"].items()}
    return {}


def _answer(item: Mapping[str, list[str]]) -> Answer:
    version = tuple(int(part) for part in item["version"])
    return Answer(tuple(item["command"]), str(item["family"]), version, str(item["fingerprint"]))


def _remember(context: Context, fresh: dict[str, Answer]) -> None:
    """Another run may do the same at this moment: what is lost is asked again."""
    anew = {answer.command for answer in fresh.values()}
    known = _remembered(context)
    every = {key: answer for key, answer in known.items() if answer.command not in anew} | fresh
    here = {
        name for name in {answer.command[0] for answer in every.values()} if Path(name).exists()
    }
    answers = {key: asdict(answer) for key, answer in every.items() if answer.command[0] in here}
    with atomic_write(context.cache_dir() / FILE) as scratch:
        scratch.write_text(json.dumps({"format": FORMAT, "answers": answers}), encoding="utf-8")
