#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Profile programs of the corpus and store what the answers need: record.py [--check] [NAME...]

A program needs a `command` in programs.toml, and may have `debian` packages, which are unpacked
and not installed, and `build` commands. Its sources lie in sources/NAME until it is recorded.
{here} is that folder, {work} one with input (large, small and text) and what was built, {root}
that of the packages, {lib} their libraries, {python} this Python.

--check stores nothing. It fails if a profile crashes, if a program was harmed (another output or
exit code than without a profile), if an answer that was right is wrong, or if a control is called
cryptography.
"""

import argparse
import os
import pathlib
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import corpus
import recordings
from corpus import Program

from everycore.explain import libraries, recording
from everycore.explain.regions import Profile, collect
from everycore.explain.sampling import SamplingOptions, sample_command

SOURCES = corpus.HERE / "sources"
HZ = 1999  # a busy machine leaves few samples of the CPU clock at 499


class LackingError(Exception):
    """A command, package or tool that a program needs is not here."""


class HarmedError(Exception):
    """A program did something else under the profile."""


def filled(text: str, program: Program, folder: pathlib.Path) -> str:
    """Put folders in place of {here}, {work}, {root}, {lib} and {python}."""
    root = folder / "root"
    places = {
        "here": SOURCES / program.name,
        "work": folder,
        "root": root,
        "lib": root / f"usr/lib/{platform.machine()}-linux-gnu",
        "python": sys.executable,
    }
    for name, place in places.items():
        text = text.replace("{" + name + "}", str(place))
    return text


def write_inputs(folder: pathlib.Path) -> None:
    """Write bytes that do not compress well, and lines that are not sorted."""
    (folder / "large").write_bytes(os.urandom(1 << 20) * 160)
    (folder / "small").write_bytes(os.urandom(1 << 20) * 8)
    lines = "".join(f"{number * 7919 % 1000003:07d} a line of text\n" for number in range(800000))
    (folder / "text").write_text(lines)


def prepare(program: Program, folder: pathlib.Path) -> None:
    """Unpack the packages of a program, and build it."""
    if program.debian:
        debs = folder / "debs"
        debs.mkdir(exist_ok=True)
        attempt(["apt-get", "download", "-q", *program.debian], debs)
        for path in sorted(debs.iterdir()):
            attempt(["dpkg", "-x", str(path), str(folder / "root")], folder)
    for line in program.build:
        attempt(shlex.split(filled(line, program, folder)), folder)
    first = shlex.split(filled(program.command, program, folder))[0]
    if not shutil.which(first):
        raise LackingError(f"no {first}")


def attempt(argv: list[str], folder: pathlib.Path) -> None:
    try:
        done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False)
    except OSError as error:
        raise LackingError(f"{argv[0]}: {error.strerror}") from error
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["failed"]
        raise LackingError(next((line for line in lines if "error" in line), lines[0]))


def profiled(program: Program, folder: pathlib.Path) -> tuple[Profile, list[str]]:
    """Run a program without and with a profile; return the profile and the flags of the CPU."""
    argv = [filled(word, program, folder) for word in shlex.split(program.command)]
    variables = {
        name: filled(value, program, folder) for name, value in program.environment.items()
    }
    environment = dict(os.environ) | variables
    plain = subprocess.run(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
        check=False,
    )
    if plain.returncode:
        raise LackingError(f"exit code {plain.returncode}: {plain.stdout[-300:]!r}")
    with tempfile.TemporaryFile() as printed:
        sampled = sample_command(argv, SamplingOptions(HZ), environment, printed.fileno())
        printed.seek(0)
        text = printed.read()
    if sampled.code:
        raise HarmedError(f"exit code {sampled.code} in place of 0")
    if text != plain.stdout and not program.varies:
        raise HarmedError(f"printed {text[-200:]!r} in place of {plain.stdout[-200:]!r}")
    flags = libraries.cpu_flags(pathlib.Path("/proc/cpuinfo").read_text())
    # As it is stored: with the facts of its files.
    rows = list(recording.rows(collect(sampled, argv), flags))
    places = {str(folder): "/programs", str(pathlib.Path.home()): "/home"}
    return recording.profile_of(recordings.moved(rows, places), corpus.LIST)


def shown(answer: corpus.Answer) -> str:
    every = sorted(answer.shares.items(), key=lambda item: -item[1])
    return (
        ", ".join(f"{label} {share:.0f} %" for label, share in every[:4] if share >= 1) or "nothing"
    )


def try_program(program: Program, inputs: pathlib.Path, *, is_check: bool) -> bool:
    """Profile one program, store its recording, and say whether all is well."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch).resolve()
        for path in inputs.iterdir():
            (folder / path.name).symlink_to(path)
        prepare(program, folder)
        try:
            profile, flags = profiled(program, folder)
            answer = corpus.answer_of(profile, flags)
        except HarmedError as error:
            print(f"FAIL {program.name}: harmed: {error}", flush=True)
            return False
        except LackingError:
            raise
        except Exception:
            print(f"FAIL {program.name}: the profile crashed\n{traceback.format_exc()}", flush=True)
            return False
    verdict, wrong = corpus.judged(program, answer)
    is_worse = program.control or program.verdict == corpus.RIGHT
    is_bad = bool(wrong) and is_worse and is_check
    print(
        f"{'FAIL' if is_bad else 'ok  '} {program.name}: {verdict};"
        f" {profile.total} samples: {shown(answer)}",
        *(f"     {line}" for line in wrong),
        sep="\n",
        flush=True,
    )
    if not is_check:
        recordings.store(program, profile, flags)
        if verdict != program.verdict:
            print(f'     programs.toml must have: verdict = "{verdict}"', flush=True)
    return not is_bad


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Profile programs of the corpus and store what the answers need."
    )
    parser.add_argument(
        "--check", action="store_true", help="store nothing, and fail if an answer got worse"
    )
    parser.add_argument(
        "--short", action="store_true", help="only the programs that `make test` runs"
    )
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="of programs.toml; --check: all that have a command",
    )
    given = parser.parse_args()
    listed = corpus.programs()
    if unknown := [name for name in given.names if name not in listed]:
        parser.error(f"programs.toml has no {', '.join(unknown)}")
    if not given.names and not given.check:
        parser.error("name the programs to record")
    chosen = [listed[name] for name in given.names] or [
        program for program in listed.values() if program.command
    ]
    if without := [program.name for program in chosen if not program.command]:
        parser.error(f"programs.toml has no command for {', '.join(without)}")
    chosen = [program for program in chosen if program.short or not given.short]
    passed = failed = skipped = 0
    with tempfile.TemporaryDirectory() as scratch:
        inputs = pathlib.Path(scratch)
        write_inputs(inputs)
        for program in chosen:
            try:
                is_well = try_program(program, inputs, is_check=given.check)
                passed, failed = passed + is_well, failed + (not is_well)
            except LackingError as lacking:
                skipped += 1
                print(f"skipped: {program.name}: {lacking}", flush=True)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
