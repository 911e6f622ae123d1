# SPDX-License-Identifier: MIT
"""A login by ssh takes no more instructions with our arithmetic than those that are stored.

pytest tests/systems/test_ssh_login.py [-k TARGET] [--store]

OpenSSH of Debian 12 is built for each target of TARGETS with OpenSSL as it was, and with OpenSSL
patched by contrib/openssl. sshd and ssh run under QEMU on the loopback address: group exchange
(diffie-hellman-group-exchange-sha256, 3072 bits), an RSA host key and an RSA key of the user of
2048 bits each. A plugin counts what each process executes. The counts are compared with
tests/systems/openssl/login.json; --store writes them there.
"""

import dataclasses
import getpass
import json
import pathlib
import re
import shutil
import subprocess
import time

import pytest
from openssl_builds import (
    BUILD,
    HERE,
    PAIRS,
    built,
    counts,
    need_pair,
    ours,
    plugin,
    sources,
    store,
    stored,
)
from processes import FailedError, need, run, skip_without

from everycore.compile import debs
from everycore.compile.debs.lock import Request
from everycore.environment.context import system_context

pytestmark = pytest.mark.long
STORED = HERE / "login.json"
GROUP_BITS = 3071  # as the file of groups has it
ALLOWED = 1.03
PORT = 22922
SECONDS = 300
OPTIONS = (
    "--without-zlib",
    "--without-pam",
    "--without-selinux",
    "--with-sandbox=no",
    "--without-openssl-header-check",
    "--with-ldflags=-static",
    "--with-libs=-pthread",
    "--without-hardening",
    "--disable-pkcs11",
    "--disable-security-key",
    "--disable-strip",
)
CLIENT = (
    "-F",
    "none",
    "-o",
    "StrictHostKeyChecking=no",
    "-o",
    "UserKnownHostsFile=/dev/null",
    "-o",
    "IdentitiesOnly=yes",
    "-o",
    "KexAlgorithms=diffie-hellman-group-exchange-sha256",
    "-o",
    "HostKeyAlgorithms=rsa-sha2-256",
    "-c",
    "aes128-ctr",
    "-m",
    "hmac-sha2-256",
)


@dataclasses.dataclass(frozen=True)
class Target:
    pair: str  # of openssl_builds.py: its compiler, its library
    host: str  # as OpenSSH's configure calls it
    emulator: tuple[str, ...]


# Debian configures OpenSSL for armel as linux-armv4: with OpenSSL's own assembly. An ARM926EJ-S is
# of Debian's baseline there.
ARM = ("qemu-arm", "-cpu", "arm926")
TARGETS = {
    "hppa": Target("3.0-hppa", "hppa-linux-gnu", ("qemu-hppa",)),
    "armel": Target("3.0-armel", "arm-linux-gnueabi", ARM),
    "armel-asm": Target("3.0-armel-asm", "arm-linux-gnueabi", ARM),
}


def openssh() -> pathlib.Path:
    """Return the folder with OpenSSH's sources; skip if they cannot be fetched."""
    context = system_context()
    request = Request(("bookworm",), "source", sources=("openssh",))
    with skip_without("sources of OpenSSH"):
        lock = debs.pinned(context, request, HERE / "openssh-bookworm.lock", update=False)
        return debs.unpacked_source(context, lock, "openssh")


def programs(
    name: str, library: pathlib.Path, headers: list[pathlib.Path]
) -> dict[str, dict[str, pathlib.Path]]:
    """Build ssh and sshd with the library as it was, and with the patched ones."""
    folder, tree = BUILD / f"openssh-{name}", openssh()
    ssl = folder / "ssl"
    found: dict[str, dict[str, pathlib.Path]] = {}
    if not (folder / "complete").is_file():
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(tree, folder / "tree", symlinks=True)
        (ssl / "lib").mkdir(parents=True)
        for path in headers:
            shutil.copytree(path, ssl / "include/openssl", dirs_exist_ok=True)
        shutil.copyfile(library, ssl / "lib/libcrypto.a")
        run(
            [
                "./configure",
                f"--host={TARGETS[name].host}",
                *OPTIONS,
                f"--with-ssl-dir={ssl}",
                f"--with-privsep-path={folder / 'empty'}",
            ],
            folder / "tree",
        )
        (folder / "empty").mkdir()
        (folder / "complete").touch()
    for which, archive in {"openssl": library, **ours(library, PAIRS[TARGETS[name].pair])}.items():
        shutil.copyfile(archive, ssl / "lib/libcrypto.a")
        for program in ("ssh", "sshd"):
            (folder / "tree" / program).unlink(missing_ok=True)
        run(["make", "-j2", "ssh", "sshd"], folder / "tree")
        (folder / which).mkdir(exist_ok=True)
        for program in ("ssh", "sshd"):
            found.setdefault(which, {})[program] = folder / which / program
            shutil.copy(folder / "tree" / program, folder / which / program)
    return found


def groups(tree: pathlib.Path, to: pathlib.Path) -> None:
    """Write a file with one group."""
    for line in (tree / "moduli").read_text().splitlines():
        if re.match(rf"\d+ \d+ \d+ \d+ {GROUP_BITS} ", line):
            to.write_text(line + "\n")
            return
    raise FailedError(f"OpenSSH's file of groups has none of {GROUP_BITS} bits")


def login(
    found: dict[str, pathlib.Path],
    emulator: tuple[str, ...],
    counter: pathlib.Path,
    folder: pathlib.Path,
) -> dict[str, int]:
    """Return the executed instructions of the client, and of all processes of the server."""
    settings = folder / "sshd_config"
    settings.write_text(
        f"Port {PORT}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nAuthorizedKeysFile "
        f"{folder}/user.pub\n"
        f"ModuliFile {folder}/moduli\nStrictModes no\nPidFile none\nPermitRootLogin yes\n"
        "KexAlgorithms diffie-hellman-group-exchange-sha256\n"
    )
    log = folder / "sshd.log"
    with log.open("w") as out:
        server = subprocess.Popen(
            [
                *emulator,
                "-plugin",
                f"{counter},to={folder}/server",
                found["sshd"],
                "-r",
                "-d",
                "-e",
                "-f",
                settings,
            ],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
        )
    try:
        end = time.monotonic() + SECONDS
        while "Server listening" not in log.read_text():
            if server.poll() is not None or time.monotonic() > end:
                raise FailedError(f"sshd does not listen: {log.read_text()[-800:]}")
            time.sleep(0.1)
        said = run(
            [
                *emulator,
                "-plugin",
                f"{counter},to={folder}/client",
                found["ssh"],
                *CLIENT,
                "-i",
                folder / "user",
                "-p",
                str(PORT),
                f"{getpass.getuser()}@127.0.0.1",
                "echo",
                "logged",
                "in",
            ]
        )
        server.wait(SECONDS)
    except subprocess.TimeoutExpired:
        raise FailedError("sshd does not end") from None
    finally:
        server.kill()
        server.wait()
    if "logged in" not in said:
        raise FailedError(f"no login: {said[-800:]}")
    return {"client": sum(counts(folder / "client")), "server": sum(counts(folder / "server"))}


@pytest.mark.parametrize("name", TARGETS)
def test_a_login_takes_no_more_instructions_than_stored(
    name: str, tmp_path: pathlib.Path, pytestconfig: pytest.Config
) -> None:
    target = TARGETS[name]
    pair = PAIRS[target.pair]
    need_pair(pair)
    need("ssh-keygen")
    library = built(target.pair, pair) / "libcrypto.a"
    headers = [sources(pair.version) / "include/openssl", library.parent / "include/openssl"]
    found = programs(name, library, headers)
    counter = plugin(tmp_path, pair.emulator)
    groups(openssh(), tmp_path / "moduli")
    for key in ("host", "user"):
        kind = ["-t", "rsa", "-b", "2048", "-m", "PEM", "-N", ""]
        run(["ssh-keygen", "-q", *kind, "-f", tmp_path / key])
    now = {
        which: login(paths, target.emulator, counter, tmp_path) for which, paths in found.items()
    }
    total = {which: sum(figures.values()) for which, figures in now.items()}
    print(f"{name}: {json.dumps(now)}: {total['patched'] / total['openssl']:.3f}")
    if pytestconfig.getoption("store"):
        store(STORED, name, now, tuple(TARGETS))
    elif before := stored(STORED).get(name):
        assert total["patched"] <= ALLOWED * sum(before["patched"].values())
