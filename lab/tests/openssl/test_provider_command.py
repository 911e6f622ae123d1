# SPDX-License-Identifier: MIT
"""everycore provider, beside OpenSSLs of pretence of any version."""

import errno
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from world import Lab, Outcome

from everycore.commands.provider import below_local, tree_version
from everycore.environment.context import system_context
from everycore.openssl.configuration import MARK

SOURCE = Path(__file__).parent / "pretended.c"
COMPILER = shutil.which("cc")
pytestmark = pytest.mark.skipif(
    not COMPILER or not shutil.which("ldd"), reason="needs a C compiler and ldd"
)


class Machine:
    """A folder with an openssl of pretence, and a user with a home."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.width = 300
        self.home = folder / "home"
        self.home.mkdir()
        self.target = self.home / ".config/everycore/openssl.cnf"
        self.module = folder / "everycore.so"
        self.env = {"PATH": f"{folder}:{os.environ['PATH']}", "HOME": str(self.home)}
        self.version = tree_version(Lab(system_context().runner, folder, self.env).context())

    def install(
        self,
        version: str = "OpenSSL 3.0.20",
        serves: str = "everycore",
        ours: str | None = None,
        fragile: bool = False,
    ) -> None:
        """Put an openssl there, whose provider is of our version, or of that of `ours`."""
        library = self.folder / "libcrypto.so.3"
        active = f"name: everycore AES\\n    version: {self.version if ours is None else ours}"
        of_library = [
            f'-DVERSION="{version}"',
            f'-DFOLDER="{self.folder}"',
            *([f'-DSERVES="{serves}"'] if serves else []),
        ]
        shared = ["-shared", "-fPIC", "-Wl,-soname,libcrypto.so.3", "-DLIBRARY"]
        run(*shared, *of_library, SOURCE, "-o", library)
        told = active if ours != "" else "Providers:"
        run(
            f'-DACTIVE="{told}"',
            *(["-DFRAGILE"] if fragile else []),
            SOURCE,
            library,
            f"-Wl,-rpath,{self.folder}",
            "-o",
            self.folder / "openssl",
        )
        self.module.write_text("")

    def __call__(self, *words: str, **env: str) -> Outcome:
        env = {**self.env, **env}
        return Lab(system_context().runner, self.folder, env, width=self.width)("provider", *words)


def run(*words: str | Path) -> None:
    assert COMPILER
    subprocess.run([COMPILER, "-O0", *words], check=True)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def refused(outcome: Outcome, message: str) -> None:
    outcome.refuses(message)
    assert outcome.out == ""


def test_enable_writes_a_file_and_says_how_to_use_it(machine: Machine) -> None:
    machine.install()
    done = machine("enable")
    assert done.code == 0, done.err
    text = machine.target.read_text()
    assert text.startswith(MARK)
    assert f"module = {machine.module}" in text
    for line in (f"export OPENSSL_CONF={machine.target}", "systemctl edit nginx", "ssh -c aes256"):
        assert line in done.out
    assert [path.name for path in machine.target.parent.iterdir()] == ["openssl.cnf"]


def test_enable_twice_and_disable_twice(machine: Machine) -> None:
    machine.install()
    assert machine("enable").code == machine("enable").code == 0
    removed = machine("disable", OPENSSL_CONF=str(machine.target))
    assert removed.code == 0
    assert "unset OPENSSL_CONF" in removed.out
    assert not machine.target.exists()
    assert "nothing is changed" in machine("disable").out


def test_enable_keeps_the_configuration_in_use(machine: Machine) -> None:
    machine.install()
    own = machine.home / "own.cnf"
    own.write_text("openssl_conf = mine\n[mine]\nssl_conf = s\n")
    assert machine("enable", OPENSSL_CONF=str(own)).code == 0
    text = machine.target.read_text()
    assert f".include {own}" in text
    assert "[mine]" in text
    assert own.read_text() == "openssl_conf = mine\n[mine]\nssl_conf = s\n"


def test_files_of_others_are_neither_written_nor_removed(machine: Machine) -> None:
    machine.install()
    own = machine.home / "own.cnf"
    own.write_text("HOME = .\n")
    refused(machine("enable", "--out", str(own)), "is not a file of")
    refused(machine("disable", "--out", str(own)), "is not a file of")
    assert own.read_text() == "HOME = .\n"


def test_enable_needs_a_module(machine: Machine) -> None:
    machine.install()
    machine.module.unlink()
    refused(machine("enable"), f"no provider at {machine.module}")
    assert not machine.target.exists()


def test_modules_are_also_looked_for_below_meson_s_prefix() -> None:
    found = below_local(Path("/usr/lib/x86_64-linux-gnu/ossl-modules"))
    folders = [str(path.parent.parent.relative_to("/usr/local")) for path in found]
    assert folders == ["lib/x86_64-linux-gnu", "lib64", "lib"]  # Meson without dpkg-dev: lib64
    assert {path.name for path in found} == {"everycore.so"}
    assert len(below_local(Path("/usr/lib64/ossl-modules"))) == 2
    assert below_local(Path("/opt/openssl/lib/ossl-modules")) == []
    assert below_local(Path("/usr/local/lib/ossl-modules")) == []


@pytest.mark.parametrize(
    ("installed", "message"),
    [
        (
            {"version": "OpenSSL 1.1.1w  11 Sep 2023", "serves": ""},
            "OpenSSL 1.1.1w  11 Sep 2023; providers need OpenSSL 3.0 or newer",
        ),
        ({"ours": "9.9.9"}, "is of everycore 9.9.9, this command of"),
        ({"ours": ""}, "does not load"),
        ({"serves": "fips"}, "takes AES-256-GCM from 'fips'"),
    ],
)
def test_enable_refuses_what_would_not_serve(
    machine: Machine, installed: dict[str, Any], message: str
) -> None:
    machine.install(**installed)
    refused(machine("enable"), message)
    assert not machine.target.exists()
    assert not machine.target.parent.exists() or not list(machine.target.parent.iterdir())


@pytest.mark.parametrize(
    ("query", "serves", "message", "hint"),
    [
        ("?provider=fips", "fips", "takes AES-256-GCM from 'fips'", "remove ?provider=fips from"),
        ("provider=fips", "fips", "takes AES-256-GCM from 'fips'", "write ?provider=fips to"),
        ("provider=default", "default", "takes AES-256-GCM from 'default'", "remove provider=d"),
        ("fips=yes", "", "takes AES-256-GCM from 'nobody'", "it demands fips=yes, which"),
    ],
)
def test_enable_names_the_line_that_leaves_us_nothing(
    machine: Machine, query: str, serves: str, message: str, hint: str
) -> None:
    machine.install(serves=serves or "nobody")
    own = machine.home / "own.cnf"
    own.write_text(f"openssl_conf=a\n[a]\nalg_section=g\n[g]\ndefault_properties = {query}\n")
    done = machine("enable", OPENSSL_CONF=str(own))
    refused(done, f"{own}:5: default_properties = {query}")
    assert message in done.err
    assert hint in done.err
    assert not machine.target.exists()


def test_enable_blames_a_configuration_that_openssl_does_not_take(machine: Machine) -> None:
    machine.install(fragile=True)
    own = machine.home / "own.cnf"
    own.write_text("openssl_conf = mine\n[mine]\nssl_conf = s\n")
    done = machine("enable", OPENSSL_CONF=str(own))
    refused(done, f"by itself, and not with {own}")
    assert "section not found" in done.err
    assert "correct that file" in done.err
    assert not machine.target.exists()


def test_an_openssl_conf_that_is_not_there_is_told(machine: Machine) -> None:
    machine.install()
    refused(machine("enable", OPENSSL_CONF="/nowhere.cnf"), "OPENSSL_CONF names /nowhere.cnf")


def test_status_says_who_serves_and_how_it_was_found(machine: Machine) -> None:
    machine.install()
    shown = machine("status")
    assert shown.code == 0, shown.err
    assert "OpenSSL 3.0.20" in shown.out
    assert "everycore   AES-128-GCM" in shown.out
    assert "nobody      CMAC HMAC HKDF TLS13-KDF PBKDF2" in shown.out
    assert "ldd names the library" in shown.out


def test_status_fits_the_terminal_and_cuts_nothing(machine: Machine) -> None:
    machine.install()
    machine.width = 80
    shown = machine("status").out
    assert all(len(line) <= 80 or len(line.split()) <= 2 for line in shown.splitlines()), shown
    machine.width = 300
    wide = machine("status").out
    assert wide.split() == shown.split()
    assert len(wide.splitlines()) < len(shown.splitlines())


def test_status_tells_why_the_default_provider_serves(machine: Machine) -> None:
    machine.install()
    assert machine("enable").code == 0
    machine.install(serves="default")
    machine.module.unlink()
    shown = machine("status", OPENSSL_CONF=str(machine.target))
    assert f"{machine.module} is not there: OpenSSL falls back" in shown.out
    machine.module.write_text("")
    shown = machine("status", OPENSSL_CONF=str(machine.target))
    assert f"{machine.module} was not loaded: OpenSSL falls back" in shown.out
    shown = machine("status", OPENSSL_CONF="/nowhere.cnf")
    assert "/nowhere.cnf is not there" in shown.out


def test_status_of_programs_without_libcrypto_and_of_none(machine: Machine) -> None:
    machine.install()
    assert "no provider reaches it" in machine("status", "/bin/true").out
    refused(machine("status", "no-such-program"), "no program 'no-such-program'")


def test_status_of_a_process(machine: Machine) -> None:
    machine.install()
    shown = machine("status", "--pid", str(os.getpid()))
    assert "it has not loaded everycore.so" in shown.out
    gone = machine("status", "--pid", "4194305")
    refused(gone, "there is no process 4194305")
    assert "`ps -e` lists the processes that run" in gone.err


def test_a_title_over_the_environment_is_told(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.install()
    monkeypatch.setattr(Path, "read_bytes", lambda _: b"nx -c /srv/nginx.conf\0\0\0")
    shown = " ".join(machine("status", "--pid", str(os.getpid())).out.split())
    assert "its title is written over its environment" in shown
    assert "is not set" not in shown


def test_status_of_a_process_that_has_ended(machine: Machine) -> None:
    machine.install()
    with subprocess.Popen(["true"]) as ended:
        os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
        shown = machine("status", "--pid", str(ended.pid))
    refused(shown, f"process {ended.pid} runs no program: it has ended, or is a thread")


@pytest.mark.parametrize(("user", "hint"), [(0, "ask on the host"), (1000, "as its user")])
def test_status_of_a_process_of_others(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, user: int, hint: str
) -> None:
    def forbidden(_: Path) -> Path:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    machine.install()
    monkeypatch.setattr(Path, "readlink", forbidden)
    monkeypatch.setattr(os, "geteuid", lambda: user)
    shown = machine("status", "--pid", str(os.getpid()))
    refused(shown, f"cannot look into process {os.getpid()}: Permission denied")
    assert hint in shown.err
