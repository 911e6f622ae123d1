# SPDX-License-Identifier: MIT
"""Commands on a board through execnet: one connection for all, a Python at its other end."""

from collections.abc import Generator, Iterable, Iterator, Sequence
from importlib.util import find_spec
from typing import Any

from everycore.environment import extras
from everycore.environment.context import Completed, Context, collected, lines
from everycore.environment.errors import EverycoreError, LostError
from everycore.run.transport import on_board

PACKAGE = "execnet"
GOODBYE_SECONDS = 2.0


def silent(title: str, seconds: float) -> LostError:
    """The error of a board that says nothing."""
    return LostError(
        f"{title} has said nothing for {seconds:g} seconds",
        "timeout_seconds in its file says how long is too long",
    )


class Gateway:
    """`ssh`: its command line up to the host; `title`: what to call the board."""

    def __init__(
        self, context: Context, ssh: Sequence[str], title: str, python: str, quiet_seconds: float
    ) -> None:
        if not find_spec(PACKAGE):
            raise EverycoreError(
                "a board is reached through execnet, which is not installed",
                f"{extras.install_command('farm')}\n"
                'or write python = "" into the board\'s file, for ssh without Python',
            )
        import execnet

        self._title = title
        self._quiet_seconds = quiet_seconds
        self._timeout = execnet.TimeoutError
        self._remote_error = execnet.RemoteError
        group = execnet.Group()
        context.closing.callback(group.terminate, GOODBYE_SECONDS)
        # Words of the specification are separated by two slashes, those of ssh by spaces.
        words = " ".join(["-o LogLevel=QUIET", *ssh[1:]])
        try:
            self._gateway = group.makegateway(f"ssh={words}//python={python}//id=board")
        except (execnet.HostNotFound, OSError, EOFError, AssertionError) as error:
            raise EverycoreError(
                f"execnet cannot start {python} on {title}", 'python = "" does without'
            ) from error

    def run(self, command: str, data: bytes = b"") -> Completed:
        return collected(self._stream(command, data))

    def stream(self, command: str, stdin: Iterable[str] = ()) -> Generator[str, None, Completed]:
        return self._stream(command, "".join(f"{line}\n" for line in stdin).encode())

    def _stream(self, command: str, data: bytes) -> Generator[str, None, Completed]:
        end: list[tuple[int, bytes]] = []
        try:
            channel = self._gateway.remote_exec(on_board)
            try:
                channel.send((command, data))
                yield from lines(self._pieces(channel, end))
            finally:
                channel.close()
        except self._timeout as error:
            raise silent(self._title, self._quiet_seconds) from error
        except self._remote_error as error:
            reason_lines = str(error).strip().splitlines() or ["no reason given"]
            raise EverycoreError(f"{self._title}: {reason_lines[-1]}") from error
        except (EOFError, OSError) as error:
            raise LostError(f"the connection to {self._title} is lost") from error
        code, errors = end[0]
        return Completed(code, "", errors.decode(errors="replace"))

    def _pieces(self, channel: Any, end: list[tuple[int, bytes]]) -> Iterator[bytes]:
        while True:
            item = channel.receive(self._quiet_seconds)
            if isinstance(item, tuple):
                end.append(item)
                return
            yield item
