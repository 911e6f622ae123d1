# SPDX-License-Identifier: MIT
"""nginx, curl, ssh and sshd on the loopback address, with the provider at one side or both.

All CPU time of nginx and curl is less with the provider than without.
"""

import contextlib
import hashlib
import os
import pathlib
import pwd
import resource
import socket
import statistics
import subprocess
import time
from collections.abc import Iterator

import pytest
from processes import FailedError, find, need, run
from provider_module import Words, make_certificate, run_with, write_configuration

pytestmark = pytest.mark.long
TRANSFER_BYTES, TRANSFER_ROUNDS = 2 << 30, 3
CIPHERS_OF_SSH = (
    "aes256-gcm@openssh.com",
    "aes128-ctr",
    "aes256-ctr",
    "aes128-cbc",
    "chacha20-poly1305@openssh.com",
)
TEXT = b"".join(hashlib.sha512(bytes([i % 256, i // 256])).digest() for i in range(1 << 14))


@contextlib.contextmanager
def server(words: Words, port: int, configuration: pathlib.Path | None) -> Iterator[int]:
    """Run a server until it answers at a port of the loopback address, and while the block runs;
    yield its process id.
    """
    environment = {**os.environ, "OPENSSL_CONF": str(configuration or "/etc/ssl/openssl.cnf")}
    process = subprocess.Popen(
        words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    try:
        for _ in range(100):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            if process.poll() is not None:
                raise FailedError(
                    f"{words[0]} ended: {process.communicate()[0][-800:].decode(errors='replace')}"
                )
            time.sleep(0.1)
        yield process.pid
    finally:
        process.terminate()
        process.wait(20)


def free_port() -> int:
    with socket.socket() as any_socket:
        any_socket.bind(("127.0.0.1", 0))
        return int(any_socket.getsockname()[1])


def nginx_command(folder: pathlib.Path, port: int) -> Words:
    """Write a configuration for files of folder/www, and return the command of the server."""
    (folder / "www").mkdir()
    (folder / "nginx.conf").write_text(f"""
daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{}}
http {{ access_log off; client_body_temp_path {folder}/b; proxy_temp_path {folder}/p;
 fastcgi_temp_path {folder}/f;
 uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
 server {{ listen 127.0.0.1:{port} ssl;
  ssl_certificate {folder}/certificate.pem; ssl_certificate_key {folder}/key.pem;
  ssl_protocols TLSv1.2 TLSv1.3; root {folder}/www; }} }}
""")
    return [str(find("nginx")), "-p", folder, "-c", folder / "nginx.conf"]


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    """A folder with a certificate."""
    need("openssl")
    make_certificate(tmp_path)
    return tmp_path


@pytest.mark.parametrize("sides", ["server", "client", "server,client"])
def test_curl_fetches_from_nginx(sides: str, folder: pathlib.Path, provider: pathlib.Path) -> None:
    need("nginx", "curl")
    configuration = write_configuration(folder, provider)
    of_server, of_client = (
        configuration if side in sides else None for side in ("server", "client")
    )
    port = free_port()
    command = nginx_command(folder, port)
    (folder / "www/file").write_bytes(TEXT)
    url = f"https://127.0.0.1:{port}/file"
    fetch = ["curl", "-sS", "--cacert", str(folder / "certificate.pem"), url]
    with server(command, port, of_server) as process:
        maps = pathlib.Path(f"/proc/{process}/maps").read_text()
        assert ("everycore.so" in maps) == bool(of_server)
        for option in (
            ["--tlsv1.3"],
            ["--tls-max", "1.2"],
            ["--tls-max", "1.2", "--ciphers", "AES128-SHA"],
        ):
            target = folder / "fetched"
            run_with(of_client, *fetch, *option, "-o", target)
            assert target.read_bytes() == TEXT, option


# ---- ssh -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", ["server", "client"])
def test_ssh_and_sshd_understand_each_other(
    side: str, tmp_path: pathlib.Path, provider: pathlib.Path
) -> None:
    need("sshd", "ssh", "ssh-keygen")
    if os.getuid() == 0:
        pathlib.Path("/run/sshd").mkdir(exist_ok=True)
    configuration = write_configuration(tmp_path, provider)
    of_server, of_client = (
        configuration if side == peer else None for peer in ("server", "client")
    )
    port = free_port()
    for key in ("host", "user"):
        run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / key])
    (tmp_path / "authorized").write_text((tmp_path / "user.pub").read_text())
    options = [
        f"ListenAddress=127.0.0.1:{port}",
        f"HostKey={tmp_path / 'host'}",
        f"AuthorizedKeysFile={tmp_path / 'authorized'}",
        "StrictModes=no",
        f"PidFile={tmp_path / 'sshd.pid'}",
        "UsePAM=no",
        "PasswordAuthentication=no",
        f"Ciphers={','.join(CIPHERS_OF_SSH)}",
    ]
    daemon = [str(find("sshd")), "-D", "-e", "-f", "/dev/null"]
    daemon += [word for option in options for word in ("-o", option)]
    client = ["ssh", "-F", "none", "-p", str(port), "-i", str(tmp_path / "user")]
    for option in (
        "StrictHostKeyChecking=no",
        "UserKnownHostsFile=/dev/null",
        "LogLevel=ERROR",
        "BatchMode=yes",
    ):
        client += ["-o", option]
    client.append(f"{pwd.getpwuid(os.getuid()).pw_name}@127.0.0.1")
    environment = {**os.environ, "OPENSSL_CONF": str(of_client or "/etc/ssl/openssl.cnf")}
    with server([*daemon], port, of_server):
        for cipher in CIPHERS_OF_SSH:
            got = subprocess.run(
                [*client, "-c", cipher, "cat"],
                input=TEXT,
                capture_output=True,
                timeout=120,
                env=environment,
                check=False,
            )
            assert got.stdout == TEXT, f"{cipher}: {got.stderr[-800:].decode(errors='replace')}"


# ---- CPU time ------------------------------------------------------------------------------------


def seconds_of(process: int) -> float:
    """Return the CPU time of a process so far, user and system."""
    fields = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def transfer_seconds(
    folder: pathlib.Path,
    command: Words,
    port: int,
    configuration: pathlib.Path | None,
) -> float:
    """Return the CPU time of nginx and curl for one file over TLS 1.3."""
    fetch: Words = [
        "curl",
        "-sS",
        "--tlsv1.3",
        "--cacert",
        folder / "certificate.pem",
        f"https://127.0.0.1:{port}/file",
    ]
    with server(command, port, configuration) as process:
        before, children = seconds_of(process), resource.getrusage(resource.RUSAGE_CHILDREN)
        run_with(configuration, *fetch, "-o", "/dev/null")
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return (
            seconds_of(process)
            - before
            + used.ru_utime
            - children.ru_utime
            + used.ru_stime
            - children.ru_stime
        )


def test_a_transfer_takes_less_cpu_time_than_with_openssls_own(
    folder: pathlib.Path, provider: pathlib.Path
) -> None:
    """With the provider at both sides and at none, in turns; `pytest -s` shows the figures."""
    need("nginx", "curl")
    port = free_port()
    command = nginx_command(folder, port)
    with (folder / "www/file").open("wb") as file:
        file.truncate(TRANSFER_BYTES)
    configuration = write_configuration(folder, provider)
    pairs = [
        (
            transfer_seconds(folder, command, port, None),
            transfer_seconds(folder, command, port, configuration),
        )
        for _ in range(TRANSFER_ROUNDS)
    ]
    own, ours = (statistics.median(side) for side in zip(*pairs, strict=True))
    print(
        f"{TRANSFER_BYTES >> 30} GiB from nginx to curl over TLS 1.3: {own:.2f} s of CPU with "
        f"OpenSSL's own, {ours:.2f} with the provider ({ours / own - 1:+.0%})"
    )
    assert ours < own
