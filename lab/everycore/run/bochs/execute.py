# SPDX-License-Identifier: MIT
"""python -m everycore.run.bochs.execute --cpu MODEL PROGRAM [ARGUMENT]..."""

import signal
import sys
from pathlib import Path

from everycore.environment.errors import EverycoreError
from everycore.run.bochs.guest_process import run

USAGE = "usage: python -m everycore.run.bochs.execute --cpu MODEL PROGRAM [ARGUMENT]..."


def main(words: list[str]) -> int:
    if len(words) < 3 or words[0] != "--cpu":
        print(USAGE, file=sys.stderr)
        return 2
    # The library calls Python only for system calls, so Python would wait for one with Ctrl-C.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        return run(words[1], Path(words[2]), words[3:])
    except EverycoreError as error:
        print(f"bochs: {error}", file=sys.stderr)
        if error.hint:
            print(error.hint, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
