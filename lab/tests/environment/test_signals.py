# SPDX-License-Identifier: MIT
"""A program that is asked to end, or killed, leaves nothing running behind."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from world import nothing_ignored

import everycore

PACKAGES = Path(everycore.__file__).parents[1]
LONG_SECONDS = 600
PATIENCE_SECONDS = 60  # of a busy machine

# Starts a "measured program", which starts another one; the main thread says their numbers.
BEGIN = f"""
import sys
from pathlib import Path
sys.path.insert(0, {str(PACKAGES)!r})
from everycore import __main__, cli
from everycore.environment.context import SystemRunner
PROGRAM = ["sh", "-c", "sleep {LONG_SECONDS} & echo $$ $!; wait"]
"""
STREAM = "for line in context.runner.stream(PROGRAM): print(line, flush=True)"
# The message of its end takes long.
STREAM_AND_END_SLOWLY = f"""
import time
show = context.err.print
def show_slowly(*words, **options):
    print("ending", flush=True)
    time.sleep(2)
    show(*words, **options)
context.err.print = show_slowly
{STREAM}
"""
TALK = """
with context.runner.talk(PROGRAM, env=dict(context.env)) as program:
    sys.stdout.write(program.source.readline().decode()); sys.stdout.flush()
    program.read(1)
"""
# A worker whose process is killed, and one that does not return for long.
WORKERS = f"""
import time
from everycore.environment.workers import worker_pool
def work(i):
    if i:
        context.runner.run(["sh", "-c", "sleep {LONG_SECONDS} & echo $$ $! > numbers.part;"
                            " mv numbers.part numbers; wait"], cwd=context.cwd, seconds=600)
    else:
        time.sleep({LONG_SECONDS})
def say():
    while not Path("numbers").exists(): time.sleep(0.05)
    print(Path("numbers").read_text(), flush=True)
with worker_pool(2) as pool:
    jobs = [pool.submit(work, i) for i in range(2)]
    say()
    jobs[1].result()
"""


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[str], "subprocess.Popen[str]"]]:
    """Starts everycore with a command that runs the given code."""
    started: list[subprocess.Popen[str]] = []

    def begin(code: str) -> "subprocess.Popen[str]":
        body = "\n".join(f"    {line}" for line in code.strip().splitlines())
        text = (
            f"{BEGIN}\ndef command(words, context):\n{body}\ncli._run = command\n__main__.run()\n"
        )
        (tmp_path / "program.py").write_text(text, encoding="utf-8")
        words = [sys.executable, str(tmp_path / "program.py")]
        pipe = subprocess.PIPE
        started.append(subprocess.Popen(words, cwd=tmp_path, stdout=pipe, stderr=pipe, text=True))
        return started[-1]

    with nothing_ignored():
        yield begin
    for process in started:
        process.kill()
        process.communicate()


def wait_for_end_of(numbers: list[int]) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while any(is_running(number) for number in numbers):
        assert time.monotonic() < end, f"{numbers} are still running"
        time.sleep(0.05)


def is_running(number: int) -> bool:
    """A zombie whose parent is gone may be there until init looks."""
    try:
        status = Path(f"/proc/{number}/stat").read_text(encoding="ascii")
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("code", [STREAM, TALK, WORKERS], ids=["stream", "talk", "workers"])
def test_a_signal_ends_everycore_and_all_that_it_started(
    start: Callable[[str], "subprocess.Popen[str]"], code: str, number: signal.Signals
) -> None:
    process = start(code)
    assert process.stdout is not None
    numbers = [int(word) for word in process.stdout.readline().split()]
    assert len(numbers) == 2
    os.kill(process.pid, number)
    _, errors = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 128 + number, errors
    assert "Traceback" not in errors
    assert str(signal.strsignal(number)) in errors
    wait_for_end_of(numbers)


@pytest.mark.parametrize("module", ["everycore.environment.context", "everycore.cli"])
def test_ctrl_c_during_the_imports_is_no_traceback(tmp_path: Path, module: str) -> None:
    (tmp_path / "program.py").write_text(
        f"""
import sys, time
sys.path.insert(0, {str(PACKAGES)!r})
class SlowImport:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            print("importing", flush=True)
            time.sleep({LONG_SECONDS})
sys.meta_path.insert(0, SlowImport())
from everycore.__main__ import run
run()
""",
        encoding="utf-8",
    )
    pipe = subprocess.PIPE
    with (
        nothing_ignored(),
        subprocess.Popen(
            [sys.executable, str(tmp_path / "program.py")], stdout=pipe, stderr=pipe, text=True
        ) as process,
    ):
        assert process.stdout is not None
        assert process.stdout.readline() == "importing\n"
        os.kill(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE_SECONDS)
    assert (process.returncode, errors) == (128 + signal.SIGINT, "")


def test_signals_that_come_while_it_ends_are_no_second_error(
    start: Callable[[str], "subprocess.Popen[str]"],
) -> None:
    """`timeout` sends one to the program and one to its group, a user presses Ctrl-C again."""
    process = start(STREAM_AND_END_SLOWLY)
    assert process.stdout is not None
    numbers = [int(word) for word in process.stdout.readline().split()]
    os.kill(process.pid, signal.SIGTERM)
    assert process.stdout.readline() == "ending\n"
    os.kill(process.pid, signal.SIGTERM)
    _, errors = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 128 + signal.SIGTERM, errors
    assert "Traceback" not in errors
    wait_for_end_of(numbers)


@pytest.mark.parametrize("code", [STREAM, TALK], ids=["stream", "talk"])
def test_the_measured_program_ends_if_everycore_is_killed(
    start: Callable[[str], "subprocess.Popen[str]"], code: str
) -> None:
    process = start(code)
    assert process.stdout is not None
    measured, other = map(int, process.stdout.readline().split())
    process.kill()
    process.wait()
    try:
        wait_for_end_of([measured])
    finally:
        os.kill(other, signal.SIGKILL)  # no program that is measured starts others
