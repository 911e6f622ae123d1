# SPDX-License-Identifier: MIT
"""Run matrices on a farm of which parts are killed: farm_rounds.py FOLDER SEED

The first line that it prints says why no boards serve. Each line of standard input is the number of
a round, which a line of JSON answers: what was wrong, and how much was killed.
tests/systems/test_farm_kills.py starts this in a network of its own.
"""

import collections
import contextlib
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import threading
import time

from farm_network import ADDRESS, BOARDS, HOST, PORT, WORKERS, Boards
from processes import ROOT

from everycore.environment.context import system_context
from everycore.environment.errors import EverycoreError, LostError
from everycore.farm.matrix_run import FarmRun
from everycore.farm.scheduler import connected
from everycore.farm.work import Job, Work
from everycore.matrix.board import open_board
from everycore.matrix.cell_pipeline import CellPipeline
from everycore.matrix.cell_runs import Run
from everycore.matrix.compiled_cell import CellTools
from everycore.matrix.resolved_cell import HostCpu, ResolvedCell, Resolver
from everycore.matrix.time_limits import Clock
from everycore.matrix.timed_cell import Timer
from everycore.model.cells import Cell, Head, Outcome, Result
from everycore.model.domain import Machine, Revision, Target, Toolchain, Tree
from everycore.model.targets import read_target
from everycore.store import matrix_files
from everycore.subjects import Function, Subject

Tally = collections.Counter[str]  # killed processes, and runs that lost their place by it
CELLS = 24
SECONDS_OF_A_JOB = 0.05
ATTEMPTS = 20  # of a round: on a busy machine a scheduler takes longer to start than a client waits
BOARD_CELLS = 10
KINDS = ("both", "scheduler", "worker", "other")  # killed in turn
LOG = "EVERYCORE_FARM_LOG"  # the file into which workers write the cells that they were asked for

PRELOAD = f'''
import os, time
from everycore.environment.decoding import encode_line
from everycore.farm import worker
from everycore.farm.work import Answer, read_job
from everycore.model.cells import Outcome, Result

def do_text(text):
    job = read_job(text)
    with open(os.environ["{LOG}"], "a") as file:
        file.write(job.flag_set + " " + job.cell.flags[0] + "\\n")
    time.sleep({SECONDS_OF_A_JOB})
    number = int(job.cell.flags[0].removeprefix("-DN="))
    return encode_line(Answer(job.key, "h", Result(job.cell, Outcome.COUNTED, executed=number)))

worker.do_text.__code__ = do_text.__code__
worker.do_text.__globals__.update(
    os=os, time=time, Answer=Answer, Outcome=Outcome, Result=Result, encode_line=encode_line
)
worker.about.__code__ = (
    lambda: {{"everycore": "1", "tree": "t", "host": "h", "time": time.time()}}
).__code__
'''


class Farm:
    """The scheduler and its workers, as processes of ours."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.preload = folder / "preload.py"
        self.preload.write_text(PRELOAD)
        (folder / "asked").touch()
        self.scheduler: subprocess.Popen[bytes] | None = None
        self.workers: dict[str, subprocess.Popen[bytes]] = {}

    def _start(self, *words: str) -> "subprocess.Popen[bytes]":
        log = (self.folder / "dask.log").open("ab")
        env = {**os.environ, "PYTHONPATH": str(ROOT / "lab"), LOG: str(self.folder / "asked")}
        return subprocess.Popen(
            [sys.executable, "-m", "distributed.cli." + words[0], *words[1:]],
            stdout=log,
            stderr=log,
            env=env,
        )

    def complete(self) -> None:
        """Start what is missing."""
        if self.scheduler is None or self.scheduler.poll() is not None:
            self.end_workers()
            self.scheduler = self._start(
                "dask_scheduler", "--host", HOST, "--port", str(PORT), "--no-dashboard"
            )
        for address in WORKERS:
            own = self.workers.get(address)
            if own is None or own.poll() is not None:
                self.workers[address] = self._start(
                    "dask_worker",
                    ADDRESS,
                    "--host",
                    address,
                    "--nthreads",
                    "1",
                    "--no-nanny",
                    "--no-dashboard",
                    "--local-directory",
                    str(self.folder / address),
                    "--preload",
                    str(self.preload),
                    "--death-timeout",
                    "60",
                )

    def kill(self, what: str) -> None:
        processes: dict[str, list[subprocess.Popen[bytes] | None]] = {
            "worker": [next(iter(self.workers.values()))],
            "other": [list(self.workers.values())[-1]],
            "both": list(self.workers.values()),
            "scheduler": [self.scheduler],
        }
        for process in processes[what]:
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


PROGRAM = """#!/bin/sh
echo "-DN=$1" >>{asked}
sleep 0.05
echo "$1"
"""


def run_on_board(
    target_file: pathlib.Path,
    program: pathlib.Path,
    journal: pathlib.Path,
    when_written: "threading.Event",
) -> None:
    """Run the cells that the file does not have, as `everycore matrix --resume --target board.toml`
    does.
    """
    context = system_context()
    with context.closing:
        link = open_board(context, read_target(target_file), None)
        head = Head("2026-01-01", "1", Revision("", False), link.machine, "none", {})
        cells = [
            Cell("stand-in", "count", "gcc-12", (f"-DN={number}",), "board")
            for number in range(BOARD_CELLS)
        ]
        with matrix_files.Writer(journal, head, journal.exists()) as writer:
            for number, cell in enumerate(cells):
                if cell not in writer.stored.results:
                    done = link.run(program, [str(number)])
                    writer.write(Result(cell, Outcome.COUNTED, executed=int(done.stdout)))
                    when_written.set()


class BoardRound:
    """One matrix on one board, in a thread, while its sshd may be killed."""

    def __init__(self, boards: Boards, address: str, folder: pathlib.Path, number: int) -> None:
        self.boards, self.address = boards, address
        self.journal = folder / f"round{number}-{address}.jsonl"
        self.asked = folder / f"asked-{address}-{number}"
        self.asked.write_text("")
        self.program = folder / f"program-{address}-{number}"
        self.program.write_text(PROGRAM.format(asked=self.asked))
        self.target = boards.target(address, sys.executable if number % 2 else "")
        self.begun = threading.Event()
        self.lost = 0
        self.why = ""
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _run(self) -> None:
        try:
            for _ in range(ATTEMPTS):
                before = (
                    set(matrix_files.read(self.journal).results) if self.journal.exists() else set()
                )
                self.asked.write_text("")
                try:
                    run_on_board(self.target, self.program, self.journal, self.begun)
                except EverycoreError as error:  # lost, or refused before it was started again
                    self.lost += 1
                    self.why = error.message
                    self.boards.restart(self.address)
                    continue
                again = {cell.flags[0] for cell in before} & set(self.asked.read_text().split())
                self.why = (
                    f"cells were asked again that had been written: {sorted(again)}"
                    if again
                    else ""
                )
                return
        except BaseException as error:
            self.why = repr(error)
            raise
        finally:
            self.begun.set()

    def wrong(self) -> str:
        self.thread.join()
        return self.why or wrong_cells(self.journal, BOARD_CELLS, self.lost)


def wrong_cells(journal: pathlib.Path, expected: int, lost: int) -> str:
    """Say what is wrong with the cells of a file; an empty text: nothing."""
    stored = matrix_files.read(journal)
    lines = [line for line in stored.lines if isinstance(line, Result)]
    if len(lines) != len(stored.results):
        return f"{len(lines)} lines of {len(stored.results)} cells"
    if len(lines) != expected:
        return f"{len(lines)} of {expected} cells after {lost} lost runs"
    if any(line.executed != int(line.cell.flags[0].removeprefix("-DN=")) for line in lines):
        return "a cell has another's count"
    return ""


def stand_in(cell: Cell) -> ResolvedCell:
    """Return the cell with what its names stand for here: nothing that could be compiled."""
    count = Function(cell.function)
    subject = Subject(cell.subject, (), (count,))
    toolchain = Toolchain(cell.toolchain, "host", "gcc", (12,), ())
    return ResolvedCell(cell, subject, count, toolchain, Target(cell.target, "", "qemu"))


def run(
    folder: pathlib.Path, journal: pathlib.Path, attempt: str, when_written: "threading.Event"
) -> None:
    """Run the cells that the file lacks, as `everycore matrix --resume --scheduler` does.

    Jobs carry the attempt: a worker may still do one of an earlier attempt, whose scheduler had
    lost the answer with another worker.
    """
    context = system_context()
    context = type(context)(
        **{name: getattr(context, name) for name in context.__slots__}
        | {"env": {**os.environ, "XDG_CACHE_HOME": str(folder / f"cache-{journal.stem}")}}
    )
    cells = [
        Cell("stand-in", "count", "gcc-12", (f"-DN={number}",), "qemu-aarch64")
        for number in range(CELLS)
    ]
    jobs = {
        cell: Job(Work.COUNT, cell, "1", "t", flag_set=attempt, compiler=journal.stem)
        for cell in cells
    }
    tools = CellTools(context, Tree(ROOT, True))
    bench = CellPipeline(tools, Resolver(tools.tree, {}, HostCpu("x86_64")), Timer(tools))
    head = Head("2026-01-01", "1", Revision("", False), Machine("test"), "none", {})
    with (
        connected(context, ADDRESS, jobs[cells[0]]) as farm,
        matrix_files.Writer(journal, head, journal.exists()) as writer,
    ):
        done = writer.stored.results
        own = FarmRun(farm, bench, Run(bench, Clock(time.monotonic)), jobs)
        left = [cell for cell in cells if cell not in done]
        for result in own.cells([stand_in(cell) for cell in left]):
            writer.write(result)
            when_written.set()


def one_round(farm: Farm, boards: Boards, number: int, source: random.Random, tally: Tally) -> str:
    """Return what is wrong; an empty text: nothing."""
    what = ((BOARDS[0],), (BOARDS[1],), BOARDS)[number % 3]
    wait = source.uniform(0, BOARD_CELLS * 0.04)
    own = [
        BoardRound(boards, address, farm.folder, number)
        for address in (BOARDS if not boards.why_not else ())
    ]

    def disturb(board: BoardRound) -> None:
        board.begun.wait(30)
        time.sleep(wait)
        boards.kill((board.address,))

    threads = [
        threading.Thread(target=disturb, args=(board,)) for board in own if board.address in what
    ]
    for thread in threads:
        thread.start()
    why = round_of_farm(farm, number, source, tally)
    if own:
        for thread in threads:
            thread.join()
        why = "; ".join(text for text in (why, *(board.wrong() for board in own)) if text)
        tally.update({"sshds": len(what), "lost_runs_on_boards": sum(board.lost for board in own)})
    return why


def round_of_farm(farm: Farm, number: int, source: random.Random, tally: Tally) -> str:
    """Return what is wrong; an empty text: nothing."""
    folder = farm.folder
    journal = folder / f"round{number}.jsonl"
    what = KINDS[number % len(KINDS)]
    wait = source.uniform(0, CELLS * SECONDS_OF_A_JOB / 2)
    lost = 0
    for attempt in range(ATTEMPTS):
        farm.complete()
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
            run(folder, journal, f"{number}.{attempt}", begun)
        except LostError:
            lost += 1
        except EverycoreError as error:  # the scheduler died before the run had begun
            if (
                "no scheduler answers" not in error.message
                and "cannot run everycore" not in error.message
            ):
                return f"{what}: {error.message}"
            lost += 1
        else:
            if thread:
                thread.join()
            lines = (folder / "asked").read_text().splitlines()
            asked = {tuple(line.split()) for line in lines}
            again = sorted(
                cell.flags[0] for cell in before if (f"{number}.{attempt}", cell.flags[0]) in asked
            )
            if again:
                return f"{what}: cells were asked again that had been written: {again}"
            break
        if thread:
            thread.join()
    if why := wrong_cells(journal, CELLS, lost):
        return f"{what}: {why}"
    tally.update(
        {
            "schedulers": what == "scheduler",
            "workers": {"scheduler": 0, "both": 2}.get(what, 1),
            "lost_runs_on_workers": lost,
        }
    )
    return ""


def main() -> None:
    folder, seed = pathlib.Path(sys.argv[1]), sys.argv[2]
    with contextlib.closing(Farm(folder)) as farm, contextlib.closing(Boards(folder)) as boards:
        print(json.dumps(boards.why_not), flush=True)
        for line in sys.stdin:
            tally = Tally()
            source = random.Random(f"{seed} {line.strip()}")
            try:
                why = one_round(farm, boards, int(line), source, tally)
            except Exception as error:
                why = repr(error)
            print(json.dumps({"why": why, "tally": tally}), flush=True)


if __name__ == "__main__":
    main()
