# SPDX-License-Identifier: MIT
"""Stands before a harness on a board, and cuts the connection: drop.py N FLAG LISTENER COMMAND...

After N lines of a `bench` that measures, if the file FLAG is there, it is removed, and all sshd
above this process are killed but the one that listens. With LISTENER 0 it falls silent instead.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path


def above(pid: int) -> "list[tuple[int, str]]":
    found = []
    while pid > 1:
        name, _, rest = Path(f"/proc/{pid}/stat").read_text().partition("(")[2].rpartition(")")
        found.append((pid, name))
        pid = int(rest.split()[1])
    return found


def cut(listener: int) -> None:
    time.sleep(0.3)  # what was written shall arrive
    if listener == 0:
        time.sleep(60)
    for pid, name in above(os.getpid()):
        if name.startswith("sshd") and pid != listener:
            os.kill(pid, signal.SIGKILL)
    time.sleep(60)


def main() -> int:
    lines, flag, listener, *command = sys.argv[1:]
    measures = "bench" in command and "--dry-run" not in command
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for number, line in enumerate(process.stdout, 1):
        print(line, end="", flush=True)
        if measures and number == int(lines) and Path(flag).exists():
            Path(flag).unlink()
            process.kill()
            cut(int(listener))
    return process.wait()


if __name__ == "__main__":
    sys.exit(main())
