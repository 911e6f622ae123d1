# SPDX-License-Identifier: MIT
"""Run a static program for Linux on IBM Z. TYPE: the machine type that Hercules shows, for example
2827. SEED: not 0; instructions that encrypt or hash end early then, after as many blocks as a
generator says. With the type of a z14 or later, a model (z14.c) serves the instruction KMA.
"""

import argparse
import re
import shutil
import sys
import tempfile
from pathlib import Path

from everycore.binary.elf import Elf
from everycore.environment.context import SystemRunner
from everycore.environment.errors import EverycoreError
from everycore.run.hercules.guest_image import ERR, FILES, MEMORY_MIB, OUT, lay_out, output

HERE = Path(__file__).parent
COMPILERS = ("s390x-linux-gnu-gcc", "gcc")
FLAGS = (
    "-O2", "-march=z900", "-ffreestanding", "-fno-pie", "-no-pie", "-fno-stack-protector",
    "-fno-tree-loop-distribute-patterns", "-msoft-float", "-nostdlib", "-static",
    "-Wl,--build-id=none", "-Wl,--no-warn-rwx-segments",
)  # fmt: skip
SECONDS = 3600
WITH_KMA = {"3906", "3907", "8561", "8562", "3931", "3932"}  # z14, z15, z16, and their small ones
# Ends that supervisor.c and entry.S tell by the address at which the CPU waits.
EXIT_AT, KILLED_AT, FULL_AT, ASKS_AT = 0x1000, 0x2000, 0x3000, 0x4000
CONFIGURATION = """\
ARCHMODE z/Arch
CPUMODEL {cpu}
MAINSIZE {memory}
NUMCPU 1
PANRATE SLOW
OSTAILOR QUIET
000C 3505 {reader} ascii
"""
# Hercules may miss a rule when its CPU waits, or not end by `quit`, once in some hundred runs. It
# is killed 10 seconds after the CPU has begun to wait.
WATCHED = """\
"$@" > log 2>&1 < /dev/null & machine=$!; turns=0
while kill -0 $machine 2> /dev/null; do
    sleep 0.05
    ! grep -q HHCCP011I log || turns=$((turns + 1))
    [ $turns -lt 200 ] || kill -9 $machine
done
cat log
"""
TRIES = 3
WAITS = re.compile(r"PSW=0002000[01] 80000000 ([0-9A-F]{16})")  # a wait that nothing ends
SAVED = re.compile(r"HHC\w*N170I")


def run(cpu: str, program: Path, arguments: list[str], seed_of_parts: int = 0) -> int:
    """Run a program, copy what it wrote, and return its exit code.

    The machine cannot wait for input. A program that reads the standard input is run once more with
    all of it.
    """
    code, memory = _run_once(cpu, program, arguments, None, seed_of_parts)
    if code is None:
        given = sys.stdin.buffer.read()
        code, memory = _run_once(cpu, program, arguments, given, seed_of_parts)
    assert code is not None
    sys.stdout.buffer.write(output(memory, OUT))
    sys.stdout.flush()
    sys.stderr.buffer.write(output(memory, ERR))
    return code


def _run_once(
    cpu: str, program: Path, arguments: list[str], given: bytes | None, seed_of_parts: int
) -> tuple[int | None, bytes]:
    """Return the exit code, None if the program asks for input, and the memory from ERR on."""
    hercules = shutil.which("hercules")
    if not hercules:
        raise EverycoreError("there is no hercules", "apt-get install hercules")
    runner = SystemRunner()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        supervisor = _supervisor(runner, folder)
        commands = []
        pieces = lay_out(supervisor, program, arguments, given, seed_of_parts, cpu in WITH_KMA)
        for number, piece in enumerate(pieces):
            (folder / f"piece{number}").write_bytes(piece.data)
            commands.append(f"loadcore piece{number} {piece.address:x}")
        # Rules of an operator. The CPU waits (HHCCP011I): the output is saved, again if the CPU had
        # not stopped yet (HHCPN102E), and then (HHCPN170I) the machine is shut down. A rule is a
        # message, too, and must not match itself.
        save = f"savecore memory {ERR:x} {FILES - 1:x}"
        for message, command in (("P01[1]I", save), ("N10[2]E", save), ("N17[0]I", "quit")):
            commands += [f"hao tgt HHC.*{message}", f"hao cmd {command}"]
        (folder / "begin").write_text("\n".join([*commands, "restart"]) + "\n")
        (folder / "reader").write_text("\n")
        (folder / "machine").write_text(
            CONFIGURATION.format(cpu=cpu, memory=MEMORY_MIB, reader="reader")
        )
        for _ in range(TRIES):
            log = _run_machine(runner, hercules, folder)
            if SAVED.search(log) or not WAITS.search(log):
                break
        if not (folder / "memory").exists():
            raise EverycoreError(f"hercules did not run:\n{log[-6000:]}")
        return _exit_code(log), (folder / "memory").read_bytes()


def _run_machine(runner: SystemRunner, hercules: str, folder: Path) -> str:
    words = ["env", "HERCULES_RC=begin", "sh", "-c", WATCHED, "sh", hercules, "-d", "-f", "machine"]
    try:
        done = runner.run(words, cwd=folder, seconds=SECONDS)
    except TimeoutError:
        raise EverycoreError(f"the program did not end within {SECONDS} seconds") from None
    return done.stdout + done.stderr


def _exit_code(log: str) -> int | None:
    found = WAITS.search(log)
    at = int(found[1], 16) if found else 0
    if EXIT_AT <= at < KILLED_AT:
        return at - EXIT_AT
    if KILLED_AT <= at < FULL_AT:
        return 128 + at - KILLED_AT
    if at == ASKS_AT:
        return None
    if at == FULL_AT:
        raise EverycoreError(f"the program wrote more than {(FILES - OUT) >> 20} MiB")
    raise EverycoreError(f"the machine stopped at {at:#x}:\n{log[-6000:]}")


def _supervisor(runner: SystemRunner, folder: Path) -> Elf:
    compiler = next((name for name in COMPILERS if shutil.which(name)), "")
    if not compiler:
        raise EverycoreError(
            "there is no compiler for IBM Z", "apt-get install gcc-s390x-linux-gnu"
        )
    out = folder / "supervisor"
    sources = [str(HERE / name) for name in ("entry.S", "supervisor.c", "z14.c")]
    command = [compiler, *FLAGS, f"-Wl,-T,{HERE / 'supervisor.lds'}", *sources, "-o", str(out)]
    done = runner.run(command)
    if done.code:
        raise EverycoreError(f"{compiler} did not compile the supervisor:\n{done.stderr[-2000:]}")
    return Elf.open(out)


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cpu", required=True, metavar="TYPE")
    parser.add_argument("--parts", type=int, default=0, metavar="SEED")
    parser.add_argument("program", type=Path)
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    asked = parser.parse_args(words)
    try:
        return run(asked.cpu, asked.program, asked.arguments, asked.parts)
    except EverycoreError as error:
        print(f"hercules: {error}", file=sys.stderr)
        if error.hint:
            print(error.hint, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
