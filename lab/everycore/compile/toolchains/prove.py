# SPDX-License-Identifier: MIT
"""The proof that a compiler works: it compiles a small program, which is linked and run."""

import tempfile
from pathlib import Path

from everycore.compile.toolchains.answers import COMPILED
from everycore.compile.toolchains.host import runs_here
from everycore.compile.toolchains.link import find_linker
from everycore.environment.context import Completed, Context
from everycore.environment.errors import EverycoreError
from everycore.model.domain import Target

RAN = "ran"
MAIN = """\
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
uint32_t evc_probe(const uint8_t *bytes, size_t n_bytes);
int main(void)
{
    uint8_t bytes[256];
    for (int i = 0; i < 256; i++)
        bytes[i] = (uint8_t)(i & -4);
    bytes[0] = bytes[1] = bytes[2] = bytes[3] = 1;
    printf("%08lx\\n", (unsigned long)evc_probe(bytes, sizeof bytes));
    return 0;
}
"""


def expected() -> str:
    """Return the program's expected output, whatever the byte order: the bytes of each word are
    equal."""
    total = 0
    for i in range(0, 256, 4):
        word = (i or 1) * 0x01010101
        total = ((total << 5 | total >> 27) & 0xFFFFFFFF) ^ word
    return f"{total:08x}"


def prove(context: Context, target: Target, command: tuple[str, ...]) -> str:
    """Return how far the proof came: "ran", or what was missing here to go further.

    The compiler makes an object; what links it, and the rest of the program, is this machine's.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made, program = folder / "probe.o", folder / "probe"
        words = ["-O2", "-fno-pie", "-c", "-x", "c", "-", "-o", str(made)]
        done = context.runner.run([*command, *words], stdin=COMPILED)
        _expect(done, command, target, "compiles nothing")
        linker = find_linker(context, target, [command])
        if linker is None:
            return f"compiled; nothing here links for {target.name}"
        (folder / "main.c").write_text(MAIN)
        argv = [*linker.command, *target.compile_flags, str(folder / "main.c"), str(made)]
        flags = [*target.link_flags, "-no-pie"] if runs_here(target) else [*target.link_flags]
        done = context.runner.run([*argv, *flags, "-o", str(program)])
        _expect(done, command, target, "makes objects that cannot be linked")
        try:
            done = context.runner.run([*target.emulator, str(program)])
        except EverycoreError:
            return f"linked; no {target.emulator[0] if target.emulator else 'way'} to run it here"
        _expect(done, command, target, "makes programs that fail")
        if done.stdout.strip() != expected():
            raise EverycoreError(
                f"{command[0]} makes wrong programs for {target.name}:"
                f" {done.stdout.strip()}, not {expected()}"
            )
        return RAN


def _expect(done: Completed, command: tuple[str, ...], target: Target, failure: str) -> None:
    if done.code != 0:
        lines = done.stderr.strip().splitlines() or [f"it ended with {done.code}"]
        first = next((line for line in lines if "error" in line), lines[0])
        raise EverycoreError(f"{command[0]} {failure} for {target.name}: {first}")
