# SPDX-License-Identifier: MIT
"""Provoke a fault of a farm, which has to be told, and to lose nothing: farm_faults.py FOLDER NAME

absent     no scheduler is there
versions   a worker has other Python files, or another C tree; one comes in the middle of a run
clock      the clocks of a worker, of the scheduler and of the client jump by hours, to and fro
disk       the disk of one worker is full, then those of both: small ones of memory
board      another machine answers at the address of a board

Each fault is real, and so are schedulers and workers of Dask, compilers, an emulator, and an sshd.
`--resume` completes the file after it. tests/systems/test_farm_faults.py starts this in a network
and among mounts of its own.
"""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

from farm_network import ADDRESS, BOARDS, HOST, PORT, WORKERS, Boards
from processes import ROOT

SECONDS = 600  # of one run of the matrix, on a busy machine
LEVELS = ("-O1", "-O2", "-O3", "-Os")
# Each call of a process for the time of day is off by the seconds that a file holds.
JUMPING_CLOCK = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
static long offset(void)
{
    long seconds = 0;
    FILE *file = fopen(getenv("JUMPING_CLOCK"), "r");
    if (file) {
        if (fscanf(file, "%ld", &seconds) != 1)
            seconds = 0;
        fclose(file);
    }
    return seconds;
}
int clock_gettime(clockid_t clock, struct timespec *now)
{
    static int (*real)(clockid_t, struct timespec *);
    if (!real)
        real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int status = real(clock, now);
    if (clock == CLOCK_REALTIME)
        now->tv_sec += offset();
    return status;
}
time_t time(time_t *where)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (where)
        *where = now.tv_sec;
    return now.tv_sec;
}
int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    struct timespec precise;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &precise);
    now->tv_sec = precise.tv_sec;
    now->tv_usec = precise.tv_nsec / 1000;
    return 0;
}
"""


class WrongError(Exception):
    """A fault that was not told, or that lost something."""


def expect(holds: object, what: str) -> None:
    if not holds:
        raise WrongError(what)


class Farm:
    """A scheduler and workers that do real jobs, and runs of the matrix on them."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.own: list[subprocess.Popen[bytes]] = []
        self.version = (
            subprocess.run(
                ["aarch64-linux-gnu-gcc", "-dumpversion"],
                capture_output=True,
                text=True,
                check=False,
            )
            .stdout.split(".")[0]
            .strip()
        )

    def env(self, name: str, **more: str) -> dict[str, str]:
        home = self.folder / name
        (home / "tmp").mkdir(parents=True, exist_ok=True)
        folders = {
            "XDG_CACHE_HOME": str(home / "cache"),
            "XDG_STATE_HOME": str(home / "state"),
            "TMPDIR": str(home / "tmp"),
        }
        return {
            **os.environ,
            "PYTHONPATH": str(ROOT / "lab"),
            "EVERYCORE_TREE": str(ROOT),
            **folders,
            **more,
        }

    def start(self, program: str, *words: str, env: dict[str, str]) -> "subprocess.Popen[bytes]":
        with (self.folder / "dask.log").open("ab") as log:
            argv = [sys.executable, "-m", f"distributed.cli.{program}", *words, "--no-dashboard"]
            self.own.append(subprocess.Popen(argv, stdout=log, stderr=log, env=env))
        return self.own[-1]

    def scheduler(self, **more: str) -> "subprocess.Popen[bytes]":
        return self.start(
            "dask_scheduler", "--host", HOST, "--port", str(PORT), env=self.env("scheduler", **more)
        )

    def worker(
        self, number: int = 0, env: "dict[str, str] | None" = None
    ) -> "subprocess.Popen[bytes]":
        words = [
            ADDRESS,
            "--host",
            WORKERS[number],
            "--nthreads",
            "1",
            "--no-nanny",
            "--death-timeout",
            "120",
        ]
        words += ["--local-directory", str(self.folder / f"dask-{number}")]
        return self.start("dask_worker", *words, env=env or self.env(f"worker-{number}"))

    def end(self) -> None:
        for process in self.own:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
            process.wait()
        self.own = []

    def command(self, out: pathlib.Path, *words: str) -> list[str]:
        cells = [
            "--subject",
            "c_ttable4",
            "--function",
            "ctr",
            "--key-bits",
            "128",
            "--bytes",
            "256",
            "--target",
            "qemu-aarch64",
        ]
        cells += [f"--flags={level}" for level in LEVELS] + ["--toolchain", f"gcc-{self.version}"]
        where = [] if "--scheduler" in words else ["--scheduler", ADDRESS]
        return [
            sys.executable,
            "-m",
            "everycore",
            "matrix",
            *cells,
            "--out",
            str(out),
            *where,
            *words,
        ]

    def matrix(
        self, out: pathlib.Path, *words: str, env: "dict[str, str] | None" = None
    ) -> "subprocess.CompletedProcess[str]":
        done = subprocess.run(
            self.command(out, *words),
            capture_output=True,
            text=True,
            timeout=SECONDS,
            env=env or self.env("client"),
            check=False,
        )
        expect("Traceback" not in done.stderr, f"a traceback: {done.stderr[-2000:]}")
        return done

    @contextlib.contextmanager
    def running(
        self, out: pathlib.Path, *words: str, env: "dict[str, str] | None" = None
    ) -> "Iterator[subprocess.Popen[str]]":
        """A run of the matrix of which at least one cell is stored."""
        pipe = subprocess.PIPE
        argv = self.command(out, *words)
        with subprocess.Popen(
            argv, stdout=pipe, stderr=pipe, text=True, env=env or self.env("client")
        ) as process:
            end = time.monotonic() + SECONDS
            while (
                process.poll() is None
                and time.monotonic() < end
                and not (out.exists() and cells(out))
            ):
                time.sleep(0.05)
            yield process
            process.kill()

    def complete(self, out: pathlib.Path, *, said: str = "") -> None:
        """Go on with a file on good workers; nothing that it has is changed, and nothing is
        missing.
        """
        before = cells(out)
        done = self.matrix(out, "--resume")
        expect(
            done.returncode == 0, f"--resume ended with {done.returncode}: {done.stderr[-2000:]}"
        )
        expect(said in " ".join(done.stderr.split()), f"'{said}' is not in: {done.stderr[-2000:]}")
        after = cells(out)
        expect(
            [after.get(flags) for flags, cell in before.items() if cell["outcome"] == "counted"]
            == [cell for cell in before.values() if cell["outcome"] == "counted"],
            "a stored cell was changed, or lost",
        )
        expect(
            {cell["outcome"] for cell in after.values()} == {"counted"}
            and len(after) == len(LEVELS),
            f"not all cells: {after}",
        )
        counted = [line for line in lines(out) if line.get("outcome") == "counted"]
        expect(len(counted) == len(LEVELS), f"{len(counted)} lines of {len(LEVELS)} counted cells")


def lines(path: pathlib.Path) -> "list[dict[str, object]]":
    text = path.read_text() if path.exists() else ""
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]


def cells(path: pathlib.Path) -> "dict[str, dict[str, object]]":
    """The last line of each cell, by its flags."""
    return {line["cell"]["flags"][0]: line for line in lines(path) if line["type"] == "cell"}  # type: ignore[index]


def said(done: "subprocess.CompletedProcess[str]", *parts: str, code: int = 2) -> None:
    """Expect an exit code, and words on standard error."""
    text = " ".join(done.stderr.split())
    expect(
        done.returncode == code, f"exit code {done.returncode}, not {code}: {done.stderr[-2000:]}"
    )
    for part in parts:
        expect(part in text, f"'{part}' is not in: {done.stderr[-2000:]}")


def absent(farm: Farm, folder: pathlib.Path) -> None:
    out = folder / "absent.jsonl"
    done = farm.matrix(out, "--scheduler", f"tcp://{HOST}:9")
    said(done, f"no scheduler answers at tcp://{HOST}:9", "start one: dask scheduler")
    expect(not cells(out), "cells without a scheduler")
    farm.scheduler()
    farm.worker()
    expect(
        farm.matrix(out, *(["--resume"] if out.exists() else [])).returncode == 0,
        "the run after it failed",
    )
    before = out.read_bytes()
    more = ("--resume", "--flags=-O0")
    said(farm.matrix(out, *more, "--scheduler", f"tcp://{HOST}:9"), "no scheduler answers")
    expect(out.read_bytes().startswith(before), "stored cells were changed")


def other_files(farm: Farm, folder: pathlib.Path, what: str) -> dict[str, str]:
    """The environment of a worker with other Python files, or with another C tree."""
    copy = folder / f"other-{what}"
    if what == "python":
        if not copy.exists():
            shutil.copytree(
                ROOT / "lab", copy, ignore=shutil.ignore_patterns("__pycache__", "tests")
            )
            with (copy / "everycore/model/cells.py").open("a") as file:
                file.write("# another version\n")
        return farm.env("other-python", PYTHONPATH=str(copy))
    if not copy.exists():
        for part in ("src", "include", "harness", "catalog", "lab"):
            shutil.copytree(
                ROOT / part, copy / part, ignore=shutil.ignore_patterns("__pycache__", "tests")
            )
        for name in ("meson.build", "meson_options.txt", "pyproject.toml"):
            shutil.copy(ROOT / name, copy)
        with (copy / "src/resolve.c").open("a") as file:
            file.write("/* another version */\n")
    return farm.env("other-tree", EVERYCORE_TREE=str(copy))


def versions(farm: Farm, folder: pathlib.Path) -> None:
    out = folder / "versions.jsonl"
    for what, words in (("python", "has everycore"), ("tree", "has the C tree")):
        farm.scheduler()
        farm.worker(1, other_files(farm, folder, what))
        said(
            farm.matrix(out, *(["--resume"] if out.exists() else [])),
            f"worker tcp://{WORKERS[1]}",
            words,
            "need the same everycore",
        )
        expect(not cells(out), "a cell of another version")
        farm.end()
    farm.scheduler()
    good = farm.worker()
    with farm.running(out, *(["--resume"] if out.exists() else [])) as process:
        farm.worker(1, other_files(farm, folder, "python"))
        time.sleep(8)  # until it has its place in the scheduler
        good.kill()
        _, text = process.communicate(timeout=SECONDS)
    reasons = [
        str(cell.get("reason", "")) for cell in cells(out).values() if cell["outcome"] == "skipped"
    ]
    expect("Traceback" not in text, text)
    expect(
        reasons or process.returncode == 0,
        f"exit code {process.returncode}, no cell is marked: {text}",
    )
    expect(all("the job is of everycore" in reason for reason in reasons), f"reasons: {reasons}")
    farm.end()
    farm.scheduler()
    farm.worker()
    farm.complete(out)


def clock(farm: Farm, folder: pathlib.Path) -> None:
    library, offset = folder / "clock.so", folder / "offset"
    (folder / "clock.c").write_text(JUMPING_CLOCK)
    subprocess.run(
        ["gcc", "-shared", "-fPIC", "-O1", str(folder / "clock.c"), "-o", str(library), "-ldl"],
        check=True,
    )

    def set_to(seconds: int) -> None:
        (folder / "offset.part").write_text(str(seconds))
        (folder / "offset.part").rename(offset)

    set_to(0)
    jumping = {"LD_PRELOAD": str(library), "JUMPING_CLOCK": str(offset)}
    probe = subprocess.run(
        [
            sys.executable,
            "-c",
            "import time; print(time.time() - time.clock_gettime(0), time.time())",
        ],
        env={**os.environ, **jumping},
        capture_output=True,
        text=True,
        check=False,
    )
    set_to(7200)
    later = subprocess.run(
        [sys.executable, "-c", "import time; print(time.time())"],
        env={**os.environ, **jumping},
        capture_output=True,
        text=True,
        check=False,
    )
    expect(
        float(later.stdout) - float(probe.stdout.split()[1]) > 7000,
        "the clock cannot be made to jump here",
    )
    # A worker's clock is wrong from the beginning.
    out = folder / "clock-worker.jsonl"
    farm.scheduler()
    farm.worker(0, farm.env("worker-0", **jumping))
    done = farm.matrix(out)
    said(done, f"the clock of worker tcp://{WORKERS[0]}", "s off; dates are of this host", code=0)
    expect(len(cells(out)) == len(LEVELS), "a cell is missing")
    farm.end()
    # All clocks are ahead, and jump in the middle of a run: forward, back to the day before, and
    # ahead again.
    out = folder / "clock.jsonl"
    farm.scheduler(**jumping)
    farm.worker(0, farm.env("worker-0", **jumping, XDG_CACHE_HOME=str(folder / "new-cache")))
    # This client knows no answer yet.
    client = farm.env("client", **jumping, XDG_CACHE_HOME=str(folder / "client-cache"))
    with farm.running(out, env=client) as process:
        for seconds in (14400, -86400, 7200):
            set_to(seconds)
            time.sleep(2)
        _, text = process.communicate(timeout=SECONDS)
    expect("Traceback" not in text, text)
    if process.returncode:  # the scheduler took the worker for dead
        said(subprocess.CompletedProcess([], process.returncode, "", text), "--resume")
    farm.end()
    farm.scheduler()
    farm.worker()
    farm.complete(out, said="the clock went back: clock.jsonl was written at")


def disk(farm: Farm, folder: pathlib.Path) -> None:
    def full(number: int) -> dict[str, str]:
        env = farm.env(f"full-{number}")
        home = folder / f"full-{number}"
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(home)], check=True)
        (home / "tmp").mkdir()
        with contextlib.suppress(OSError), (home / "filler").open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))
        return env

    out = folder / "disk.jsonl"
    farm.scheduler()
    farm.worker(1, full(1))
    with contextlib.suppress(subprocess.TimeoutExpired):
        # A worker is there that cannot do a thing: its reason is in each cell.
        done = farm.matrix(out)
    expect("Traceback" not in done.stderr, done.stderr)
    expect(
        done.returncode == 2,
        f"exit code {done.returncode} though nothing could be compiled: {done.stderr}",
    )
    reasons = [str(cell.get("reason", "")) for cell in cells(out).values()]
    expect(
        len(reasons) == len(LEVELS)
        and all("No space left on device" in reason for reason in reasons),
        f"reasons: {reasons}",
    )
    farm.worker(0)
    time.sleep(8)
    farm.complete(out, said="No space left on device")


def board(farm: Farm, folder: pathlib.Path) -> None:
    boards = Boards(folder)
    with contextlib.closing(boards):
        expect(not boards.why_not, boards.why_not)
        address, out = BOARDS[0], folder / "board.jsonl"
        real = boards.sshd

        def answer_as(name: str) -> None:
            """Another machine at the same address, which took the host key with its disk."""
            (folder / name).write_text(f"{name * 32}\n")
            script = folder / f"sshd-{name}"
            script.write_text(
                f"#!/bin/sh\nexec unshare --mount sh -c 'mount --bind {folder / name} "
                f'/etc/machine-id && exec {real} "$@"\' sh "$@"\n'
            )
            script.chmod(0o755)
            boards.kill((address,))
            boards.sshd = str(script)
            boards.restart(address)

        def matrix(*words: str) -> "subprocess.CompletedProcess[str]":
            argv = [
                sys.executable,
                "-m",
                "everycore",
                "matrix",
                "--subject",
                "c_ttable4",
                "--function",
                "ctr",
                "--key-bits",
                "128",
            ]
            argv += [
                "--bytes",
                "256",
                "--toolchain",
                native,
                "--target",
                str(boards.target(address, "")),
                "--out",
                str(out),
                *words,
            ]
            done = subprocess.run(
                argv,
                capture_output=True,
                text=True,
                timeout=SECONDS,
                env=farm.env("client"),
                check=False,
            )
            expect("Traceback" not in done.stderr, done.stderr)
            return done

        native = (
            "gcc-"
            + subprocess.run(["gcc", "-dumpversion"], capture_output=True, text=True, check=False)
            .stdout.split(".")[0]
            .strip()
        )
        answer_as("a")
        done = matrix("--flags=-O1")
        expect(done.returncode == 0, f"exit code {done.returncode}: {done.stderr[-2000:]}")
        before, head = out.read_bytes(), lines(out)[0]
        answer_as("b")
        said(
            matrix("--flags=-O1", "--flags=-O2", "--resume"),
            "was measured on another host of this model",
            str(head["machine"]["installation"]),  # type: ignore[index]
        )
        expect(out.read_bytes() == before, "the file was changed")
        answer_as("a")
        done = matrix("--flags=-O1", "--flags=-O2", "--resume")
        expect(
            done.returncode == 0 and len(cells(out)) == 2, f"the first board: {done.stderr[-2000:]}"
        )
        expect(out.read_bytes().startswith(before), "stored cells were changed")


FAULTS: "dict[str, Callable[[Farm, pathlib.Path], None]]" = {
    "absent": absent,
    "versions": versions,
    "clock": clock,
    "disk": disk,
    "board": board,
}


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    farm = Farm(folder)
    try:
        FAULTS[sys.argv[2]](farm, folder)
    except WrongError as error:
        with contextlib.suppress(OSError):
            print((folder / "dask.log").read_text()[-1500:])
        sys.exit(f"{sys.argv[2]}: {error}")
    finally:
        farm.end()
        for path in folder.glob("full-*"):
            subprocess.run(["umount", "--lazy", str(path)], capture_output=True, check=False)


if __name__ == "__main__":
    main()
