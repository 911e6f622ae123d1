# SPDX-License-Identifier: MIT
"""A board over SSH: an sshd of our own on the loopback address, with keys of its own."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from world import DATA, Lab

from everycore.binary import machine_fit
from everycore.compile import catalog
from everycore.environment.errors import LostError
from everycore.matrix.board import BoardLink
from everycore.matrix.cell_runs import PROCESSES
from everycore.model.domain import Board, Target
from everycore.model.protocol import Bench, Hello
from everycore.run import machine
from everycore.run.bench_calls import QUICK_PROCESSES
from everycore.run.session import open_session
from everycore.run.transport.ssh import EXPLANATIONS
from everycore.store import run_files

BENCH = ("bench", "--quick", "--mode", "ctr", "--bytes", "64,100", "--kernel", "c_ref,c_ttable4")
BOTH = pytest.mark.parametrize("python", [sys.executable, ""], ids=["execnet", "plain"])
ARM = pytest.mark.skipif(
    not (shutil.which("qemu-aarch64") and shutil.which("aarch64-linux-gnu-gcc")),
    reason="apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user",
)


@dataclass(frozen=True)
class Server:
    """The board."""

    folder: Path
    port: int
    pid: int

    def target(self, path: Path, head: str = "", **board: Any) -> str:
        """A target file for it; the argument of --target."""
        words: dict[str, Any] = {
            "host": "127.0.0.1",
            "port": self.port,
            "identity": str(self.folder / "user"),
            "options": ["-F", "none", "-o", f"UserKnownHostsFile={self.folder / 'known'}"],
            "folder": str(path / "board"),
            "python": sys.executable,
        } | board
        lines = [f"{key} = {json.dumps(value)}" for key, value in words.items()]
        text = f'description = "a board"\ntransport = "ssh"\n{head}\n[board]\n'
        (path / "pi.toml").write_text(text + "\n".join(lines) + "\n")
        return str(path / "pi.toml")

    def dropping(
        self, path: Path, figures: int, *, is_silent: bool = False, **board: Any
    ) -> tuple[str, Path]:
        """A target whose connection breaks behind so many figures while a flag is there."""
        flag = path / "flag"
        flag.touch()
        words = [sys.executable, str(DATA / "drop.py"), str(figures), str(flag)]
        words.append("0" if is_silent else str(self.pid))
        return self.target(path, f"emulator = {json.dumps(words)}", **board), flag


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    sshd = shutil.which("sshd") or shutil.which("sshd", path="/usr/sbin")
    if not (sshd and shutil.which("ssh") and shutil.which("ssh-keygen")):
        pytest.skip("apt-get install openssh-server openssh-client")
    folder = tmp_path_factory.mktemp("sshd")
    for name in ("host", "user", "chatty", "stranger"):
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
        subprocess.run(words, check=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    key = " ".join((folder / "host.pub").read_text().split()[:2])
    (folder / "known").write_text(f"[127.0.0.1]:{port} {key}\n")
    greeting = 'command="echo Welcome.; eval \\"$SSH_ORIGINAL_COMMAND\\"" '
    keys = [(folder / f"{name}.pub").read_text() for name in ("user", "chatty")]
    (folder / "authorized").write_text(keys[0] + greeting + keys[1])
    (folder / "config").write_text(
        f"ListenAddress 127.0.0.1\nPort {port}\nHostKey {folder / 'host'}\nPidFile none\n"
        f"AuthorizedKeysFile {folder / 'authorized'}\nStrictModes no\nUsePAM no\n"
        "PasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin yes\n"
        f"SetEnv HOME={folder}\n"  # no start-up file of this user's shell, which may take long
    )
    if os.geteuid() == 0:
        with suppress(OSError):
            Path("/run/sshd").mkdir(exist_ok=True)  # where sshd of Debian locks its child in
    argv = [sshd, "-D", "-e", "-f", str(folder / "config")]
    with (folder / "log").open("w") as log, subprocess.Popen(argv, stderr=log) as process:
        try:
            made = Server(folder, port, process.pid)
            refuse_if_it_does_not_serve(made)
            yield made
        finally:
            process.kill()


def refuse_if_it_does_not_serve(server: Server) -> None:
    known = f"UserKnownHostsFile={server.folder / 'known'}"
    words = ["ssh", "-F", "none", "-o", known, "-o", "BatchMode=yes", "-p", str(server.port)]
    words += ["-i", str(server.folder / "user"), "127.0.0.1", "true"]
    for _ in range(50):
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return
        if "refused" not in done.stderr:
            break
        time.sleep(0.1)
    said = (server.folder / "log").read_text() + done.stderr
    pytest.skip(f"sshd does not serve here: {said.strip().splitlines()[-1]}")


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def points(lines: Sequence[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [(o["kernel"], o["style"], o["bytes"]) for o in lines if o["type"] == "bench"]


WHOLE = {
    *((k, "streamed", n) for k in ("c_ref", "c_ttable4") for n in (64, 100)),
    *((k, "fenced", 64) for k in ("c_ref", "c_ttable4")),
}


@BOTH
def test_a_bench_on_a_board_is_stored_with_the_board(
    real_lab: Lab, server: Server, tmp_path: Path, python: str
) -> None:
    out = tmp_path / "a.jsonl"
    target = server.target(tmp_path, python=python)
    outcome = real_lab(*BENCH, "--target", target, "--out", str(out))
    assert outcome.code == 0, outcome.err
    run = run_files.read(out).run
    assert run.target == "pi"
    assert run.machine.kernel == os.uname().release
    assert run.machine.cpu_index == max(os.sched_getaffinity(0))
    assert set(points(lines_of(out))) == WHOLE
    assert [p.name[:8] for p in (tmp_path / "board").iterdir() if p.is_file()] == ["harness-"]


@pytest.mark.slow
@BOTH
def test_other_commands_run_on_a_board(
    real_lab: Lab, server: Server, tmp_path: Path, python: str
) -> None:
    target = server.target(tmp_path, python=python, keep=False)
    listed = real_lab("list", "--json", "--target", target)
    assert json.loads(listed.out.splitlines()[0])["type"] == "harness", listed.err
    assert real_lab("check", "--quick", "--kernel", "c_ref", "--target", target).code == 0
    assert "ctr(aes)" in real_lab("resolve", "--target", target).out
    assert "unknown mode 'crt'" in real_lab("bench", "--mode", "crt", "--target", target).err
    assert not list((tmp_path / "board").iterdir())


def test_a_board_may_greet_those_who_come_without_python(
    real_lab: Lab, server: Server, tmp_path: Path
) -> None:
    chatty = str(server.folder / "chatty")
    outcome = real_lab("list", "--target", server.target(tmp_path, identity=chatty, python=""))
    assert outcome.code == 0, outcome.err
    real_lab("list", "--target", server.target(tmp_path, identity=chatty)).refuses(
        "execnet cannot start", 'python = "" does without'
    )


@ARM
def test_a_cross_compiled_harness_runs_on_a_board(
    real_lab: Lab, server: Server, tmp_path: Path
) -> None:
    head = 'compiler = "aarch64-linux-gnu-gcc"\nlink_flags = ["-static"]\n'
    target = server.target(tmp_path, head)
    outcome = real_lab("list", "--target", target)
    if os.uname().machine != "aarch64":
        outcome.refuses("the harness is for 64-bit Arm, not for")
    target = server.target(tmp_path, head + 'emulator = ["qemu-aarch64"]\n')
    out = tmp_path / "a.jsonl"
    outcome = real_lab(*BENCH, "--target", target, "--out", str(out))
    assert outcome.code == 0, outcome.err
    assert set(points(lines_of(out))) == WHOLE
    assert run_files.read(out).run.counter == "none"


@pytest.mark.parametrize(("python", "named"), [(sys.executable, False), ("", True)])
def test_a_board_that_drops_the_connection_keeps_what_was_measured(
    real_lab: Lab, server: Server, tmp_path: Path, python: str, named: bool
) -> None:
    target, _ = server.dropping(tmp_path, 4, python=python)
    folder = tmp_path if named else tmp_path / "state" / "everycore" / "results"
    arguments = [*BENCH, "--target", target]
    arguments += ["--out", str(tmp_path / "a.jsonl")] if named else []
    real_lab(*arguments).refuses("the connection to 127.0.0.1 is lost", "3 figures are in")
    (partial,) = folder.glob("*.jsonl*")
    assert partial.name.endswith(".jsonl.partial")
    before = lines_of(partial)
    assert before[-1]["partial"]
    assert len(points(before)) == 3
    refused = real_lab("list", "--markdown", "--results", str(partial))
    assert "is a partial result: the connection" in refused.err

    outcome = real_lab(*arguments)
    assert outcome.code == 0, outcome.err
    assert "3 figures are there" in outcome.err
    assert "in 2 parts" in " ".join(outcome.out.split())
    (whole,) = folder.glob("*.jsonl*")
    after = lines_of(whole)
    assert after[0]["resumed"] == [before[0]["date"]]
    assert sorted(points(after)) == sorted([*WHOLE] * QUICK_PROCESSES)  # once in each process
    for line in before:
        if line["type"] == "bench":
            assert line in after
    assert run_files.read(whole).run.in_parts() == ", in 2 parts"


def test_a_second_drop_is_gone_on_with_too(real_lab: Lab, server: Server, tmp_path: Path) -> None:
    target, flag = server.dropping(tmp_path, 2)
    for there in (1, 2):
        flag.touch()
        assert f"{there} figures are in" in real_lab(*BENCH, "--target", target).err
    (partial,) = (tmp_path / "state" / "everycore" / "results").iterdir()
    lines = lines_of(partial)
    assert len(lines[0]["resumed"]) == 1
    assert len(set(points(lines))) == len(points(lines)) == 2


def test_a_partial_result_of_other_options_is_left_alone(
    real_lab: Lab, server: Server, tmp_path: Path
) -> None:
    target, _ = server.dropping(tmp_path, 4)
    out = tmp_path / "a.jsonl"
    assert real_lab(*BENCH, "--target", target, "--out", str(out)).code == 2
    real_lab(*BENCH, "--key-bits", "128", "--target", target, "--out", str(out)).refuses(
        "is the beginning of another run"
    )
    outcome = real_lab(*BENCH, "--fresh", "--target", target, "--out", str(out))
    assert outcome.code == 0
    assert lines_of(out)[0]["resumed"] == []


def test_a_board_that_falls_silent_is_given_up(
    real_lab: Lab, server: Server, tmp_path: Path
) -> None:
    target, flag = server.dropping(tmp_path, 4, is_silent=True, timeout_seconds=8)
    real_lab(*BENCH, "--target", target, "--out", str(tmp_path / "a.jsonl")).refuses(
        "has said nothing for 8 seconds", "3 figures are in"
    )
    for _ in range(50):
        if not processes_with(str(flag)):
            break
        time.sleep(0.1)
    assert not processes_with(str(flag))


def processes_with(word: str) -> list[str]:
    """The command lines that hold a word."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            found.append(path.read_text(errors="replace"))
    return [line for line in found if word in line]


CC = """#!/bin/sh
# Plays a compiler: objects hold the names of their sources, and the program what it was linked of.
for word; do
    case $last in -c) source=$word ;; -o) out=$word ;; esac
    case $word in *.o) objects="$objects $word" ;; esac
    last=$word
done
case " $* " in
*" -dM "*) exec HOST_CC "$@" ;;
*" -c "*) [ -f include/everycore/aes.h ] && [ -f "$source" ] || exit 1
    case $source:$BROKEN in *resolve.c:yes) echo "resolve.c:1: error: odd" >&2; exit 1 ;; esac
    echo "$source" >"$out" ;;
*) n=$(cat $objects | wc -l)
    printf '#!/bin/sh\\ncat <<X\\n{"type":"harness","version":1,"command":"list",' >"$out"
    printf '"arch":"a64","features":[],"compiler":"","word_bits":64,"big_endian":false,' >>"$out"
    printf '"counter":"","library":"of %d"}\\nX\\n' "$n" >>"$out"
    chmod +x "$out" ;;
esac
"""


def test_the_board_may_compile(
    real_lab: Lab, small_tree: Path, server: Server, tmp_path: Path
) -> None:
    real_lab.env["EVERYCORE_TREE"] = str(small_tree)
    cc = tmp_path / "cc"
    cc.write_text(CC.replace("HOST_CC", shutil.which("cc") or shutil.which("gcc") or "clang"))
    cc.chmod(0o755)
    target = server.target(tmp_path, f'compiler = "{cc}"', build="there")
    tree = catalog.tree_of(real_lab.context())
    for _ in range(2):
        outcome = real_lab("list", "--json", "--target", target)
        assert outcome.code == 0, outcome.err
        assert json.loads(outcome.out)["library"] == f"of {len(catalog.sources(tree))}"
        assert len(list((tmp_path / "board").glob("harness-*"))) == 1
    assert not list((tmp_path / "board").glob("tree-*"))


@ARM
def test_the_generic_timer_counts(real_lab: Lab) -> None:
    session = open_session(real_lab.context(), "qemu-aarch64")
    words = ["bench", "--counter", "cntvct+addchain", "--mode", "ctr", "--kernel", "c_ref"]
    words += ["--bytes", "16", "--samples", "1", "--budget-ms", "50"]
    hello, line = (record for record in session.records(*words))
    assert isinstance(hello, Hello)
    assert isinstance(line, Bench)
    assert hello.counter == line.counter == "cntvct+addchain"
    assert line.cycles or line.dropped  # QEMU is no steady core


def test_what_the_board_cannot_compile_is_told(
    real_lab: Lab, small_tree: Path, server: Server, tmp_path: Path
) -> None:
    real_lab.env["EVERYCORE_TREE"] = str(small_tree)
    cc = tmp_path / "cc"
    cc.write_text("#!/bin/sh\nBROKEN=yes\n" + CC.replace("HOST_CC", "cc"))
    cc.chmod(0o755)
    target = server.target(tmp_path, f'compiler = "{cc}"', build="there")
    real_lab("list", "--target", target).refuses(
        "cannot compile the harness on 127.0.0.1", "resolve.c:1: error: odd"
    )
    assert not list((tmp_path / "board").glob("tree-*"))
    real_lab("list", "--target", target, "--cc", "nocc").refuses("cannot run the C compiler 'nocc'")


@pytest.mark.parametrize(
    ("change", "complaint", "remedy"),
    [
        ({"identity": "stranger"}, "refuses the login", "ssh-copy-id"),
        ({"identity": "nobody"}, "there is no key", "names a private key"),
        ({"options": "none"}, "is not known yet", "by hand"),
        ({"options": "OTHER"}, "has another host key", "ssh-keygen -R '[127.0.0.1]:"),
        ({"port": 1}, "nothing answers", "is the port right"),
        ({"host": "no-such-board.invalid"}, "no host no-such-board.invalid", "alias"),
        ({"python": "python9"}, "has no python9, which execnet needs", 'python = ""'),
        ({"python": "OLD"}, "has Python 3.1, too old for execnet", 'python = ""'),
        ({"folder": "/proc/nowhere"}, "cannot make /proc/nowhere", "another place"),
    ],
)
def test_what_is_wrong_with_a_board_is_explained(
    real_lab: Lab,
    server: Server,
    tmp_path: Path,
    change: dict[str, Any],
    complaint: str,
    remedy: str,
) -> None:
    key = " ".join((server.folder / "stranger.pub").read_text().split()[:2])
    (tmp_path / "other").write_text(f"[127.0.0.1]:{server.port} {key}\n")
    if "identity" in change:
        change = {"identity": str(server.folder / change["identity"])}
    if "options" in change:
        known = change["options"].replace("OTHER", str(tmp_path / "other"))
        change = {"options": ["-F", "none", "-o", f"UserKnownHostsFile={known}"]}
    if change.get("python") == "OLD":
        (tmp_path / "python").write_text("#!/bin/sh\necho Python 3.1\n")
        (tmp_path / "python").chmod(0o755)
        change = {"python": str(tmp_path / "python")}
    real_lab("list", "--target", server.target(tmp_path, **change)).refuses(complaint, remedy)


def test_every_explanation_has_its_words() -> None:
    words = dict.fromkeys(("title", "host", "known_as", "identity", "copy_id", "by_hand"), "x")
    for pattern, meaning, remedy in EXPLANATIONS:
        re.compile(pattern)
        assert "{" not in meaning.format(**words) + remedy.format(**words)


def test_a_binary_for_another_machine_is_known_by_its_header(tmp_path: Path) -> None:
    def binary(machine: int, data: int = 1) -> Path:
        order = "big" if data == 2 else "little"
        head = b"\x7fELF\x02" + bytes([data]) + bytes(12) + machine.to_bytes(2, order)  # type: ignore[arg-type]
        (tmp_path / "x").write_bytes(head)
        return tmp_path / "x"

    assert machine_fit.misfit(binary(183), "aarch64") == ""
    assert machine_fit.misfit(binary(40), "aarch64") == ""
    assert (
        machine_fit.misfit(binary(183), "armv7l") == "the harness is for 64-bit Arm, not for armv7l"
    )
    assert machine_fit.misfit(binary(62), "aarch64") == "the harness is for x86-64, not for aarch64"
    assert machine_fit.misfit(binary(22, 2), "s390x") == ""
    assert machine_fit.misfit(binary(62), "some new machine") == ""
    (tmp_path / "x").write_bytes(b"#!/bin/sh")
    assert machine_fit.misfit(tmp_path / "x", "aarch64") == ""


def test_a_target_of_a_board_has_defaults_that_serve() -> None:
    assert Target("x", "y").board is None
    assert Board("raspberrypi.local").build == "here"


# ---- The matrix ----------------------------------------------------------------------------------


def system_gcc() -> str:
    """The name of the system's GCC as a toolchain: gcc-12 on Debian 12."""
    done = subprocess.run(["gcc", "-dumpversion"], capture_output=True, text=True, check=True)
    return "gcc-" + done.stdout.strip().partition(".")[0]


CELLS = ("--subject", "c_ttable4", "--function", "ctr", "--flags=-O1", "--flags=-O2")


@pytest.mark.slow
@BOTH
def test_the_matrix_times_its_cells_on_a_board(
    server: Server, real_lab: Lab, tmp_path: Path, python: str
) -> None:
    target, out = server.target(tmp_path, python=python), tmp_path / "cells.jsonl"
    words = ("matrix", *CELLS, "--toolchain", system_gcc(), "--target", target, "--out", str(out))
    done = real_lab(*words)
    assert done.code == 0, done.err
    head, *cells = lines_of(out)
    has_id = any(Path(path).is_file() for path in machine.BOARD_IDS)
    assert ("installation" in head["machine"]) == has_id
    assert [(cell["outcome"], cell["cell"]["target"]) for cell in cells] == [("measured", "pi")] * 2
    assert all(len(cell["runs"]) == PROCESSES for cell in cells)
    assert list((tmp_path / "board").glob("harness-*"))  # programs were brought there
    again = real_lab(*words, "--resume")
    assert again.code == 0, again.err
    assert "2 cells are there" in again.err
    assert lines_of(out) == [head, *cells]
    if has_id:  # as if another board answered
        other = out.read_text().replace(head["machine"]["installation"], "0a0b0c0d")
        out.write_text(other)
        real_lab(*words, "--resume").refuses(
            "was measured on another host of this model", "0a0b0c0d"
        )
        assert out.read_text() == other


def test_a_board_that_turns_out_to_be_another_machine_is_refused(
    server: Server, real_lab: Lab, tmp_path: Path
) -> None:
    target, out = server.target(tmp_path), tmp_path / "cells.jsonl"
    words = ("matrix", *CELLS, "--toolchain", system_gcc(), "--target", target, "--out", str(out))
    head = json.dumps(
        {
            "type": "matrix",
            "date": "2026-01-01",
            "everycore": "0",
            "revision": {"commit": "", "dirty": False},
            "machine": {"cpu": "Another board"},
            "counter": "none",
            "options": {},
            "format": 1,
        }
    )
    out.write_text(head + "\n")
    real_lab(*words, "--resume").refuses("was measured on Another board, this would be on")
    assert out.read_text() == head + "\n"


def test_cells_before_a_board_was_lost_stay(
    server: Server, real_lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, out = server.target(tmp_path), tmp_path / "cells.jsonl"
    run = BoardLink.run

    def lost(link: BoardLink, binary: Path, words: Sequence[str]) -> Any:
        if out.exists() and len(lines_of(out)) == 2:  # a head and a cell
            raise LostError("the connection to 127.0.0.1 is lost")
        return run(link, binary, words)

    monkeypatch.setattr(BoardLink, "run", lost)
    words = ("matrix", *CELLS, "--toolchain", system_gcc(), "--target", target, "--out", str(out))
    real_lab(*words).refuses("the connection to 127.0.0.1 is lost")
    kept = [line for line in lines_of(out) if line["type"] == "cell"]
    assert len(kept) == 1
    monkeypatch.setattr(BoardLink, "run", run)
    assert real_lab(*words, "--resume").code == 0
    cells = [line for line in lines_of(out) if line["type"] == "cell"]
    assert cells[0] == kept[0]
    assert len(cells) == 2


@pytest.mark.parametrize("name", ["leaks", "regressions", "plan"])
def test_what_needs_this_machine_is_refused_for_a_board(
    server: Server, real_lab: Lab, tmp_path: Path, name: str
) -> None:
    target = server.target(tmp_path)
    real_lab("matrix", name, *CELLS, "--target", target).refuses(f"matrix {name} is not for boards")
    both = real_lab("matrix", *CELLS, "--target", f"{target},qemu-aarch64")
    assert (both.code, "name it alone" in both.err) == (2, True)
