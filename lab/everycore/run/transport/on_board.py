# SPDX-License-Identifier: MIT
"""The part of execnet that runs on the board: one shell command. For Python 3.8 and newer, no
package."""

import os
import signal
import subprocess
import tempfile
import threading
from contextlib import suppress
from typing import Any

STDERR_LIMIT_BYTES = 1 << 16


def serve(channel: Any) -> None:
    """Receive (command, standard input); send pieces of its output, then (code, errors)."""
    command, data = channel.receive()
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as errors:
        source.write(data)
        source.seek(0)
        process = subprocess.Popen(
            ["/bin/sh", "-c", command],
            stdin=source,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
        )
        assert process.stdout is not None
        threading.Thread(target=end_with, args=(channel, process), daemon=True).start()
        while True:
            piece = os.read(process.stdout.fileno(), 1 << 16)
            if not piece:
                break
            channel.send(piece)
        code = process.wait()
        errors.seek(0)
        channel.send((code, errors.read(STDERR_LIMIT_BYTES)))


def end_with(channel: Any, process: "subprocess.Popen[bytes]") -> None:
    """Nothing more is received: this returns when nobody listens any more, or all is done."""
    with suppress(Exception):
        channel.receive()
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


if __name__ == "__channelexec__":
    serve(channel)  # type: ignore[name-defined]  # noqa: F821 - execnet defines it
