# SPDX-License-Identifier: MIT
"""The provider for OpenSSL: the module, its configurations, and programs under them."""

import os
import pathlib
import subprocess

import pytest
from processes import ROOT, FailedError, need, run
from running import BUILDS, compiled

HERE = ROOT / "tests/systems/provider"
Words = list[str | os.PathLike[str]]  # a command
BUILD = ROOT / "build/provider"
FOLDER = pathlib.Path("contrib/openssl/provider")
ROUNDS = 60000
FORGERY_ROUNDS = 1000
WARNINGS = ("-O1", "-Wall", "-Wextra", "-Werror")


def module_of(given: pathlib.Path | None) -> pathlib.Path:
    """Return an everycore.so that is given, or that of build/gcc."""
    if given:
        return given.resolve()
    need("meson", "ninja", "pkg-config")
    if subprocess.run(["pkg-config", "--atleast-version=3.0", "openssl"], check=False).returncode:
        pytest.skip("no headers of OpenSSL 3.0 or newer: apt-get install libssl-dev")
    module = FOLDER / "everycore.so"
    return compiled(BUILDS["gcc"], str(module), "libeverycore.a") / module


def write_configuration(folder: pathlib.Path, module: pathlib.Path) -> pathlib.Path:
    """Write the configuration that Meson makes of our snippet, for a module at another place."""
    text = (ROOT / FOLDER / "everycore.cnf.in").read_text()
    path = folder / "everycore.cnf"
    for name, value in (
        ("CONFIGURATION", path),
        ("MODULE", module),
        ("SYSTEM", "/etc/ssl/openssl.cnf"),
    ):
        text = text.replace(f"@{name}@", str(value))
    path.write_text(text)
    return path


def run_with(
    configuration: pathlib.Path | None, *words: str | os.PathLike[str], stdin: bytes = b""
) -> str:
    """Return what a program prints under a configuration; none: the system's."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("OPENSSL_")
    }
    if configuration:
        environment["OPENSSL_CONF"] = str(configuration)
    done = subprocess.run(
        words, env=environment, input=stdin, capture_output=True, timeout=1800, check=False
    )
    if done.returncode:
        raise FailedError(
            f"{' '.join(map(str, words))} ended with {done.returncode}: "
            f"{(done.stdout + done.stderr)[-1500:].decode(errors='replace')}"
        )
    return done.stdout.decode(errors="replace")


def objects_of_module(folder: pathlib.Path, sources: list[pathlib.Path], *flags: str) -> Words:
    """Compile sources of the provider to objects in a folder, for a module with all ciphers."""
    words = [
        "cc",
        "-std=gnu11",
        "-O1",
        "-fPIC",
        "-w",
        "-DOFFERS_ALL_CIPHERS=1",
        f"-I{ROOT / 'include'}",
        f"-I{ROOT / 'src'}",
        *flags,
        "-c",
    ]
    objects: Words = []
    for source in sources:
        objects.append(folder / f"{source.stem}.o")
        run([*words, source, "-o", objects[-1]])
    return objects


def library_of(module: pathlib.Path) -> pathlib.Path:
    """Return the static library of the build that made the module."""
    return module.parents[3] / "libeverycore.a"


def make_certificate(folder: pathlib.Path) -> None:
    run_with(
        None,
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-keyout",
        folder / "key.pem",
        "-out",
        folder / "certificate.pem",
        "-days",
        "2",
        "-subj",
        "/CN=localhost",
        "-addext",
        "subjectAltName=IP:127.0.0.1,DNS:localhost",
    )


def evp_configuration(folder: pathlib.Path, module: pathlib.Path) -> pathlib.Path:
    """Write our snippet without the system's file, so that OpenSSL's tests run alike anywhere."""
    path = write_configuration(folder, module)
    lines = [line for line in path.read_text().splitlines() if not line.startswith(".include")]
    path.write_text("\n".join(["openssl_conf = openssl_init", *lines]) + "\n")
    return path
