# SPDX-License-Identifier: MIT
"""What execnet runs on the board: one shell command. For Python 3.8 and newer, no package."""

import os
import subprocess
import tempfile
from typing import Any

STDERR_LIMIT_BYTES = 1 << 16


def serve(channel: Any) -> None:
    """Receive (command, standard input); send pieces of its output, then (code, errors)."""
    command, data = channel.receive()
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as errors:
        source.write(data)
        source.seek(0)
        process = subprocess.Popen(
            ["/bin/sh", "-c", command], stdin=source, stdout=subprocess.PIPE, stderr=errors
        )
        assert process.stdout is not None
        try:
            while True:
                piece = os.read(process.stdout.fileno(), 1 << 16)
                if not piece:
                    break
                channel.send(piece)  # fails when nobody listens any more
            code = process.wait()
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        errors.seek(0)
        channel.send((code, errors.read(STDERR_LIMIT_BYTES)))


if __name__ == "__channelexec__":
    serve(channel)  # type: ignore[name-defined]  # noqa: F821 - execnet defines it
