# SPDX-License-Identifier: MIT
"""Samples a command to its end, or a process that is there, by the best means that is allowed.

A command keeps its standard streams, its environment and its exit code. It starts only when the
sampler is ready, and is not stopped when the sampling ends before it does.
"""

import errno
import os
import platform
import select
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from everycore.environment.errors import EverycoreError
from everycore.explain import perf, stopping
from everycore.explain.environments import Watch, chosen
from everycore.explain.memory import Snapshots
from everycore.explain.samples import Environment, Sampled, read_mappings

POLL_SECONDS = 0.04
_NAME_BYTES = 15  # of a process: TASK_COMM_LEN without its end, linux/sched.h
_REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.EINVAL, errno.EMFILE, errno.ENOMEM)
_ABSENT = (errno.ENOENT, errno.EOPNOTSUPP, errno.ENODEV, errno.ENXIO)
_PASSED_ON = (signal.SIGTERM, signal.SIGHUP)
PERF_HINT = (
    "as root: `sysctl kernel.perf_event_paranoid=2`; in a container: allow perf_event_open and"
    " ptrace (for docker: --cap-add PERFMON,SYS_PTRACE)"
)


@dataclass(frozen=True, slots=True)
class SamplingOptions:
    """Wishes of the user."""

    hz: int = 499
    seconds: float | None = None
    means: str = "auto"  # or "perf" or "ptrace"


@dataclass(frozen=True, slots=True)
class Goal:
    """Threads that are to be sampled: of a command that has not begun, or of a process."""

    pid: int
    tids: tuple[int, ...]
    is_command: bool
    program: str = ""  # of a command
    environment: Environment = ()  # of a command, which a program such as `env` may change


def sample_command(
    argv: Sequence[str], asked: SamplingOptions, env: Mapping[str, str], stdout: int | None = None
) -> Sampled:
    """Run a command to its end, and sample it and all that it starts.

    `stdout`: a descriptor that replaces its standard output and error.
    """
    with _held_back(argv, env, stdout) as (pid, let_go):
        program = Path(argv[0]).name[:_NAME_BYTES]
        goal = Goal(pid, (pid,), True, program, chosen(env.items()))
        return _begin(asked, goal, let_go)


def run_command(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """Run a command to its end without sampling it, and return its exit code."""
    with _held_back(argv, env, None) as (pid, let_go):
        let_go()
        _, status = os.waitpid(pid, 0)
        return shell_code(status)


def sample_process(pid: int, asked: SamplingOptions) -> Sampled:
    """Sample a process, and all that it starts from now on, for some seconds or to its end."""
    try:
        tids = tuple(int(thread.name) for thread in Path(f"/proc/{pid}/task").iterdir())
    except (OSError, ValueError) as error:
        raise EverycoreError(
            f"there is no process {pid}", "`ps -e` lists the processes that run"
        ) from error
    return _begin(asked, Goal(pid, tids, False), lambda: None)


def _begin(asked: SamplingOptions, goal: Goal, let_go: Callable[[], None]) -> Sampled:
    machine = platform.machine()
    if platform.system() != "Linux" or not perf.is_supported(machine):
        raise EverycoreError(
            f"programs of {platform.system()} on {machine} cannot be sampled",
            "Linux on x86-64 or AArch64 can; --load explains samples of another machine",
        )
    reasons: list[str] = []
    if asked.means in ("auto", "perf"):
        for hardware, kernel in ((True, True), (True, False), (False, True), (False, False)):
            event = perf.Event(hardware, kernel, asked.hz)
            try:
                rings = perf.Rings(machine, event, goal.tids, goal.is_command)
            except ProcessLookupError as error:
                raise EverycoreError(f"process {goal.pid} has ended") from error
            except OSError as error:
                reason = _why_not(hardware, kernel, error)
                if error.errno not in (*_REFUSALS, *_ABSENT):
                    raise EverycoreError(reason, PERF_HINT) from error
                reasons.append(reason)
                continue
            clock = "CPU cycles" if hardware else "CPU clock"
            sampled = Sampled(machine, f"perf, {clock}", "; ".join(dict.fromkeys(reasons)))
            return _by_perf(rings, sampled, asked, goal, let_go)
    else:
        reasons.append("ptrace was asked for")
    if asked.means == "perf":
        raise EverycoreError(f"perf cannot be used: {reasons[-1]}", PERF_HINT)
    return _by_ptrace(Sampled(machine, "ptrace", reasons[-1]), asked, goal, let_go)


def _why_not(hardware: bool, kernel: bool, error: OSError) -> str:
    if error.errno in _ABSENT and hardware:
        return "no counter of CPU cycles here"
    what = "samples of the kernel" if kernel else "perf_event_open"
    return f"{what}: {error.strerror}"


def _by_perf(
    rings: perf.Rings,
    sampled: Sampled,
    asked: SamplingOptions,
    goal: Goal,
    let_go: Callable[[], None],
) -> Sampled:
    snapshots, watch = Snapshots(sampled), Watch(sampled)
    _note_start(sampled, goal)
    began = time.monotonic()
    try:
        if not goal.is_command:
            rings.enable()
        let_go()
        sampling = True
        for _ in _until_end(goal, sampled):
            if sampling:
                news = rings.drain(sampled)
                watch.look(news)
                snapshots.take(news)
                sampled.seconds = time.monotonic() - began
            if asked.seconds is not None and time.monotonic() - began >= asked.seconds:
                if not goal.is_command:
                    break
                if sampling:
                    rings.disable()
                sampling = False
        rings.drain(sampled, is_last=True)
    finally:
        rings.close()
    return sampled


def _until_end(goal: Goal, sampled: Sampled) -> Iterator[None]:
    """Yield again and again until the process has ended; note the exit code of a command."""
    try:
        handle = os.pidfd_open(goal.pid)
    except ProcessLookupError:
        return
    try:
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        while not poll.poll(int(POLL_SECONDS * 1000)):
            yield
        yield
    finally:
        os.close(handle)
    if goal.is_command:
        _, status = os.waitpid(goal.pid, 0)
        sampled.code = shell_code(status)


def shell_code(status: int) -> int:
    """Return the exit code that a shell shows for the status of a process."""
    code = os.waitstatus_to_exitcode(status)
    return 128 - code if code < 0 else code


def _by_ptrace(
    sampled: Sampled, asked: SamplingOptions, goal: Goal, let_go: Callable[[], None]
) -> Sampled:
    stopper = stopping.Stopper(sampled.machine, sampled)
    try:
        stopper.seize(goal.tids, goal.pid, before_exec=goal.is_command)
    except OSError as error:
        stopper.release()
        if error.errno == errno.ESRCH:
            raise EverycoreError(f"process {goal.pid} has ended") from error
        raise EverycoreError(
            f"the program cannot be sampled: perf: {sampled.why}; ptrace: {error.strerror}",
            PERF_HINT,
        ) from error
    snapshots, watch = Snapshots(sampled), Watch(sampled)
    if goal.is_command:
        _note_start(sampled, goal)
    began = time.monotonic()
    try:
        let_go()
        # The whole tree is followed to the end of the command, which is not always the last.
        while stopper.end_of(goal.pid) is None and not stopper.is_over:
            stopper.run(1 / asked.hz)
            sampled.seconds = time.monotonic() - began
            if asked.seconds is not None and sampled.seconds >= asked.seconds:
                break
            before = len(sampled.samples)
            stopper.sample()
            news = sampled.samples[before:]
            watch.look(
                sample for sample in news if sampled.environment_at(sample.pid, sample.time) is None
            )
            snapshots.take(news)
    finally:
        stopper.release()
    if goal.is_command:
        status = stopper.end_of(goal.pid)
        if status is None:
            _, status = os.waitpid(goal.pid, 0)
        sampled.code = shell_code(status)
    return sampled


def _note_start(sampled: Sampled, goal: Goal) -> None:
    """Note the environment of a command, or what perf does not tell of a process that is there."""
    if goal.is_command:
        sampled.given = (goal.pid, goal.program, goal.environment)
    else:
        _note_process(sampled, goal.pid)
        Watch(sampled).look_at(goal.pid)


def _note_process(sampled: Sampled, pid: int) -> None:
    """Read what perf tells only of processes that begin: the mappings, and the name."""
    folder = Path(f"/proc/{pid}")
    try:
        maps = (folder / "maps").read_text(errors="replace")
        sampled.names[pid] = (folder / "comm").read_text(errors="replace").strip()
    except OSError as error:
        raise EverycoreError(
            f"process {pid} cannot be read: {error.strerror}", "is it yours? root may read all"
        ) from error
    sampled.mappings[pid] = read_mappings(maps, executable_only=True)


@contextmanager
def _held_back(
    argv: Sequence[str], env: Mapping[str, str], stdout: int | None
) -> Iterator[tuple[int, Callable[[], None]]]:
    """A process that waits with the execution of a command until it is let go."""
    gate_out, gate_in = os.pipe()
    told_out, told_in = os.pipe()
    pid = os.fork()
    if not pid:
        _execute(argv, env, stdout, gate_out, told_in)
    os.close(gate_out)
    os.close(told_in)
    is_let_go = False

    def let_go() -> None:
        nonlocal is_let_go
        is_let_go = True
        os.write(gate_in, b"x")

    try:
        with _signals_passed_on(pid):
            yield pid, let_go
            told = os.read(told_out, 64)
    except BaseException:
        if not is_let_go:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)
        raise
    finally:
        os.close(gate_in)
        os.close(told_out)
    if told:
        raise EverycoreError(
            f"cannot run {argv[0]}: {os.strerror(int(told))}", "name a program and its arguments"
        )


def _execute(
    argv: Sequence[str], env: Mapping[str, str], stdout: int | None, gate: int, told: int
) -> None:
    """Wait for the gate, and become the command; never returns."""
    try:
        for number in (signal.SIGINT, signal.SIGPIPE, *_PASSED_ON):
            # Handlers are replaced by exec; what Python ignores by itself must not stay ignored.
            if number == signal.SIGPIPE or signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, signal.SIG_DFL)
        if os.read(gate, 1) != b"x":
            os._exit(1)
        if stdout is not None:
            os.dup2(stdout, 1)
            os.dup2(stdout, 2)
        os.execvpe(argv[0], list(argv), dict(env))
    except OSError as error:
        os.write(told, str(error.errno).encode())
    finally:
        os._exit(127)


@contextmanager
def _signals_passed_on(pid: int) -> Iterator[None]:
    """Let a command decide on signals that ask it to end; Ctrl-C reaches it by the terminal."""

    def pass_on(number: int, frame: FrameType | None) -> None:
        del frame
        with suppress(ProcessLookupError):
            os.kill(pid, number)

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, *_PASSED_ON)}
    try:
        for number, handler in before.items():
            if handler != signal.SIG_IGN:
                signal.signal(number, signal.SIG_IGN if number == signal.SIGINT else pass_on)
        yield
    finally:
        for number, handler in before.items():
            if handler is not None:
                signal.signal(number, handler)
