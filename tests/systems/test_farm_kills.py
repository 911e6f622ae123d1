#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kill workers, schedulers and boards in the middle of runs.

test_farm_kills.py [--rounds N] [--seed N] [--out FILE]

Everything runs in a network of its own: a scheduler on 127.0.0.1, two workers on 127.0.0.2 and
127.0.0.3, and two boards, which are sshds on 127.0.0.4 and 127.0.0.5. A round runs three small
matrices side by side, one on the workers and one on each board. At a moment that is drawn a worker,
both, or the scheduler is killed, and at another moment one sshd or both, with all of their
connections. A run that lost its place is gone on with. In the end every cell has to be in its file,
once, with the right count; and no cell that was written may be asked again. The work is a stand-in,
for the compiler is not under test: some milliseconds of waiting, and a number.
--out adds the result to a file as one line of JSON, with the commit, the date and the CPU.
"""

import argparse
import collections
import contextlib
import datetime
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "lab"))
INSIDE = "EVERYCORE_FARM_NETWORK"
CELLS = 24
SECONDS_OF_A_JOB = 0.05
# Killed processes, and how many runs lost their place by it.
KILLS: "collections.Counter[str]" = collections.Counter()
ATTEMPTS = 20  # of a round: on a busy machine a scheduler takes longer to start than a client waits
HOST, PORT = "127.0.0.1", 8786
ADDRESS = f"tcp://{HOST}:{PORT}"
WORKERS = ("127.0.0.2", "127.0.0.3")
BOARDS = ("127.0.0.4", "127.0.0.5")
SSH_PORT = 2222
BOARD_CELLS = 10
SECONDS_TO_SERVE = 5  # an sshd that was started
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
        file.write(job.cell.flags[0] + "\\n")
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


def descendants(ancestor: int) -> "list[int]":
    """Return the processes that a process started, and those that they did."""
    parents = {}
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            words = path.read_text().rpartition(")")[2].split()
            parents[int(path.parent.name)] = int(words[1])
    found = [ancestor]
    for one in found:
        found += [process for process, parent in parents.items() if parent == one]
    return found[1:]


class Boards:
    """The sshds, as processes of ours."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.why_not = ""  # they cannot serve here
        self.servers: dict[str, subprocess.Popen[bytes]] = {}
        self.sshd = shutil.which("sshd") or shutil.which("sshd", path="/usr/sbin") or ""
        if not (self.sshd and shutil.which("ssh") and shutil.which("ssh-keygen")):
            self.why_not = "no sshd (apt-get install openssh-server openssh-client)"
            return
        for name in ("host", "user"):
            subprocess.run(
                ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)],
                check=True,
            )
        key = " ".join((folder / "host.pub").read_text().split()[:2])
        (folder / "known").write_text(
            "".join(f"[{address}]:{SSH_PORT} {key}\n" for address in BOARDS)
        )
        for address in BOARDS:
            (folder / f"{address}.config").write_text(
                f"ListenAddress {address}\nPort {SSH_PORT}\nHostKey {folder / 'host'}\nPidFile "
                f"none\nStrictModes no\nUsePAM no\n"
                f"AuthorizedKeysFile {folder / 'user.pub'}\nPasswordAuthentication "
                f"no\nPermitRootLogin yes\n"
                # No start-up file of this user's shell: killed in the middle, some leave a lock for
                # which all others wait.
                f"SetEnv HOME={folder}\n"
            )
        with contextlib.suppress(OSError):
            # Debian's sshd locks its child in there.
            pathlib.Path("/run/sshd").mkdir(exist_ok=True)
        for address in BOARDS:
            self.start(address)
        self.why_not = (
            "" if all(map(self._serves, BOARDS)) else "sshd does not serve in a network of its own"
        )

    def _serves(self, address: str) -> bool:
        words = [
            "ssh",
            "-F",
            "none",
            "-o",
            f"UserKnownHostsFile={self.folder / 'known'}",
            "-o",
            "BatchMode=yes",
            "-i",
            str(self.folder / "user"),
            "-p",
            str(SSH_PORT),
            address,
            "true",
        ]
        end = time.monotonic() + SECONDS_TO_SERVE
        while time.monotonic() < end:
            if subprocess.run(words, capture_output=True, check=False).returncode == 0:
                return True
            time.sleep(0.1)
        return False

    def restart(self, address: str) -> None:
        """Start an sshd if it does not run; wait until it serves."""
        self.start(address)
        self._serves(address)

    def start(self, address: str) -> None:
        own = self.servers.get(address)
        if own is None or own.poll() is not None:
            with (self.folder / "sshd.log").open("ab") as log:
                argv = [self.sshd, "-D", "-e", "-f", str(self.folder / f"{address}.config")]
                self.servers[address] = subprocess.Popen(argv, stderr=log)

    def kill(self, addresses: "tuple[str, ...]") -> None:
        """Kill sshds with the processes that serve their connections."""
        for address in addresses:
            own = self.servers[address]
            for process in descendants(own.pid):  # each connection has a session of its own
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            own.kill()
            own.wait()

    def close(self) -> None:
        self.kill(tuple(self.servers))

    def target(self, address: str, python: str) -> pathlib.Path:
        """A target file for a board; `python`: its Python; empty: an ssh for each command."""
        path = self.folder / f"{address}{'-python' if python else ''}.toml"
        path.write_text(
            f'description = "a board"\ntransport = "ssh"\n[board]\nhost = "{address}"\nport = '
            f"{SSH_PORT}\ncpu = 0\n"
            f'identity = "{self.folder / "user"}"\noptions = ["-F", "none", "-o", '
            f'"UserKnownHostsFile={self.folder / "known"}"]\n'
            f'folder = "{self.folder / f"on-{address}"}"\npython = '
            f'"{python}"\ntimeout_seconds = 20\n'
        )
        return path


def run_on_board(
    target_file: pathlib.Path,
    program: pathlib.Path,
    journal: pathlib.Path,
    when_written: "threading.Event",
) -> None:
    """Run the cells that the file does not have, as `everycore matrix --resume --target board.toml`
    does.
    """
    from everycore.environment.context import system_context
    from everycore.matrix.board import open_board
    from everycore.model.cells import Cell, Head, Outcome, Result
    from everycore.model.domain import Revision
    from everycore.model.targets import read_target
    from everycore.store import matrix_files

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
        from everycore.environment.errors import EverycoreError
        from everycore.store import matrix_files

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
    from everycore.model.cells import Result
    from everycore.store import matrix_files

    stored = matrix_files.read(journal)
    lines = [line for line in stored.lines if isinstance(line, Result)]
    if len(lines) != len(stored.results):
        return f"{len(lines)} lines of {len(stored.results)} cells"
    if len(lines) != expected:
        return f"{len(lines)} of {expected} cells after {lost} lost runs"
    if any(line.executed != int(line.cell.flags[0].removeprefix("-DN=")) for line in lines):
        return "a cell has another's count"
    return ""


def run(folder: pathlib.Path, journal: pathlib.Path, when_written: "threading.Event") -> None:
    """Run the cells that the file lacks, as `everycore matrix --resume --scheduler` does."""
    from everycore.environment.context import system_context
    from everycore.farm.matrix_run import FarmRun
    from everycore.farm.scheduler import connected
    from everycore.farm.work import Job, Work
    from everycore.matrix.cell_runs import Run
    from everycore.matrix.make import CellPipeline
    from everycore.matrix.plan import HostCpu, Planned
    from everycore.matrix.time_limits import Clock
    from everycore.model.cells import Cell, Head
    from everycore.model.domain import Machine, Revision, Tree
    from everycore.store import matrix_files

    context = system_context()
    context = type(context)(
        **{name: getattr(context, name) for name in context.__slots__}
        | {"env": {**os.environ, "XDG_CACHE_HOME": str(folder / f"cache-{journal.stem}")}}
    )
    cells = [
        Cell("stand-in", "count", "gcc-12", (f"-DN={number}",), "qemu-aarch64")
        for number in range(CELLS)
    ]
    jobs = {cell: Job(Work.COUNT, cell, "1", "t", compiler=journal.stem) for cell in cells}
    bench = CellPipeline(context, Tree(ROOT, True), {}, HostCpu("x86_64"))
    head = Head("2026-01-01", "1", Revision("", False), Machine("test"), "none", {})
    with (
        connected(context, ADDRESS, jobs[cells[0]]) as farm,
        matrix_files.Writer(journal, head, journal.exists()) as writer,
    ):
        done = writer.stored.results
        own = FarmRun(farm, bench, Run(bench, Clock(time.monotonic)), jobs)
        for result in own.cells([Planned(cell) for cell in cells if cell not in done]):
            writer.write(result)
            when_written.set()


def one_round(
    farm: Farm, boards: Boards, folder: pathlib.Path, number: int, source: random.Random
) -> str:
    """Return what is wrong; an empty text: nothing."""
    what = source.choice(((BOARDS[0],), (BOARDS[1],), BOARDS))
    wait = source.uniform(0, BOARD_CELLS * 0.04)
    own = [
        BoardRound(boards, address, folder, number)
        for address in (BOARDS if not boards.why_not else ())
    ]

    def disturb(one: BoardRound) -> None:
        one.begun.wait(30)
        time.sleep(wait)
        boards.kill((one.address,))

    threads = [threading.Thread(target=disturb, args=(one,)) for one in own if one.address in what]
    for thread in threads:
        thread.start()
    why = round_of_farm(farm, folder, number, source)
    if own:
        for thread in threads:
            thread.join()
        why = "; ".join(text for text in (why, *(one.wrong() for one in own)) if text)
        lost = " and ".join(str(one.lost) for one in own)
        KILLS.update({"sshds": len(what), "lost runs on boards": sum(one.lost for one in own)})
        print(
            f"round {number}: sshd of {' and '.join(what)} killed after {wait:.2f} s, {lost} "
            f"lost runs",
            flush=True,
        )
    return why


def round_of_farm(farm: Farm, folder: pathlib.Path, number: int, source: random.Random) -> str:
    """Return what is wrong; an empty text: nothing."""
    from everycore.environment.errors import EverycoreError, LostError
    from everycore.store import matrix_files

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
            if (
                "no scheduler answers" not in error.message
                and "cannot run everycore" not in error.message
            ):
                return f"{what}: {error.message}"
            lost += 1
        else:
            if thread:
                thread.join()
            again = {f"-DN={number}" for number in range(CELLS)} & {
                cell.flags[0] for cell in before
            }
            asked = set((folder / "asked").read_text().split())
            if again & asked:
                return (
                    f"{what}: cells were asked again that had been written: {sorted(again & asked)}"
                )
            break
        if thread:
            thread.join()
    if why := wrong_cells(journal, CELLS, lost):
        return f"{what}: {why}"
    KILLS.update(
        {
            "schedulers": what == "scheduler",
            "workers": {"scheduler": 0, "both": 2}.get(what, 1),
            "lost runs on workers": lost,
        }
    )
    print(
        f"round {number}: {what} killed after {wait:.2f} s, {lost} lost runs, {CELLS} cells",
        flush=True,
    )
    return ""


def describe(rounds: int, seed: int, failed: int, seconds: float) -> "dict[str, object]":
    """Return the result as it is stored."""
    git = ["git", "-c", "safe.directory=*", "-C", str(ROOT)]
    changed = subprocess.run(
        [*git, "status", "--porcelain", "--untracked-files=no"],
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    revision = subprocess.run(
        [*git, "rev-parse", "HEAD"],
        capture_output=True,
        text=True,
        check=False,
    ).stdout.strip()
    lines = pathlib.Path("/proc/cpuinfo").read_text().partition("\n\n")[0].splitlines()
    facts = {
        name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)
    }
    cpu = " ".join(
        (
            facts.get("model name", os.uname().machine),
            "family",
            facts.get("cpu family", "?"),
            "model",
            facts.get("model", "?"),
        )
    )
    return {
        "rounds": rounds,
        "seed": seed,
        "failed": failed,
        **{name.replace(" ", "_"): KILLS[name] for name in sorted(KILLS)},
        "seconds": round(seconds),
        "revision": revision + (" with changes" if changed else ""),
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d"),
        "cpu": cpu,
        "cores": os.cpu_count(),
    }


def in_own_network(arguments: list[str]) -> int:
    """Start this program again where no port of this machine can be reached."""
    words = (
        ["unshare", "--net"]
        if os.geteuid() == 0
        else ["unshare", "--user", "--map-root-user", "--net"]
    )
    for trial in ([*words, "true"], ["ip", "-V"]):
        try:
            subprocess.run(trial, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            print(f"skipped: `{' '.join(trial)}` does not work here\n0 passed, 0 failed, 1 skipped")
            return 0
    script = 'ip link set lo up && exec "$@"'
    argv = [*words, "sh", "-c", script, "sh", sys.executable, __file__, *arguments]
    return subprocess.run(argv, env={**os.environ, INSIDE: "1"}, check=False).returncode


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=pathlib.Path)
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
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        folder.chmod(0o755)
        with contextlib.closing(Farm(folder)) as farm, contextlib.closing(Boards(folder)) as boards:
            skipped = int(bool(boards.why_not))
            if skipped:
                print(f"skipped: {boards.why_not}")
            for number in range(options.rounds):
                if why := one_round(farm, boards, folder, number, source):
                    failed += 1
                    print(f"round {number}: {why}", flush=True)
                    print((folder / "dask.log").read_text()[-2000:])
    if options.out and not skipped:
        with options.out.open("a") as file:
            file.write(
                json.dumps(describe(options.rounds, options.seed, failed, time.monotonic() - began))
                + "\n"
            )
    print(f"{options.rounds - failed} passed, {failed} failed, {skipped} skipped")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
