# SPDX-License-Identifier: MIT
"""A board reached over SSH: the harness is copied there, and runs there.

Commands go through execnet, or, where the target says that the board has no Python, each through
an ssh of its own. A first ssh asks the board what it is; it has all that can be wrong with a
connection, and ssh's own words about it.
"""

import hashlib
import re
import secrets
import shlex
from collections.abc import Generator, Iterable, Sequence
from pathlib import Path

from everycore.binary import machine_fit
from everycore.compile.binaries import BOARD_OBJECTS
from everycore.environment.context import Completed, Context
from everycore.environment.errors import CannotRunError, EverycoreError, LostError
from everycore.model.domain import Board, Target
from everycore.run.machine import BOARD_IDS, FILES, Facts
from everycore.run.transport.gateway import Gateway, silent

# No questions: they would come in the middle of everything. Three silent spans of five seconds, and
# the connection counts as lost.
OPTIONS = (
    "BatchMode=yes",
    "ConnectTimeout=10",
    "ServerAliveInterval=5",
    "ServerAliveCountMax=3",
)
OLDEST_PYTHON = (3, 8)  # execnet 2.1
CANNOT_EXECUTE, NOT_FOUND, SSH_FAILED = 126, 127, 255
RECORD = "\x1e"  # between the parts of an answer: in no path and in no file that is asked for
BEGIN = f"{RECORD}begin\n"
UNUSED_DAYS = 30

ABOUT = f"""
printf '{RECORD}uname\\n'; uname -s; uname -r; uname -m
[ -z "$0" ] || {{ printf '{RECORD}python\\n'; "$0" --version 2>&1; }}
for f in {" ".join((*FILES, *BOARD_IDS))}; do
    [ -f "$f" ] && printf '{RECORD}%s\\n' "$f" && cat "$f" 2>/dev/null
done
true
"""
# Messages of ssh, their meaning, and what to do. {title} is user@host, {words} ssh's own options.
EXPLANATIONS = (
    (r"REMOTE HOST IDENTIFICATION HAS CHANGED", "{title} has another host key than it had",
     "if it was set up anew: ssh-keygen -R {known_as}; then connect once by hand: {by_hand}"),
    (r"Host key verification failed", "the host key of {title} is not known yet",
     "connect once by hand and compare its fingerprint: {by_hand}"),
    (r"UNPROTECTED PRIVATE KEY", "ssh refuses the key {identity}: others may read it",
     "chmod 600 {identity}"),
    (r"Identity file \S+ not accessible", "there is no key {identity}",
     "identity in the target's file names a private key"),
    (r"Permission denied", "{title} refuses the login",
     "it has to work without a password: ssh-copy-id {copy_id}; then try {by_hand}"),
    (r"Could not resolve hostname", "there is no host {host}",
     "host in the target's file: a name, an address or an alias of ~/.ssh/config"),
    (r"Connection refused", "nothing answers on the ssh port of {title}",
     "is its ssh server on (Raspberry Pi: raspi-config, Interface Options)? is the port right?"),
    (r"timed out|No route to host|unreachable", "{title} does not answer",
     "is it on, and in this network?"),
)  # fmt: skip


class Shell:
    """A new ssh for each command."""

    def __init__(
        self, context: Context, ssh: Sequence[str], title: str, quiet_seconds: float
    ) -> None:
        self._runner = context.runner
        self._ssh = ssh
        self._title = title
        self._quiet_seconds = quiet_seconds

    def run(self, command: str, data: bytes = b"") -> Completed:
        done = self._runner.run([*self._ssh, _words(command)], stdin=data)
        out, separator, code = done.stdout.partition(BEGIN)[2].rpartition(f"\n{RECORD}")
        if not separator:
            raise self._lost(done.stderr)
        return Completed(int(code), out, done.stderr)

    def stream(self, command: str, stdin: Iterable[str] = ()) -> Generator[str, None, Completed]:
        argv = [*self._ssh, _words(command)]
        lines = self._runner.stream(argv, stdin=stdin, quiet_seconds=self._quiet_seconds)
        begun, code = False, ""
        while True:
            try:
                line = next(lines)
            except TimeoutError as error:
                raise silent(self._title, self._quiet_seconds) from error
            except StopIteration as end:
                done: Completed = end.value
                break
            if not begun:
                begun = line.endswith(BEGIN.rstrip())
            elif line.startswith(RECORD):
                code = line.removeprefix(RECORD)
            elif line:
                yield line
        if not code:
            raise self._lost(done.stderr)
        return Completed(int(code), "", done.stderr)

    def _lost(self, stderr: str) -> LostError:
        return LostError(f"the connection to {self._title} is lost", stderr.strip())


def _words(command: str) -> str:
    """A command for a login shell of any kind, which may have a greeting.

    Its end is told by a last line: without it the connection broke, for ssh's own exit code can be
    the command's.
    """
    script = f"echo '{BEGIN.rstrip()}'; ({command}); printf '\\n{RECORD}%d\\n' $?"
    return f"exec sh -c {shlex.quote(script)}"


class Ssh:
    """A connection to a board, from the start of a command to its end."""

    def __init__(self, context: Context, target: Target) -> None:
        board = target.board
        assert board is not None
        self._target = target
        self._board = board
        self.title = f"{board.user}@{board.host}" if board.user else board.host
        ssh = _command_line(board)
        self.facts = self._ask(context, ssh)
        self.link: Gateway | Shell
        if board.python:
            self.link = Gateway(context, ssh, self.title, board.python, board.timeout_seconds)
        else:
            self.link = Shell(context, ssh, self.title, board.timeout_seconds)
        self.folder = board.folder.removeprefix("~/") or "."
        if not board.keep:
            self.folder += f"/once-{secrets.token_hex(8)}"
        self._make_folder(context)
        self._placed: dict[Path, str] = {}

    def stream(
        self, binary: Path, arguments: Sequence[str], stdin: Iterable[str] = ()
    ) -> Generator[str, None, Completed]:
        """Run a binary that is copied from here, or one that was built on the board."""
        name = self._placed.get(binary) or self._place(binary)
        words = shlex.join([*self._target.emulator, f"./{name}", *arguments])
        done = yield from self.link.stream(f"{self.enter} && exec {words}", stdin)
        if done.code in (CANNOT_EXECUTE, NOT_FOUND):
            raise EverycoreError(
                f"{self.title} cannot run the harness: {done.stderr.strip()}",
                'a program for it needs no library there: link_flags = ["-static"];'
                " its folder must allow programs; an emulator must be installed there",
            )
        return done

    def is_built(self, name: str) -> Path:
        """A harness in the folder of the board, as the path that `stream` knows it by."""
        path = Path(self.folder) / name
        self._placed[path] = name
        return path

    def built_there(self, path: Path) -> bool:
        return path in self._placed and path.name == self._placed[path]

    def gather(self) -> Facts:
        """Ask the board for its facts."""
        return _facts(self.link.run(_about("")).stdout)

    @property
    def enter(self) -> str:
        return f"cd -- {shlex.quote(self.folder)}"

    def run(self, script: str, data: bytes = b"") -> Completed:
        """A script in the board's folder."""
        return self.link.run(f"{self.enter} && {{ {script}; }}", data)

    def lines(self, script: str, stdin: Iterable[str]) -> Generator[str, None, Completed]:
        return self.link.stream(f"{self.enter} && {{ {script}; }}", stdin)

    def program(self, argv: Sequence[str]) -> Completed:
        done = self.link.run(f"{shlex.join(argv)} </dev/null")
        if done.code in (CANNOT_EXECUTE, NOT_FOUND):
            raise CannotRunError(f"cannot run {argv[0]} on {self.title}")
        return done

    def put(self, name: str, data: bytes) -> None:
        """A file in the board's folder: whole, or not there."""
        part = shlex.quote(f"{name}.{secrets.token_hex(4)}")
        script = (
            f"cat >{part} && [ $(wc -c <{part}) = {len(data)} ]"
            f" && chmod 755 {part} && mv -f {part} {shlex.quote(name)}"
            f" || {{ rm -f {part}; false; }}"
        )
        done = self.run(script, data)
        if done.code != 0:
            raise EverycoreError(
                f"cannot copy {name} to {self.title}: {done.stderr.strip() or 'it came in part'}",
                "is there room in its folder?",
            )

    def has(self, name: str) -> bool:
        return self.run(f"touch -c {name} && [ -f {name} ]").code == 0

    def _place(self, binary: Path) -> str:
        if not self._target.emulator and (
            why := machine_fit.misfit(binary, self.facts.architecture)
        ):
            raise EverycoreError(
                f"{self.title}: {why}",
                "name a compiler for the board: compiler in its file, or --cc;"
                ' or let the board compile: build = "there"',
            )
        data = binary.read_bytes()
        name = f"harness-{hashlib.sha256(data).hexdigest()[:32]}"
        if not self.has(name):
            self.put(name, data)
        self._placed[binary] = name
        return name

    def _make_folder(self, context: Context) -> None:
        # Own files are removed by name: the folder may hold other things.
        old = "".join(
            f"find {place} -maxdepth 1 -name '{name}' -mtime +{UNUSED_DAYS} -exec rm {{}} +; "
            for place, name in ((".", f"harness-{'?' * 32}"), (BOARD_OBJECTS, f"{'?' * 32}.o"))
        )
        make = f"mkdir -p -- {shlex.quote(self.folder)} && {self.enter} && mkdir -p {BOARD_OBJECTS}"
        done = self.link.run(f"{make} && {{ {{ {old} }} 2>/dev/null; true; }}")
        if done.code != 0:
            raise EverycoreError(
                f"cannot make {self.folder} on {self.title}: {done.stderr.strip()}",
                "folder in the target's file names another place",
            )
        if not self._board.keep:
            context.closing.callback(self._remove_folder)

    def _remove_folder(self) -> None:
        try:
            self.link.run(f"rm -rf -- {shlex.quote(self.folder)}")
        except EverycoreError:  # it is gone, and whoever noticed first has said so
            return

    def _ask(self, context: Context, ssh: Sequence[str]) -> Facts:
        try:
            done = context.runner.run([*ssh, _about(self._board.python)])
        except EverycoreError as error:
            raise EverycoreError(error.message, "Debian: apt-get install openssh-client") from error
        if done.code == SSH_FAILED or RECORD not in done.stdout:
            raise self._explained(done.stderr)
        if self._board.python:
            self._refuse_python(done.stdout)
        return _facts(done.stdout)

    def _refuse_python(self, about: str) -> None:
        """execnet needs one there."""
        python = self._board.python
        remedy = 'install python3 there, or write python = "" into its file: plain ssh does too'
        version_reply = next((p for p in about.split(RECORD) if p.startswith("python\n")), "")
        version = re.search(r"Python (\d+)\.(\d+)", version_reply)
        if not version:
            raise EverycoreError(f"{self.title} has no {python}, which execnet needs", remedy)
        if (int(version[1]), int(version[2])) < OLDEST_PYTHON:
            raise EverycoreError(f"{self.title} has {version[0]}, too old for execnet", remedy)

    def _explained(self, stderr: str) -> EverycoreError:
        board = self._board
        port = [f"-p {board.port}"] if board.port else []
        identity = [f"-i {board.identity}"] if board.identity else []
        options = [shlex.join(board.options)] if board.options else []
        words = {
            "title": self.title,
            "host": board.host,
            "known_as": f"'[{board.host}]:{board.port}'" if board.port else board.host,
            "identity": board.identity,
            "copy_id": " ".join([*identity, *port, *options, self.title]),
            "by_hand": " ".join(["ssh", *identity, *port, *options, self.title]),
        }
        for pattern, meaning, remedy in EXPLANATIONS:
            if re.search(pattern, stderr):
                return EverycoreError(meaning.format(**words), remedy.format(**words))
        stderr_lines = stderr.strip().splitlines() or ["it said nothing"]
        return EverycoreError(
            f"ssh cannot reach {self.title}: {stderr_lines[-1]}", words["by_hand"]
        )


def _command_line(board: Board) -> list[str]:
    words = ["ssh", *(word for option in OPTIONS for word in ("-o", option)), *board.options]
    if board.port:
        words += ["-p", str(board.port)]
    if board.user:
        words += ["-l", board.user]
    if board.identity:
        words += ["-i", str(Path(board.identity).expanduser()), "-o", "IdentitiesOnly=yes"]
    return [*words, board.host]


def _about(python: str) -> str:
    return f"exec sh -c {shlex.quote(ABOUT)} {shlex.quote(python)}"


def _facts(about: str) -> Facts:
    parts = dict(part.split("\n", 1) for part in about.split(RECORD)[1:] if "\n" in part)
    system, kernel, architecture = (parts.get("uname", "").splitlines() + [""] * 3)[:3]
    texts = {path: text for path, text in parts.items() if path.startswith("/")}
    return Facts(system, kernel, architecture, texts)
