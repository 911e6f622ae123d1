#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kill workers and schedulers of a farm in the middle of a run: farm_kills.py [--rounds N] [--seed N]

Everything runs in a network of its own, with a scheduler on 127.0.0.1 and two workers on 127.0.0.2 and 127.0.0.3. A round runs the
cells of a small matrix, and something is killed at a moment that is drawn: a worker, both, or the scheduler; a run whose scheduler
is lost is gone on with. In the end every cell has to be in the file of the matrix, once, with the right count; and no cell that was
written may be asked again. Workers do stand-in work, for the compiler is not under test: they wait some milliseconds and count.
"""

import argparse
import contextlib
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "lab"))
INSIDE = "EVERYCORE_FARM_NETWORK"
CELLS = 24
SECONDS_OF_A_JOB = 0.05
ATTEMPTS = 20  # of a round: on a busy machine a scheduler takes longer to start than a client waits
HOST, PORT = "127.0.0.1", 8786
ADDRESS = f"tcp://{HOST}:{PORT}"
WORKERS = ("127.0.0.2", "127.0.0.3")
LOG = "EVERYCORE_FARM_LOG"  # the file into which workers write the cells that they were asked for

PRELOAD = f'''
import os, time
from everycore.model.decoding import encode_line
from everycore.farm import worker
from everycore.farm.work import Answer, read_job
from everycore.model.cells import Outcome, Result

def do_text(text):
    job = read_job(text)
    with open(os.environ["{LOG}"], "a") as file:
        file.write(job.cell.flags[0] + "\\n")
    time.sleep({SECONDS_OF_A_JOB})
    number = int(job.cell.flags[0].removeprefix("-DN="))
    return encode_line(Answer(job.key, "h", Result(job.cell, Outcome.COUNTED, executed=number)))

worker.do_text.__code__ = do_text.__code__
worker.do_text.__globals__.update(os=os, time=time, Answer=Answer, Outcome=Outcome, Result=Result, encode_line=encode_line)
worker.about.__code__ = (lambda: {{"everycore": "1", "tree": "t", "host": "h", "time": time.time()}}).__code__
'''


class Farm:
    """The scheduler and its workers, as processes of ours."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.preload = folder / "preload.py"
        self.preload.write_text(PRELOAD)
        self.scheduler: subprocess.Popen[bytes] | None = None
        self.workers: dict[str, subprocess.Popen[bytes]] = {}

    def _start(self, *words: str) -> "subprocess.Popen[bytes]":
        log = (self.folder / "dask.log").open("ab")
        env = {**os.environ, "PYTHONPATH": str(ROOT / "lab"), LOG: str(self.folder / "asked")}
        return subprocess.Popen([sys.executable, "-m", "distributed.cli." + words[0], *words[1:]], stdout=log, stderr=log, env=env)

    def complete(self) -> None:
        """Start what is missing."""
        if self.scheduler is None or self.scheduler.poll() is not None:
            self.end_workers()
            self.scheduler = self._start("dask_scheduler", "--host", HOST, "--port", str(PORT), "--no-dashboard")
        for address in WORKERS:
            own = self.workers.get(address)
            if own is None or own.poll() is not None:
                self.workers[address] = self._start("dask_worker", ADDRESS, "--host", address, "--nthreads", "1", "--no-nanny",
                                                    "--no-dashboard", "--local-directory", str(self.folder / address),
                                                    "--preload", str(self.preload), "--death-timeout", "60")

    def kill(self, what: str) -> None:
        victims = {"worker": [next(iter(self.workers.values()))], "other": [list(self.workers.values())[-1]],
                   "both": list(self.workers.values()), "scheduler": [self.scheduler]}[what]
        for process in victims:
            if process is not None and process.poll() is None:
                process.send_signal(signal.SIGKILL)
                process.wait()

    def end_workers(self) -> None:
        for process in self.workers.values():
            if process.poll() is None:
                process.kill()
            process.wait()
        self.workers = {}

    def close(self) -> None:
        self.end_workers()
        if self.scheduler:
            self.scheduler.kill()
            self.scheduler.wait()


def run(folder: pathlib.Path, journal: pathlib.Path, when_written: "threading.Event") -> None:
    """Run the cells that the file does not have, as `everycore matrix --resume --scheduler` does."""
    from everycore.environment.context import system_context
    from everycore.farm.matrix_run import FarmRun
    from everycore.farm.scheduler import connected
    from everycore.farm.work import Job, Work
    from everycore.store import matrix_files
    from everycore.matrix.make import Workbench
    from everycore.matrix.plan import Place, Planned
    from everycore.model.cells import Cell, Head
    from everycore.matrix.cell_runs import Clock, Run
    from everycore.model.domain import Machine, Revision, Tree

    context = system_context()
    context = type(context)(**{name: getattr(context, name) for name in context.__slots__} | {
        "env": {**os.environ, "XDG_CACHE_HOME": str(folder / f"cache-{journal.stem}")}})
    cells = [Cell("stand-in", "count", "gcc-12", (f"-DN={number}",), "qemu-aarch64") for number in range(CELLS)]
    jobs = {cell: Job(Work.COUNT, cell, "1", "t", compiler=journal.stem) for cell in cells}
    bench = Workbench(context, Tree(ROOT, True), {}, Place("x86_64"))
    head = Head("2026-01-01", "1", Revision("", False), Machine("test"), "none", {})
    with connected(context, ADDRESS, jobs[cells[0]]) as farm, matrix_files.Writer(journal, head, journal.exists()) as writer:
        done = writer.stored.results
        own = FarmRun(farm, bench, Run(bench, Clock(time.monotonic)), jobs)
        for result in own.cells([Planned(cell) for cell in cells if cell not in done]):
            writer.write(result)
            when_written.set()


def one_round(farm: Farm, folder: pathlib.Path, number: int, source: random.Random) -> str:
    """Return what is wrong; an empty text: nothing."""
    from everycore.environment.errors import EverycoreError, LostError
    from everycore.store import matrix_files
    from everycore.model.cells import Result

    journal = folder / f"round{number}.jsonl"
    what = source.choice(("worker", "other", "both", "scheduler"))
    wait = source.uniform(0, CELLS * SECONDS_OF_A_JOB / 2)
    lost = 0
    for attempt in range(ATTEMPTS):
        farm.complete()
        (folder / "asked").write_text("")
        before = set(matrix_files.read(journal).results) if journal.exists() else set()
        begun = threading.Event()

        def disturb(begun: threading.Event = begun) -> None:
            begun.wait(30)
            time.sleep(wait)
            farm.kill(what)
            if what != "scheduler":
                farm.complete()

        thread = threading.Thread(target=disturb) if attempt == 0 else None
        if thread:
            thread.start()
        try:
            run(folder, journal, begun)
        except LostError:
            lost += 1
        except EverycoreError as error:  # the scheduler died before the run had begun
            if "no scheduler answers" not in error.message and "cannot run everycore" not in error.message:
                return f"{what}: {error.message}"
            lost += 1
        else:
            if thread:
                thread.join()
            again = {f"-DN={number}" for number in range(CELLS)} & {cell.flags[0] for cell in before}
            asked = set((folder / "asked").read_text().split())
            if again & asked:
                return f"{what}: cells were asked again that had been written: {sorted(again & asked)}"
            break
        if thread:
            thread.join()
    stored = matrix_files.read(journal)
    lines = [line for line in stored.lines if isinstance(line, Result)]
    if len(lines) != len(stored.results):
        return f"{what}: {len(lines)} lines of {len(stored.results)} cells"
    if len(lines) != CELLS:
        return f"{what}: {len(lines)} of {CELLS} cells after {lost} lost runs"
    if any(line.executed != int(line.cell.flags[0].removeprefix("-DN=")) for line in lines):
        return f"{what}: a cell has another's count"
    print(f"round {number}: {what} killed after {wait:.2f} s, {lost} lost runs, {CELLS} cells", flush=True)
    return ""


def in_own_network(arguments: list[str]) -> int:
    """Start this program again where no port of this machine can be reached."""
    words = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user", "--net"]
    for trial in ([*words, "true"], ["ip", "-V"]):
        try:
            subprocess.run(trial, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            print(f"skipped: `{' '.join(trial)}` does not work here\n0 passed, 0 failed, 1 skipped")
            return 0
    script = 'ip link set lo up && exec "$@"'
    argv = [*words, "sh", "-c", script, "sh", sys.executable, __file__, *arguments]
    return subprocess.run(argv, env={**os.environ, INSIDE: "1"}).returncode


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    try:
        import distributed  # noqa: F401
    except ModuleNotFoundError:
        print("skipped: no Python package distributed (make lab)\n0 passed, 0 failed, 1 skipped")
        return 0
    if INSIDE not in os.environ:
        return in_own_network(sys.argv[1:])
    source = random.Random(options.seed)
    failed = 0
    with tempfile.TemporaryDirectory() as scratch, contextlib.closing(Farm(pathlib.Path(scratch))) as farm:
        for number in range(options.rounds):
            if why := one_round(farm, pathlib.Path(scratch), number, source):
                failed += 1
                print(f"round {number}: {why}", flush=True)
                print((pathlib.Path(scratch) / "dask.log").read_text()[-2000:])
    print(f"{options.rounds - failed} passed, {failed} failed, 0 skipped")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
