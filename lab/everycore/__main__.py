# SPDX-License-Identifier: MIT
"""Entry point of `everycore` and of `python -m everycore`."""

from __future__ import annotations  # the types below are imported by run()

import os
import signal
import sys

TYPE_CHECKING = False  # importing it from typing would take a while
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from everycore.environment.context import SystemRunner

UNWRITTEN = 2  # exit code of output that cannot be written
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def end_at_once(number: int, frame: FrameType | None) -> None:
    """End without a message: this program has started nothing so far, or has ended it all."""
    del frame
    os._exit(128 + number)


def set_handlers(handler: Callable[[int, FrameType | None], None]) -> None:
    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
            signal.signal(number, handler)


def run() -> None:
    """Run the command line, and end with its exit code and with all processes that it started."""
    set_handlers(end_at_once)  # the imports take a while, and Ctrl-C may come meanwhile
    from contextlib import suppress

    from everycore.cli import main
    from everycore.environment.context import SystemRunner, system_context
    from everycore.environment.errors import SignalError

    runner = SystemRunner()
    context = system_context(runner)
    handle_signals(runner)
    try:
        code = main(sys.argv[1:], context)
    except SignalError as ended:  # it came before main() began its work, or after that
        code = ended.code
    if not runner.is_ending:
        set_handlers(end_at_once)
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
            from everycore.environment.context import unwritable

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
    from everycore.environment.errors import SignalError

    def end(number: int, frame: FrameType | None) -> None:
        del frame
        if runner.is_ending:
            runner.end_all(signal.SIGKILL)
            return
        runner.end_all()
        raise SignalError(number)

    set_handlers(end)


if __name__ == "__main__":
    run()
