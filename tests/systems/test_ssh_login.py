#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Count the instructions of a login by ssh: test_ssh_login.py [--store] [TARGET...]

OpenSSH of Debian 12 is built for each target of TARGETS with OpenSSL as it was, and with OpenSSL
patched by contrib/openssl. sshd and ssh run under QEMU on the loopback address: group exchange
(diffie-hellman-group-exchange-sha256, 3072 bits), an RSA host key and an RSA key of the user of
2048 bits each. A plugin counts what each process executes. The counts are compared with
tests/systems/openssl/login.json; --store writes them there.
"""

import argparse
import dataclasses
import getpass
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

from test_patched_openssl import (
    BUILD,
    HERE,
    PAIRS,
    FailedError,
    LackingError,
    built,
    counts,
    need,
    ours,
    plugin,
    run,
    try_each,
)

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
    pair: str  # of test_patched_openssl.py: its compiler, its library
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
    from everycore.compile import debs
    from everycore.compile.debs.lock import Request
    from everycore.environment.context import system_context
    from everycore.environment.errors import EverycoreError

    context = system_context()
    try:
        request = Request(("bookworm",), "source", sources=("openssh",))
        lock = debs.pinned(context, request, HERE / "openssh-bookworm.lock", update=False)
        return debs.unpacked_source(context, lock, "openssh")
    except EverycoreError as error:
        raise LackingError(f"no sources of OpenSSH: {error.message}") from error


def programs(
    name: str, library: pathlib.Path, headers: list[pathlib.Path]
) -> dict[str, dict[str, pathlib.Path]]:
    """ssh and sshd of a target, linked with the library as it was and with the patched ones."""
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
    for which, one in {"openssl": library, **ours(library, PAIRS[TARGETS[name].pair])}.items():
        shutil.copyfile(one, ssl / "lib/libcrypto.a")
        for program in ("ssh", "sshd"):
            (folder / "tree" / program).unlink(missing_ok=True)
        run(["make", "-j2", "ssh", "sshd"], folder / "tree")
        (folder / which).mkdir(exist_ok=True)
        for program in ("ssh", "sshd"):
            found.setdefault(which, {})[program] = folder / which / program
            shutil.copy(folder / "tree" / program, folder / which / program)
    return found


def groups(tree: pathlib.Path, to: pathlib.Path) -> None:
    """A file with one group."""
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
    """Executed instructions of the client, and of all processes of the server."""
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


def measured(name: str) -> dict[str, dict[str, int]]:
    target = TARGETS[name]
    pair = PAIRS[target.pair]
    need(pair.compiler, pair.emulator, "ssh-keygen", "make", "perl")
    library = built(target.pair, pair) / "libcrypto.a"
    from test_patched_openssl import sources

    found = programs(
        name,
        library,
        [sources(pair.version) / "include/openssl", library.parent / "include/openssl"],
    )
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        counter = plugin(folder, pair.emulator)
        groups(openssh(), folder / "moduli")
        for key in ("host", "user"):
            run(
                [
                    "ssh-keygen",
                    "-q",
                    "-t",
                    "rsa",
                    "-b",
                    "2048",
                    "-m",
                    "PEM",
                    "-N",
                    "",
                    "-f",
                    folder / key,
                ]
            )
        return {which: login(one, target.emulator, counter, folder) for which, one in found.items()}


def try_target(name: str, store: bool) -> None:
    now = measured(name)
    total = {which: sum(figures.values()) for which, figures in now.items()}
    print(f"{name}: {json.dumps(now)}: {total['patched'] / total['openssl']:.3f}", flush=True)
    every = json.loads(STORED.read_text()) if STORED.is_file() else {}
    if store:
        every[name] = now
        kept = {key: every[key] for key in TARGETS if key in every}
        STORED.write_text(json.dumps(kept, indent=1) + "\n")
    elif name in every:
        stored = sum(every[name]["patched"].values())
        if total["patched"] > ALLOWED * stored:
            raise FailedError(f"a login takes {total['patched']} instructions, stored {stored}")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--store", action="store_true", help="write tests/systems/openssl/login.json"
    )
    parser.add_argument(
        "targets", nargs="*", metavar="TARGET", help=f"{', '.join(TARGETS)}; default: all"
    )
    words = parser.parse_args()
    if unknown := [name for name in words.targets if name not in TARGETS]:
        parser.error(f"no target {unknown[0]}; choose from {', '.join(TARGETS)}")
    return try_each(words.targets or TARGETS, lambda name: try_target(name, words.store))


if __name__ == "__main__":
    sys.exit(main())
