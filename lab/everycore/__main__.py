# SPDX-License-Identifier: MIT
"""Entry point of `everycore` and of `python -m everycore`."""

import os
import signal
import sys
from contextlib import suppress
from types import FrameType

from everycore.environment.context import SystemRunner, system_context, unwritable
from everycore.environment.errors import SignalError

UNWRITTEN = 2  # exit code of output that cannot be written
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def run() -> None:
    """Run the command line, and end with its exit code and with all processes that it started."""
    runner = SystemRunner()
    handle_signals(runner)
    try:
        from everycore.cli import main  # takes a while, and Ctrl-C may come meanwhile
    except SignalError as ended:
        sys.exit(ended.code)
    code = main(sys.argv[1:], system_context(runner))
    if not runner.is_ending:
        sys.exit(flush_output(code))
    runner.end_all(signal.SIGKILL)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # nobody reads it any more
            stream.flush()
    os._exit(code)  # without waiting for threads that are still at work


def flush_output(code: int) -> int:
    """Write what standard output still holds, and return the exit code: 2 if it cannot be written.

    Python itself would write it while it ends, and exit with 120 and a traceback.
    """
    if sys.stdout is None:  # it was closed before we began
        return code
    try:
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has enough
        pass
    except OSError as error:
        if code != UNWRITTEN:  # else the command has told it
            print(f"everycore: {unwritable(error).message}", file=sys.stderr)
        code = UNWRITTEN
    else:
        return code
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes again
    return code


def handle_signals(runner: SystemRunner) -> None:
    """Make the signals that ask a program to end raise SignalError, as Ctrl-C does.

    `timeout` sends one to the program and one to its group: those that come while it ends raise
    nothing, and kill what it started.
    """

    def end(number: int, frame: FrameType | None) -> None:
        del frame
        if runner.is_ending:
            runner.end_all(signal.SIGKILL)
            return
        runner.end_all()
        raise SignalError(number)

    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
            signal.signal(number, end)


if __name__ == "__main__":
    run()
