# SPDX-License-Identifier: MIT
"""The network of their own in which tests start a farm, and its boards, which are sshds.

A scheduler has 127.0.0.1, two workers have 127.0.0.2 and 127.0.0.3, two boards 127.0.0.4 and
127.0.0.5.
"""

import contextlib
import os
import pathlib
import signal
import subprocess
import time

import pytest
from processes import find

HOST, PORT = "127.0.0.1", 8786
ADDRESS = f"tcp://{HOST}:{PORT}"
WORKERS = ("127.0.0.2", "127.0.0.3")
BOARDS = ("127.0.0.4", "127.0.0.5")
SSH_PORT = 2222
SECONDS_TO_SERVE = 5  # an sshd that was started


def words_for_own_network() -> list[str]:
    """Return the words that start a program where no port of this machine can be reached, and with
    mounts of its own; skip if that does not work here.
    """
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    words = ["unshare", *user, "--net", "--mount"]
    for trial in ([*words, "true"], ["ip", "-V"]):
        try:
            subprocess.run(trial, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            pytest.skip(f"`{' '.join(trial)}` does not work here: apt-get install iproute2")
    return [*words, "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]


def descendants(ancestor: int) -> "list[int]":
    """Return the processes that a process started, and those that they did."""
    parents = {}
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            words = path.read_text().rpartition(")")[2].split()
            parents[int(path.parent.name)] = int(words[1])
    found = [ancestor]
    for known_process in found:
        found += [process for process, parent in parents.items() if parent == known_process]
    return found[1:]


class Boards:
    """The sshds, as processes of ours."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.why_not = ""  # they cannot serve here
        self.servers: dict[str, subprocess.Popen[bytes]] = {}
        self.sshd = find("sshd") or ""
        if not (self.sshd and find("ssh") and find("ssh-keygen")):
            self.why_not = "no sshd: apt-get install openssh-server openssh-client"
            return
        for name in ("host", "user"):
            subprocess.run(
                ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)],
                check=True,
            )
        key = " ".join((folder / "host.pub").read_text().split()[:2])
        (folder / "known").write_text(
            "".join(f"[{address}]:{SSH_PORT} {key}\n" for address in BOARDS)
        )
        for address in BOARDS:
            (folder / f"{address}.config").write_text(
                f"ListenAddress {address}\nPort {SSH_PORT}\nHostKey {folder / 'host'}\nPidFile "
                f"none\nStrictModes no\nUsePAM no\n"
                f"AuthorizedKeysFile {folder / 'user.pub'}\nPasswordAuthentication "
                f"no\nPermitRootLogin yes\n"
                # No start-up file of this user's shell: killed in the middle, some leave a lock for
                # which all others wait.
                f"SetEnv HOME={folder}\n"
            )
        with contextlib.suppress(OSError):
            # Debian's sshd locks its child in there.
            pathlib.Path("/run/sshd").mkdir(exist_ok=True)
        for address in BOARDS:
            self.start(address)
        self.why_not = (
            "" if all(map(self._serves, BOARDS)) else "sshd does not serve in a network of its own"
        )

    def _serves(self, address: str) -> bool:
        words = [
            "ssh",
            "-F",
            "none",
            "-o",
            f"UserKnownHostsFile={self.folder / 'known'}",
            "-o",
            "BatchMode=yes",
            "-i",
            str(self.folder / "user"),
            "-p",
            str(SSH_PORT),
            address,
            "true",
        ]
        end = time.monotonic() + SECONDS_TO_SERVE
        while time.monotonic() < end:
            if subprocess.run(words, capture_output=True, check=False).returncode == 0:
                return True
            time.sleep(0.1)
        return False

    def restart(self, address: str) -> None:
        """Start an sshd if it does not run; wait until it serves."""
        self.start(address)
        self._serves(address)

    def start(self, address: str) -> None:
        own = self.servers.get(address)
        if own is None or own.poll() is not None:
            with (self.folder / "sshd.log").open("ab") as log:
                argv = [self.sshd, "-D", "-e", "-f", str(self.folder / f"{address}.config")]
                self.servers[address] = subprocess.Popen(argv, stderr=log)

    def kill(self, addresses: "tuple[str, ...]") -> None:
        """Kill sshds with the processes that serve their connections."""
        for address in addresses:
            own = self.servers[address]
            for process in descendants(own.pid):  # each connection has a session of its own
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            own.kill()
            own.wait()

    def close(self) -> None:
        self.kill(tuple(self.servers))

    def target(self, address: str, python: str) -> pathlib.Path:
        """A target file for a board; `python`: its Python; empty: an ssh for each command."""
        path = self.folder / f"{address}{'-python' if python else ''}.toml"
        path.write_text(
            f'description = "a board"\ntransport = "ssh"\n[board]\nhost = "{address}"\nport = '
            f"{SSH_PORT}\ncpu = 0\n"
            f'identity = "{self.folder / "user"}"\noptions = ["-F", "none", "-o", '
            f'"UserKnownHostsFile={self.folder / "known"}"]\n'
            f'folder = "{self.folder / f"on-{address}"}"\npython = '
            f'"{python}"\ntimeout_seconds = 20\n'
        )
        return path
